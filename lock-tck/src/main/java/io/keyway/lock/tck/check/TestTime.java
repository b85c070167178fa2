// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.Lease;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Renewal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How time passes in a check, and what it has under way meanwhile. Time passes only by {@link #pass}, {@link #until}
 * and {@link Task#get}; in virtual time nothing else moves the clock.
 */
abstract class TestTime extends Expectations {
    private static final int STEPS = 200;
    private static final long REAL_GRACE = 250_000_000L;
    private static final long POLL = 200_000L;

    final RunContext run;
    private final List<Task<?>> tasks = new CopyOnWriteArrayList<>();
    private volatile @Nullable Long lastWait;

    TestTime(RunContext run) {
        this.run = run;
    }

    /** A short ttl that the subject takes. */
    public Duration ttl() {
        return run.ttl();
    }

    /** As {@link #ttl()}, also where ttls are stretched for a slow machine, which a least term would hide behind. */
    public Duration shortestTtl() {
        return run.shortestTtl();
    }

    /** That part of {@link #ttl()}. */
    public Duration ttl(int times, int by) {
        return ttl().multipliedBy(times).dividedBy(by);
    }

    /** So many {@link #ttl()}, or what the subject takes at most. */
    public Duration longer(int times) {
        Duration wanted = ttl().multipliedBy(times);
        Duration most = run.guarantees().maxTtl();
        return wanted.compareTo(most) > 0 ? most : wanted;
    }

    /** The nearest ttl that the subject grants. */
    public Duration granted(Duration term) {
        return RunContext.within(run.guarantees(), term);
    }

    /** Options of a lock whose leases nobody renews. */
    public LockOptions unrenewed() {
        return LockOptions.none().withRenewal(Renewal.NONE);
    }

    /** Lock options with {@link #ttl()}. */
    public LockOptions terms() {
        return LockOptions.none().withTtl(ttl());
    }

    /**
     * How long something that must happen may take: a bound for liveness, never a measure. It is asked for when the
     * wait begins.
     */
    public Duration patience() {
        lastWait = now();
        return run.patience();
    }

    /**
     * Whether the last wait has lasted for half of {@link #patience()}, the least for which checks wait: it gave a busy
     * machine its time. A check of many short steps, each of them late, has not waited for one.
     */
    boolean isPatient() {
        Long begun = lastWait;
        return begun != null && now() - begun >= run.patience().toNanos() / 2;
    }

    /** The check's clock, in nanoseconds; compare by difference. */
    public long now() {
        return run.clock().now();
    }

    public boolean isVirtual() {
        return run.clock().isVirtual();
    }

    /**
     * Lets so much time pass. In virtual time all that comes due has been done when it returns, on the threads of tasks
     * too.
     */
    public void pass(Duration time) throws InterruptedException {
        settle();
        run.clock().pass(time);
        settle();
    }

    /** Lets time pass until {@link #now()} shows that reading, if it does not yet. */
    public void passUntil(long reading) throws InterruptedException {
        long left = reading - now();
        if (left > 0) {
            pass(Duration.ofNanos(left));
        }
    }

    /** Lets time pass until the condition holds; fails the check if it does not within {@link #patience()}. */
    public void until(String what, Callable<Boolean> condition) throws InterruptedException {
        until(what, patience(), condition);
    }

    /** Lets time pass until the condition holds; fails the check if it does not within that time. */
    public void until(String what, Duration limit, Callable<Boolean> condition) throws InterruptedException {
        if (!happens(limit, condition)) {
            throw missed("within " + text(limit) + " it did not happen that " + what);
        }
    }

    /**
     * As {@link #until(String, Duration, Callable)}; {@code otherwise} says what was seen and what should have been.
     */
    public void expectWithin(Duration limit, String otherwise, Callable<Boolean> condition)
            throws InterruptedException {
        if (!happens(limit, condition)) {
            throw missed(otherwise);
        }
    }

    /** With the stacks of the clients' threads: they show whether the server is asked, or one waits for another. */
    private CheckFailure missed(String what) {
        List<Thread> threads = isVirtual()
                ? List.of()
                : Thread.getAllStackTraces().keySet().stream()
                        .filter(thread ->
                                clientNames().anyMatch(name -> thread.getName().startsWith("keyway-" + name)))
                        .sorted(Comparator.comparing(Thread::getName))
                        .toList();
        return CheckFailure.missed(what, stacks(threads));
    }

    /** The names of the clients that the check has opened. */
    abstract Stream<String> clientNames();

    /** Lets time pass until the condition holds or the limit is reached; returns whether it holds. */
    public boolean happens(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        boolean happened =
                run.clock().isVirtual() ? happensVirtually(limit, condition) : happensReally(limit, condition);
        lastWait = happened ? null : lastWait;
        return happened;
    }

    /**
     * Whether the call ends within that time; more by {@link #patience()} on the machine's clock, where no upper bound
     * is sure. In virtual time the clock then stands at the limit and a thread that is late has a moment of real time
     * to arrive: what is late is the provider.
     */
    public boolean endsWithin(Duration limit, Task<?> task) throws InterruptedException {
        return happens(isVirtual() ? limit : limit.plus(patience()), task::isDone);
    }

    /**
     * Lets time pass until {@link #now()} shows that reading, and returns whether the call goes on then. It counts as
     * going on as well if {@code end}, from which on it may be over, had come before the question was answered: on a
     * busy machine a reading is not met in time.
     */
    public boolean goesOnAt(long reading, Task<?> task, long end) throws InterruptedException {
        passUntil(reading);
        // Asked before the clock is.
        boolean over = task.isDone();
        return !over || now() - end >= 0;
    }

    /**
     * Fails the check if that was seen; surely, as {@link #never}, if {@link #now()} does not show yet the reading from
     * which on it may be.
     */
    public void neverBefore(long end, boolean seen, String text) {
        boolean early = now() - end < 0;
        never(seen && early, text);
        ensureNotLate(seen, text);
    }

    /** Fails the check if that was seen; surely, as {@link #never}, if the lease is held even now. */
    public void neverWhile(Lease lease, boolean seen, String text) {
        never(seen && lease.isHeld(), text);
        ensureNotLate(seen, text);
    }

    /** What was seen when it may be so proves nothing where a machine can be late. */
    private void ensureNotLate(boolean seen, String text) {
        if (seen && !isVirtual()) {
            throw CheckFailure.late(text);
        }
        expect(!seen, text);
    }

    private boolean happensReally(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        long end = System.nanoTime() + limit.toNanos();
        while (!holds(condition)) {
            if (System.nanoTime() - end > 0) {
                return holds(condition);
            }
            run.clock().pass(Duration.ofMillis(2));
        }
        return true;
    }

    private boolean happensVirtually(Duration limit, Callable<Boolean> condition) throws InterruptedException {
        Duration step = limit.dividedBy(STEPS);
        // What is due at this moment belongs to it.
        settle();
        run.clock().pass(Duration.ZERO);
        for (int i = 0; i < STEPS; i++) {
            settle();
            if (holds(condition)) {
                return true;
            }
            run.clock().pass(step);
        }
        // Threads may still be on their way when the clock has arrived.
        long end = System.nanoTime() + REAL_GRACE;
        while (!holds(condition)) {
            if (System.nanoTime() - end > 0) {
                return holds(condition);
            }
            LockSupport.parkNanos(POLL);
        }
        return true;
    }

    private static boolean holds(Callable<Boolean> condition) throws InterruptedException {
        try {
            return condition.call();
        } catch (InterruptedException e) {
            throw e;
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw CheckFailure.unexpected("a question to the client failed: " + e, e);
        }
    }

    /**
     * In virtual time: waits until every task has returned or waits for something; for a moment of real time at most.
     */
    public void settle() throws InterruptedException {
        if (!run.clock().isVirtual()) {
            return;
        }
        long end = System.nanoTime() + REAL_GRACE;
        int quiet = 0;
        while (quiet < 2 && System.nanoTime() - end < 0) {
            quiet = tasks.stream().anyMatch(Task::busy) ? 0 : quiet + 1;
            if (quiet < 2 && !tasks.isEmpty()) {
                LockSupport.parkNanos(POLL / 4);
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** Begins a call on a thread of its own; {@code what} says it in words, as "the second acquire". */
    public <T> Task<T> start(String what, Callable<T> work) {
        return begin(new Task<>(this, what, work, false));
    }

    /** As {@link #start(String, Callable)}, of a call that returns nothing. */
    public Task<Boolean> start(String what, Act work) {
        return start(what, () -> {
            work.run();
            return true;
        });
    }

    /**
     * As {@link #start(String, Callable)}, on a virtual thread; for checks with {@link Requirement#VIRTUAL_THREADS}.
     */
    public <T> Task<T> startVirtual(String what, Callable<T> work) {
        return begin(new Task<>(this, what, work, true));
    }

    private <T> Task<T> begin(Task<T> task) {
        tasks.add(task);
        task.begin();
        return task;
    }

    /**
     * Makes a call that may wait for something that only the passing of time brings, and returns its value; in virtual
     * time a check that called it itself would wait forever.
     */
    public <T> T call(String what, Callable<T> work) throws InterruptedException {
        return start(what, work).get();
    }

    /** Ends what still waits. */
    void interruptTasks() {
        tasks.stream().filter(task -> !task.isDone()).forEach(Task::interrupt);
    }

    /** The threads of this check that have not ended, as text. */
    String stacks(Thread own) {
        List<Thread> threads = new ArrayList<>(List.of(own));
        tasks.stream().filter(task -> !task.isDone()).forEach(task -> threads.add(task.thread()));
        return stacks(threads);
    }

    private static String stacks(List<Thread> threads) {
        StringBuilder text = new StringBuilder();
        for (Thread thread : threads) {
            text.append('\n').append(thread.getName()).append(' ').append(thread.getState());
            for (StackTraceElement frame : thread.getStackTrace()) {
                text.append("\n    at ").append(frame);
            }
        }
        return text.toString();
    }
}
