// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.spi.LockEngine;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * The clock of a world. Where a test moves it, one thread is the mover: the one that moved it last. It never waits for
 * time in vain, since a call of its own that blocks moves the clock. Other threads wait for the mover, and fail if
 * nobody moves.
 */
final class WorldTime implements TimeSource {

    private static final Duration DELIVERY = Duration.ofSeconds(30);
    private static final Duration SLICE = Duration.ofMillis(100);
    /** How far a call of the mover moves the clock before it is taken for one that waits in vain. */
    private static final Duration LONGEST = Duration.ofHours(1);

    /** Real time for a thread that was started just now to come to its call. */
    private static final Duration START = Duration.ofMillis(20);

    private static final long PAUSE = Duration.ofMillis(1).toNanos();
    /** A thread that was seen parked so many times in a row waits for something else. */
    private static final int IDLE = 50;

    private final LoopbackWorld loop;
    private final String server;
    private final Duration patience;
    /**
     * Real time for such a thread when all of the time has passed, and would have to pass once more: the machine may be
     * busy.
     */
    private final Duration late;
    /** So many pauses the mover makes for threads that it has woken. */
    private final long pauses;

    private final long longest;
    private final List<LockEngine.Observer> observers = new CopyOnWriteArrayList<>();
    private final Set<Wait> waits = ConcurrentHashMap.newKeySet();
    /** Threads other than the mover whose wait has ended, until the mover has let them go on. */
    private final Set<Thread> woken = ConcurrentHashMap.newKeySet();

    private final AtomicLong moves = new AtomicLong();
    private final AtomicReference<Thread> moving = new AtomicReference<>();
    private volatile Thread mover = Thread.currentThread();
    /** How often a thread has begun to wait for the mover. */
    private final AtomicLong arrivals = new AtomicLong();

    private record Wait(Thread thread, CompletableFuture<?> outcome) {}

    /**
     * The time of that loop.
     *
     * @param patience how long, in real time, a thread waits for somebody to move the clock
     * @param quarantine how long a restarted member is silent, in nanoseconds
     */
    WorldTime(LoopbackWorld loop, String server, Duration patience, long quarantine) {
        this.loop = loop;
        this.server = server;
        this.patience = patience;
        this.late = patience.dividedBy(5);
        this.pauses = patience.toNanos() / 2 / PAUSE;
        this.longest = LONGEST.toNanos() + quarantine;
    }

    @Override
    public boolean manual() {
        return loop.manual();
    }

    @Override
    public long nanoTime() {
        return loop.nanoTime();
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        return loop.at(atNanos, task);
    }

    void add(LockEngine.Observer observer) {
        observers.add(observer);
    }

    void remove(List<LockEngine.Observer> gone) {
        observers.removeAll(gone);
    }

    /** A test did something to the world: it is not stuck. */
    void touched() {
        moves.incrementAndGet();
    }

    void advance(Duration time) {
        require(time);
        boolean took = take();
        try {
            long target = loop.nanoTime() + time.toNanos();
            boolean more = true;
            while (more) {
                more = loop.step(target);
                deliver();
            }
            // What listeners asked for at the last moment happens at that moment too.
            loop.step(target);
        } finally {
            letGo(took);
        }
    }

    void advanceUntil(BooleanSupplier condition, Duration limit) throws InterruptedException {
        require(limit);
        long before = arrivals.get();
        boolean came = pause(() -> condition.getAsBoolean() || !waits.isEmpty(), START);
        boolean took = take();
        try {
            long target = loop.nanoTime() + limit.toNanos();
            if (moveUntil(condition, limit.toNanos())) {
                return;
            }
            loop.step(target);
            if (!came && pause(() -> condition.getAsBoolean() || arrivals.get() != before, late)) {
                // The thread that is to be moved on was late: some of the time, or all of it, passed before it came.
                if (moveUntil(condition, limit.toNanos())) {
                    return;
                }
            }
        } finally {
            letGo(took);
        }
        deliver();
        // A thread that was woken at the last moment may need its time, which is real.
        if (!pause(condition, arrivals.get() == before ? Duration.ZERO : patience)) {
            throw new IllegalStateException(
                    "advanceUntil: it has not come true within " + limit + " of the time of " + server);
        }
    }

    /** Waits, in real time, and is whether the condition holds by then. */
    private boolean pause(BooleanSupplier condition, Duration limit) throws InterruptedException {
        long pauses = limit.toNanos() / PAUSE;
        for (long i = 0; i < pauses && !condition.getAsBoolean(); i++) {
            TimeUnit.NANOSECONDS.sleep(PAUSE);
        }
        return condition.getAsBoolean();
    }

    /** The calling thread is the mover from now on, unless it is called by what the mover does, as a listener is. */
    private boolean take() {
        touched();
        boolean took = moving.compareAndSet(null, Thread.currentThread());
        if (took) {
            mover = Thread.currentThread();
        }
        return took;
    }

    private void letGo(boolean took) {
        if (took) {
            moving.set(null);
        }
    }

