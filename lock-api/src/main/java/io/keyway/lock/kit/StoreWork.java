// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The calls of a store, on workers or on a thread that waits for them: each effect that needs one is started here, and
 * what comes of it is an input.
 */
final class StoreWork {

    private static final Logger LOG = System.getLogger(StoreWork.class.getName());

    private final StoreCalls calls;
    private final Workers workers;
    private final Settings settings;
    private final TimeSource time;
    private final String server;
    private final Consumer<StoreInput> inputs;

    StoreWork(
            StoreCalls calls,
            Workers workers,
            Settings settings,
            TimeSource time,
            String server,
            Consumer<StoreInput> inputs) {
        this.calls = calls;
        this.workers = workers;
        this.settings = settings;
        this.time = time;
        this.server = server;
        this.inputs = inputs;
    }

    /** Starts the backend within connectTimeout, or fails. */
    void connect() {
        CompletableFuture<Boolean> started = new CompletableFuture<>();
        workers.urgent(() -> {
            try {
                calls.start();
                started.complete(true);
            } catch (NotExecutedException | InterruptedException | RuntimeException | Error e) {
                started.completeExceptionally(e);
            }
        });
        try {
            started.get(settings.connectTimeout().toNanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof LockException refused) {
                throw refused;
            }
            throw unavailable("could not connect: " + StoreCalls.describe(e.getCause()), e.getCause());
        } catch (TimeoutException e) {
            throw unavailable("could not connect within " + ResolvedOptions.text(settings.connectTimeout()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw unavailable("interrupted while connecting", e);
        }
    }

    /** Whether a caller's thread can be lent to a call: it would not have to wait for a connection first. */
    boolean ready() {
        return calls.started();
    }

    /**
     * True if that effect is a call, which is on its way now.
     *
     * @param lent the thread that waits for it, if one does
     */
    boolean start(StoreEffect effect, @Nullable CallerThread lent) {
        if (effect instanceof StoreEffect.Attempt attempt) {
            Request request = attempt.request();
            Runnable call = () -> attempt(request, store -> store.attempt(request, settings.requestTimeout()));
            run(attempt.heartbeat(), call, lent);
        } else if (effect instanceof StoreEffect.Convert convert) {
            Request request = convert.request();
            Runnable call =
                    () -> attempt(request, store -> store.convert(convert.held(), request, settings.requestTimeout()));
            run(convert.heartbeat(), call, lent);
        } else if (effect instanceof StoreEffect.Renew renew) {
            workers.first(() -> renew(renew.grants()));
        } else if (effect instanceof StoreEffect.Release release) {
            Runnable call = () -> release(release);
            if (lent == null || !lent.offer(call)) {
                workers.ending(call);
            }
        } else if (effect instanceof StoreEffect.Withdraw withdraw) {
            workers.ending(() -> withdraw(withdraw.request()));
        } else {
            return false;
        }
        return true;
    }

    private void run(boolean heartbeat, Runnable call, @Nullable CallerThread lent) {
        if (heartbeat) {
            workers.routine(call);
        } else if (lent == null || !lent.offer(call)) {
            workers.urgent(call);
        }
    }

    private void attempt(Request request, StoreCalls.Call<Attempt> call) {
        long sentAt = time.nanoTime();
        try {
            Attempt result = calls.make(call);
            inputs.accept((machine, now) -> machine.attempted(request.id(), sentAt, result, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            LockException fatal = e instanceof LockException known && !known.retryable() ? known : null;
            String why = StoreCalls.describe(e);
            inputs.accept((machine, now) -> machine.attemptFailed(request.id(), maybe, why, fatal, now));
        }
    }

    private void renew(List<Grant> grants) {
        long sentAt = time.nanoTime();
        Duration quarter = grants.get(0).ttl().dividedBy(4);
        Duration limit = quarter.compareTo(settings.requestTimeout()) < 0 ? quarter : settings.requestTimeout();
        try {
            List<Answer> answers = calls.make(store -> store.renew(grants, limit));
            inputs.accept((machine, now) -> machine.leases().renewed(grants, sentAt, answers, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            LOG.log(Level.DEBUG, () -> "A renewal at " + server + " failed (maybe executed: " + maybe + "): " + e);
            inputs.accept((machine, now) -> machine.leases().renewFailed(grants, now));
        }
    }

    private void release(StoreEffect.Release release) {
        Grant grant = release.grant();
        Duration limit = settings.requestTimeout();
        try {
            Answer answer =
                    calls.make(store -> release.keeps() ? store.keep(grant, limit) : store.release(grant, limit));
            inputs.accept((machine, now) -> machine.released(grant.id(), answer, now));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            inputs.accept((machine, now) -> machine.cleanUpFailed(grant.id(), maybe, now));
        }
    }

    private void withdraw(Request request) {
        try {
            calls.make(store -> {
                store.withdraw(request, settings.requestTimeout());
                return true;
            });
            inputs.accept((machine, now) -> machine.withdrawn(request.id()));
        } catch (Throwable e) {
            boolean maybe = maybeExecuted(e);
            inputs.accept((machine, now) -> machine.cleanUpFailed(request.id(), maybe, now));
        }
    }

    /** Asks the store something; a failure that is no LockException is translated. */
    <T> CompletionStage<T> ask(StoreCalls.Call<T> call, BiFunction<String, Throwable, LockException> translated) {
        CompletableFuture<T> answer = new CompletableFuture<>();
        workers.urgent(() -> {
            try {
                answer.complete(calls.make(call));
            } catch (Throwable e) {
                LockException known = e instanceof LockException lock ? lock : null;
                answer.completeExceptionally(known != null ? known : translated.apply(StoreCalls.describe(e), e));
            }
        });
        return answer;
    }

    /**
     * An interrupt comes from close, or from whoever interrupts a caller that lent its thread; the call it ended may have
     * been executed, like any other that failed.
     */
    private boolean maybeExecuted(Throwable e) {
        if (e instanceof InterruptedException) {
            Thread.currentThread().interrupt();
        }
        return !(e instanceof NotExecutedException) && !(e instanceof LockException known && !known.mayHold());
    }

    LockUnavailableException unavailable(String why, @Nullable Throwable cause) {
        return new LockUnavailableException(server + " is not available: " + why + ". Try again.", null, server, cause);
    }
}
