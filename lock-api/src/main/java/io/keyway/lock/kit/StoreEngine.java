// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.spi.BorrowingEngine;
import io.keyway.lock.spi.ChangeHints;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An engine over a blocking store: the shell around a {@link StoreMachine}. Inputs from all threads go through one
 * queue; whichever thread finds it idle runs the machine until it is empty again and has {@link StoreCalls} carry out
 * the effects in their order, so that no lock is held while a sink is called and no thread waits for another.
 */
final class StoreEngine implements BorrowingEngine {

    private static final Logger LOG = System.getLogger(StoreEngine.class.getName());

    private final LockBackend backend;
    private final TimeSource time;
    private final Workers workers;
    private final BackgroundLoops loops;
    private final StoreSignals signals;
    private final StoreCalls calls;
    private final StoreMachine machine;
    private final Settings settings;
    private final String server;
    private final Queue<StoreMachine.Input> inputs = new ConcurrentLinkedQueue<>();
    private final AtomicInteger unfinished = new AtomicInteger();
    private final CountDownLatch idle = new CountDownLatch(1);
    private volatile boolean closing;
    private TimeSource.@Nullable Scheduled timer;
    private long timerAt;

    StoreEngine(Settings settings, LockBackend backend, Workers workers) {
        this.backend = backend;
        this.time = settings.time();
        this.workers = workers;
        this.settings = settings;
        this.server = settings.url().toString();
        this.loops = new BackgroundLoops(settings.name(), time);
        this.signals = new StoreSignals(this::input, loops);
        Incarnation incarnation = Incarnation.draw();
        this.calls = new StoreCalls(
                backend, signals, incarnation, workers, time, settings.requestTimeout(), server, this::input);
        this.machine = new StoreMachine(incarnation.low(), backend.features(), backend.sessionBound(), server);
    }

    /** With {@code connect=eager}: starts the backend, or fails. */
    void connect() {
        if (settings.eager()) {
            calls.connect(settings.connectTimeout());
        }
    }

    /** Whether it was ever connected. */
    boolean connected() {
        return calls.started();
    }

    @Override
    public TimeSource time() {
        return time;
    }

    @Override
    public void submit(Request request, Sink sink) {
        calls.add(request, sink);
        input((machine, now) -> machine.submit(request, now));
    }

    @Override
    public void submitWaiting(Request request, Sink sink) {
        calls.add(request, sink).inputByCaller((machine, now) -> machine.submit(request, now));
    }

    @Override
    public void lend(Request request, Duration limit) {
        if (calls.started()) {
            calls.lend(request, limit);
        }
    }

    @Override
    public void convert(Hold held, long token, Request wanted, Sink sink) {
        if (!(held instanceof StoreHold holder)) {
            throw new IllegalArgumentException("not a hold of this engine: " + held);
        }
        calls.add(wanted, sink);
        input((machine, now) -> machine.convert(holder.id, wanted, now));
    }

    @Override
    public void withdraw(Request request) {
        input((machine, now) -> machine.withdraw(request.id(), now));
    }

    @Override
    public void observe(Observer observer) {
        signals.observe(observer);
    }

    @Override
    public Set<Feature> features() {
        return backend.features();
    }

    @Override
    public Guarantees guarantees() {
        return backend.guarantees();
    }

    @Override
    public Duration longestHoldAtLeast() {
        return backend.longestHoldAtLeast();
    }

    @Override
    public CompletionStage<LockPage> list(String prefix, Optional<String> after, int max, Duration limit) {
        return calls.ask(store -> store.list(prefix, after, max, limit), calls::unavailable);
    }

    @Override
    public CompletionStage<Optional<LockStatus>> show(LockKey key, Duration limit) {
        return calls.ask(store -> store.show(key, limit), calls::unavailable);
    }

    @Override
    public Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return backend instanceof ChangeHints hints
                ? Optional.of(calls.ask(store -> hints.change(key, known, limit), calls::unavailable)
                        .thenCompose(told -> told))
                : Optional.empty();
    }

    @Override
    public CompletionStage<Boolean> breakGrant(LockKey key, long token, String reason, Duration limit) {
        return calls.ask(
                store -> store.breakGrant(key, token, reason, limit),
                (why, cause) -> cause instanceof NotExecutedException
                        ? calls.unavailable(why, cause)
                        : new OutcomeUnknownException(
                                "Breaking token " + token + " of the " + key + " at " + server
                                        + " has an unknown outcome: " + why
                                        + ". It names the token, so it is safe to send it again.",
                                key.name(),
                                server,
                                cause));
    }

    @Override
    public CompletionStage<Integer> availablePermits(LockKey key, int capacity, Duration limit) {
        return calls.ask(store -> store.availablePermits(key, capacity, limit), calls::unavailable);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        if (type.isInstance(signals)) {
            return Optional.of(type.cast(signals));
        }
        return type.isInstance(backend) ? Optional.of(type.cast(backend)) : backend.unwrap(type);
    }

    @Override
    public void close() {
        input((machine, now) -> {
            closing = true;
            machine.close(now);
        });
        boolean interrupted = false;
        Duration limit = settings.closeTimeout();
        try {
            if (!idle.await(limit.toNanos() / 16 * 5, TimeUnit.NANOSECONDS)) {
                LOG.log(Level.WARNING, "Not all of {0} could be released at {1}; it expires", settings.name(), server);
            }
        } catch (InterruptedException e) {
            interrupted = true;
        }
        loops.close(limit.dividedBy(16));
        workers.close(limit.dividedBy(16));
        if (time.manual()) {
            closeBackend();
        } else {
            // On a thread that can be left behind: some drivers wait for a server that says nothing.
            Thread closer = new Thread(this::closeBackend, "keyway-" + settings.name() + "-close");
            closer.setDaemon(true);
            closer.start();
            Joins.join(closer, limit.dividedBy(8));
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void closeBackend() {
        try {
            backend.close();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) {
            LOG.log(Level.WARNING, "Closing the connection to " + server + " failed", e);
        }
    }

    // The machine.

    private void input(StoreMachine.Input input) {
        inputs.add(input);
        if (unfinished.getAndIncrement() == 0) {
            run();
        }
    }

    private void run() {
        int taken = 1;
        do {
            for (int i = 0; i < taken; i++) {
                StoreMachine.Input input = inputs.poll();
                if (input != null) {
                    guarded(() -> input.apply(machine, time.nanoTime()));
                    guarded(this::carryOut);
                }
            }
            guarded(this::armTimer);
            if (closing && machine.idle()) {
                idle.countDown();
            }
            taken = unfinished.addAndGet(-taken);
        } while (taken != 0);
    }

    /**
     * One failure, a bug of ours or of a sink, or no memory, must not stop the queue: nobody would take it up again.
     */
    private void guarded(Runnable step) {
        try {
            step.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "A step of the engine of " + settings.name() + " failed; the others go on", e);
        }
    }

    private void carryOut() {
        for (Consumer<StoreEffects> effect : machine.effects()) {
            guarded(() -> effect.accept(calls));
        }
    }

    private void armTimer() {
        OptionalLong due = machine.nextDue();
        TimeSource.Scheduled armed = timer;
        if (due.isEmpty() || (armed != null && timerAt - due.getAsLong() <= 0)) {
            return;
        }
        if (armed != null) {
            armed.cancel();
        }
        timerAt = due.getAsLong();
        timer = time.at(
                timerAt,
                () -> input((machine, now) -> {
                    timer = null;
                    machine.tick(now);
                }));
    }
}