    @Override
    public <T> T await(CompletableFuture<T> outcome) throws InterruptedException, ExecutionException {
        if (!manual() || outcome.isDone()) {
            return outcome.get();
        }
        if (loop.inWorld()) {
            throw new IllegalStateException(
                    "The thread of " + server + " cannot wait for what it has to do itself: give"
                            + " the client an event executor that has threads of its own");
        }
        Thread me = Thread.currentThread();
        if (me.equals(mover)) {
            if (moveUntil(outcome::isDone, longest)) {
                return outcome.get();
            }
        }
        arrivals.incrementAndGet();
        woken.remove(me);
        Wait wait = new Wait(me, outcome);
        waits.add(wait);
        try {
            return awaitOthers(outcome);
        } finally {
            woken.add(me);
            waits.remove(wait);
        }
    }

    private <T> T awaitOthers(CompletableFuture<T> outcome) throws InterruptedException, ExecutionException {
        Patience left = new Patience();
        while (true) {
            try {
                return outcome.get(SLICE.toNanos(), TimeUnit.NANOSECONDS);
            } catch (TimeoutException e) {
                if (left.isOver()) {
                    throw new IllegalStateException(stuck(), e);
                }
            }
        }
    }

    private String stuck() {
        Thread moving = mover;
        String waits = "The thread " + Thread.currentThread().getName() + " waits for an answer of " + server;
        if (moving.equals(Thread.currentThread())) {
            return waits
                    + " and has moved its clock on by an hour to no avail: what it waits for has to be done by another"
                    + " thread, or before. Where that thread waits too, or more time is needed, use "
                    + "MemoryWorld.advanceUntil.";
        }
        String advice = moving.isAlive()
                ? "Move it meanwhile, by MemoryWorld.advance or advanceUntil on the thread " + moving.getName()
                        + "; or wait on that thread, which lets time pass by itself."
                : "The thread " + moving.getName() + ", which opened this world or moved it last, has ended: call"
                        + " MemoryWorld.advance or advanceUntil on the thread of the test, be it by no time; from then "
                        + "on a"
                        + " call that blocks there lets time pass by itself.";
        return waits + ", whose clock stands still but for a test (clock=manual), and nobody has moved it for "
                + patience.toMillis() / 1000.0 + " s of real time. " + advice;
    }

    /**
     * Moves the clock from one thing that is due to the next, until the condition holds; false if it does not in time.
     */
    private boolean moveUntil(BooleanSupplier condition, long limit) throws InterruptedException {
        long end = loop.nanoTime() + limit;
        LoopbackWorld.Progress progress = LoopbackWorld.Progress.NONE;
        while (true) {
            progress = loop.stepOnce(progress, end);
            deliver();
            letWokenGoOn(condition);
            if (condition.getAsBoolean()) {
                return true;
            }
            if (!progress.more() || takenOver()) {
                return false;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("interrupted while the clock of " + server + " was moved");
            }
            moves.incrementAndGet();
        }
    }

    /** Another thread moves the clock now. */
    private boolean takenOver() {
        Thread other = moving.get();
        return other != null && !other.equals(Thread.currentThread());
    }

    /** What threads ask whose wait has ended, they ask at this time, unless they do something else first. */
    private void letWokenGoOn(BooleanSupplier condition) {
        woken.remove(Thread.currentThread()); // which has waited for another mover, and goes on now
        Map<Thread, Integer> parked = new HashMap<>();
        for (long i = 0; i < pauses && !condition.getAsBoolean(); i++) {
            boolean waking = waits.stream().anyMatch(wait -> wait.outcome.isDone());
            woken.removeIf(thread -> !thread.isAlive()
                    || parked.merge(thread, 1, (before, one) -> isParked(thread) ? before + one : 0) > IDLE);
            if ((!waking && woken.isEmpty()) || Thread.currentThread().isInterrupted()) {
                return;
            }
            LockSupport.parkNanos(PAUSE);
        }
        woken.clear();
    }

    private static boolean isParked(Thread thread) {
        return switch (thread.getState()) {
            case WAITING, TIMED_WAITING -> true;
            default -> false;
        };
    }

    private void deliver() {
        for (LockEngine.Observer observer : observers) {
            observer.awaitDelivery(DELIVERY);
        }
    }

    private void require(Duration time) {
        if (!manual()) {
            throw new IllegalStateException(server + " runs on the real clock; open it with clock=manual");
        }
        if (time.isNegative()) {
            throw new IllegalArgumentException("time does not go back: " + time);
        }
    }

    /** Real time in which nobody moves the clock, counted while this thread runs, so that a debugger costs nothing. */
    private final class Patience {
        private final long slices = Math.max(1, patience.toNanos() / SLICE.toNanos());
        private long seen = moves.get();
        private long count;

        boolean isOver() {
            long now = moves.get();
            count = now == seen ? count + 1 : 0;
            seen = now;
            return count >= slices;
        }
    }
}
