// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.BorrowingBackend;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.LockEngine.Sink;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Carries out what a {@link StoreMachine} wants done: calls of the store, on workers or on the caller's thread, whose
 * outcomes are inputs of the machine; and calls of sinks. The backend is started before its first call, on the thread
 * of that call, since it may block.
 */
final class StoreCalls implements StoreEffects {

    /** A call of the backend. */
    @FunctionalInterface
    interface Call<T> {
        T make(LockBackend backend) throws Exception;
    }

    private static final Logger LOG = System.getLogger(StoreCalls.class.getName());

    private final LockBackend backend;
    private final LockBackend.Signals signals;
    private final Incarnation incarnation;
    private final Workers workers;
    private final TimeSource time;
    private final Duration requestTimeout;
    private final String server;
    private final Consumer<StoreMachine.Input> inputs;
    private final Map<Long, StoreHold> holds = new ConcurrentHashMap<>();
    private final ReentrantLock starting = new ReentrantLock();
    private volatile boolean started;

    /** {@code signals} and {@code incarnation} are what the backend is started with; {@code server} is for messages. */
    StoreCalls(
            LockBackend backend,
            LockBackend.Signals signals,
            Incarnation incarnation,
            Workers workers,
            TimeSource time,
            Duration requestTimeout,
            String server,
            Consumer<StoreMachine.Input> inputs) {
        this.backend = backend;
        this.signals = signals;
        this.incarnation = incarnation;
        this.workers = workers;
        this.time = time;
        this.requestTimeout = requestTimeout;
        this.server = server;
        this.inputs = inputs;
    }

    /** That request is going to be submitted. */
    StoreHold add(Request request, Sink sink) {
        StoreHold hold = new StoreHold(this, request.id(), sink);
        holds.put(hold.id, hold);
        return hold;
    }

    void input(StoreMachine.Input input) {
        inputs.accept(input);
    }

    String server() {
        return server;
    }

    // The connection.

    /** Whether a call can be made without connecting first. */
    boolean started() {
        return started;
    }

    /**
     * Whether the calling thread may make a call of the store: an interrupt that is pending would only end the call.
     */
    boolean mayRunOnCaller() {
        return backend.prompt() && started && !Thread.currentThread().isInterrupted();
    }

