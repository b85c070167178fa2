// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;
import java.lang.management.ThreadMXBean;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.locks.AbstractQueuedSynchronizer;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** A call on a thread of its own. */
public final class Task<T> {
    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final TestTime time;
    private final String what;
    private final Thread thread;
    private final CompletableFuture<T> result = new CompletableFuture<>();
    private volatile boolean interruptedAtEnd;

    Task(TestTime time, String what, Callable<T> work, boolean virtual) {
        this.time = time;
        this.what = what;
        this.thread = virtual ? VirtualThreads.unstarted(() -> run(work)) : new Thread(() -> run(work));
        thread.setName("tck-task-" + what.replace(' ', '-'));
        thread.setDaemon(true);
    }

    private void run(Callable<T> work) {
        try {
            T value = work.call();
            interruptedAtEnd = Thread.currentThread().isInterrupted();
            result.complete(value);
        } catch (Throwable e) {
            interruptedAtEnd = Thread.currentThread().isInterrupted();
            result.completeExceptionally(e);
        }
    }

    void begin() {
        thread.start();
    }

    Thread thread() {
        return thread;
    }

    /** Whether the call has returned or thrown. */
    public boolean isDone() {
        return result.isDone();
    }

    /** Interrupts its thread. */
    public void interrupt() {
        thread.interrupt();
    }

    /** Whether the thread's interrupt flag was set when the call ended. */
    public boolean interruptedAtEnd() {
        return interruptedAtEnd;
    }

    /**
     * Waits for its end within the trial's patience, letting time pass, and returns its value; a failure of the call
     * fails the check.
     */
    public T get() throws InterruptedException {
        time.until(what + " returns", result::isDone);
        Throwable failure = failure().orElse(null);
        if (failure == null) {
            return result.join();
        }
        if (failure instanceof CheckFailure known) {
            throw known;
        }
        throw CheckFailure.unexpected(what + " threw " + failure, failure);
    }

    /** Waits for its end within the trial's patience, and returns what it threw; empty if it returned. */
    public Optional<Throwable> outcome() throws InterruptedException {
        time.until(what + " returns or throws", result::isDone);
        return failure();
    }

    private Optional<Throwable> failure() {
        if (!result.isCompletedExceptionally()) {
            return Optional.empty();
        }
        try {
            result.join();
            return Optional.empty();
        } catch (CompletionException e) {
            return Optional.of(cause(e));
        }
    }

    private static Throwable cause(CompletionException e) {
        @Nullable Throwable cause = e.getCause();
        return cause == null ? e : cause;
    }

    /** Whether its thread has work to do now, or was woken and has not got the processor yet. */
    boolean busy() {
        return !result.isDone()
                && switch (thread.getState()) {
                    case NEW, RUNNABLE -> true;
                    case BLOCKED -> getsLock();
                    case WAITING, TIMED_WAITING -> thread.isInterrupted() || isReleased() || getsLock();
                    default -> false;
                };
    }

    /** Whether the lock that its thread waits for, if it does, is free, or held by a thread that runs. */
    private boolean getsLock() {
        if (thread.getState() != Thread.State.BLOCKED
                && !(LockSupport.getBlocker(thread) instanceof AbstractQueuedSynchronizer lock
                        && lock.getExclusiveQueuedThreads().contains(thread))) {
            return false; // latches and semaphores have waiters that share
        }
        ThreadInfo waits = THREADS.getThreadInfo(thread.getId());
        if (waits == null || waits.getLockInfo() == null) {
            return false;
        }
        ThreadInfo holds = waits.getLockOwnerId() < 0 ? null : THREADS.getThreadInfo(waits.getLockOwnerId());
        return holds == null || holds.getThreadState() == Thread.State.RUNNABLE;
    }

    /** What a future's waiter is parked on says so itself; of other waiting nothing is known. */
    private boolean isReleased() {
        return LockSupport.getBlocker(thread) instanceof ForkJoinPool.ManagedBlocker blocker && blocker.isReleasable();
    }
}