    /** Starts the backend within that time, or fails. */
    void connect(Duration limit) {
        CompletableFuture<Boolean> done = new CompletableFuture<>();
        workers.urgent(() -> {
            try {
                start();
                done.complete(true);
            } catch (NotExecutedException | InterruptedException | RuntimeException | Error e) {
                done.completeExceptionally(e);
            }
        });
        try {
            done.get(limit.toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException refused) {
                throw refused;
            }
            throw unavailable("could not connect: " + describe(e.getCause()), e.getCause());
        } catch (TimeoutException e) {
            throw unavailable("could not connect within " + ResolvedOptions.text(limit), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable("interrupted while connecting", e);
        }
    }

    /** Nothing was sent if this fails; with a LockException it is no use to try again. */
    private void start() throws NotExecutedException, InterruptedException {
        if (started) {
            return;
        }
        starting.lockInterruptibly();
        try {
            if (!started) {
                backend.start(signals, incarnation);
                started = true;
            }
        } catch (NotExecutedException | InterruptedException | LockException e) {
            throw e;
        } catch (Throwable e) {
            throw new NotExecutedException("the store could not be reached: " + describe(e), e);
        } finally {
            starting.unlock();
        }
    }

    /** Lends the calling thread, which may have made the first attempt of that request, to the backend. */
    void lend(Request request, Duration limit) {
        try {
            if (backend instanceof BorrowingBackend borrower) {
                borrower.lend(request, limit);
            }
        } catch (RuntimeException e) {
            LOG.log(Level.WARNING, "A thread that was lent to " + server + " came back by an error; it waits on", e);
        }
    }

    // Calls of the store.

    @Override
    public void attempt(Request request, boolean heartbeat) {
        Runnable call = () -> make(request.id(), store -> store.attempt(request, requestTimeout));
        Runnable byCaller = backend instanceof BorrowingBackend borrower
                ? () -> make(request.id(), store -> borrower.attemptWaiting(request, requestTimeout))
                : call;
        if (heartbeat) {
            workers.routine(call);
        } else if (!offered(request.id(), byCaller)) {
            workers.urgent(call);
        }
    }

    @Override
    public void convert(Grant held, Request request, boolean heartbeat) {
        Runnable call = () -> make(request.id(), store -> store.convert(held, request, requestTimeout));
        if (heartbeat) {
            workers.routine(call);
        } else {
            workers.urgent(call);
        }
    }

    private void make(long id, Call<Attempt> attempt) {
        long sentAt = time.nanoTime();
        try {
            Attempt result = make(attempt);
            checkId(id, result);
            inputs.accept((machine, now) -> machine.attempted(id, sentAt, result, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            LockException fatal = e instanceof LockException known && !known.retryable() ? known : null;
            String why = describe(e);
            inputs.accept((machine, now) -> machine.attemptFailed(id, maybe, why, fatal, now));
        }
    }

    /** The answer to the release of a grant with another id would be nobody's: its caller would wait forever. */
    private static void checkId(long id, Attempt result) {
        if (result instanceof Attempt.Granted granted && granted.grant().id() != id) {
            throw new IllegalStateException("the provider answered request " + id + " with a grant of id "
                    + granted.grant().id() + ", but a Grant has the id of its Request");
        }
    }

    @Override
    public void renew(List<Grant> grants) {
        workers.first(() -> makeRenewal(grants));
    }

    private void makeRenewal(List<Grant> grants) {
        long sentAt = time.nanoTime();
        Duration quarter = grants.get(0).ttl().dividedBy(4);
        Duration limit = quarter.compareTo(requestTimeout) < 0 ? quarter : requestTimeout;
        try {
            List<Answer> answers = make(store -> store.renew(grants, limit));
            inputs.accept((machine, now) -> machine.renewed(grants, sentAt, answers, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            LOG.log(Level.DEBUG, () -> "A renewal at " + server + " failed (maybe executed: " + maybe + "): " + e);
            inputs.accept((machine, now) -> machine.renewFailed(grants, now));
        }
    }

    @Override
    public void release(Grant grant, boolean keeps) {
        Runnable call = () -> makeRelease(grant, keeps);
        if (!offered(grant.id(), call)) {
            workers.ending(call);
        }
    }

    private void makeRelease(Grant grant, boolean keeps) {
        try {
            Answer answer =
                    make(store -> keeps ? store.keep(grant, requestTimeout) : store.release(grant, requestTimeout));
            inputs.accept((machine, now) -> machine.released(grant.id(), answer, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            inputs.accept((machine, now) -> machine.cleanUpFailed(grant.id(), maybe, now));
        }
    }

    @Override
    public void withdraw(Request request) {
        workers.ending(() -> makeWithdrawal(request));
    }

    private void makeWithdrawal(Request request) {
        try {
            make(store -> {
                store.withdraw(request, requestTimeout);
                return true;
            });
            inputs.accept((machine, now) -> machine.withdrawn(request.id()));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            inputs.accept((machine, now) -> machine.cleanUpFailed(request.id(), maybe, now));
        }
    }

    /** Asks the store something; a failure that is no LockException is translated. */
    <T> CompletionStage<T> ask(Call<T> call, BiFunction<String, Throwable, LockException> translated) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        workers.urgent(() -> {
            try {
                answer.complete(make(call));
            } catch (Throwable e) {
                LockException known = e instanceof LockException lock ? lock : null;
                answer.completeExceptionally(known != null ? known : translated.apply(describe(e), e));
            }
        });
        return answer;
    }

    private <T> T make(Call<T> call) throws Exception {
        start();
        return call.make(backend);
    }

    /** True if the caller's thread, which waits for that call, makes it. */
    private boolean offered(long id, Runnable call) {
        StoreHold hold = holds.get(id);
        return hold != null && hold.offer(call);
    }

    /**
     * An interrupt comes from close, or from whoever interrupts a caller's thread; the call that it ended may have been
     * executed, like any other that failed.
     */
    private static boolean maybeExecuted(Throwable e) {
        if (e instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return !(e instanceof NotExecutedException) && !(e instanceof LockException known && !known.mayHold());
    }

    LockUnavailableException unavailable(String why, @Nullable Throwable cause) {
        return new LockUnavailableException(server + " is not available: " + why + ". Try again.", null, server, cause);
    }

    private static String describe(@Nullable Throwable failure) {
        if (failure == null) {
            return "for an unknown reason";
        }
        String message = failure.getMessage();
        if (failure instanceof Error) {
            // Its message alone is the name of a class, or of a library, or nothing.
            return failure.toString();
        }
        return message == null || message.isBlank() ? failure.getClass().getSimpleName() : message;
    }

    // Calls of sinks.

    @Override
    public void waiting(long id, OptionalInt ahead, List<Owner> holders) {
        hold(id).sink.waiting(ahead, holders);
    }

    @Override
    public void refused(long id, List<Owner> holders) {
        hold(id).sink.refused(holders);
    }

    @Override
    public void granted(long id, Grant grant, long deadlineNanos) {
        hold(id).granted(grant, deadlineNanos);
    }

    @Override
    public void converted(long from, long id, Grant grant, long deadlineNanos) {
        StoreHold hold = hold(id);
        hold(from).becomes(hold);
        hold.granted(grant, deadlineNanos);
    }

    @Override
    public void extended(List<Grant> grants, long deadlineNanos) {
        for (Grant grant : grants) {
            StoreHold hold = holds.get(grant.id());
            if (hold != null) {
                hold.extend(deadlineNanos);
            }
        }
    }

    @Override
    public void doubt(long id, String why) {
        hold(id).sink.doubt(why);
    }

    @Override
    public void certain(long id) {
        hold(id).sink.certain();
    }

    @Override
    public void ended(long id, LeaseLoss.Cause cause, String detail) {
        hold(id).sink.ended(cause, detail);
    }

    @Override
    public void failed(long id, LockException failure) {
        hold(id).sink.failed(failure);
    }

    @Override
    public void released(long id, Answer answer) {
        hold(id).answer(answer);
    }

    @Override
    public void gone(Request request) {
        StoreHold hold = holds.remove(request.id());
        if (hold != null) {
            // Nothing, unless the grant ended without a release.
            hold.gone();
        }
        backend.forgotten(request);
    }

    private StoreHold hold(long id) {
        StoreHold hold = holds.get(id);
        if (hold == null) {
            throw new IllegalStateException("request " + id + " is gone");
        }
        return hold;
    }
}
