// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread of a host or member that asks the disk and the operating system's locks, in order. */
public final class DiskThread {
    private static final Logger LOG = LoggerFactory.getLogger(DiskThread.class);
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Consumer<RuntimeException> failed;
    private final ScheduledThreadPoolExecutor thread;

    /**
     * @param name of the thread
     * @param failed told what a task threw: what cannot be asked of the operating system leaves nothing to stand on
     */
    public DiskThread(String name, Consumer<RuntimeException> failed) {
        this.failed = failed;
        this.thread = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
        // A look at the files that is due later would hold the end back until then.
        thread.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
    }

    public void run(Runnable task) {
        runAfter(0, task);
    }

    /** Runs the task after that many milliseconds; never, if this thread ends before. */
    @SuppressWarnings("FutureReturnValueIgnored") // failures are told
    public void runAfter(long millis, Runnable task) {
        try {
            thread.schedule(() -> guarded(task), millis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("this host has ended", e);
        }
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException e) {
            failed.accept(e);
        } catch (Error e) {
            failed.accept(new IllegalStateException("the thread of the disk has failed: " + e, e));
        }
    }

    /** Waits some seconds for what was to be run by now; an interrupt is kept for later. */
    public void drain() {
        try {
            CountDownLatch done = new CountDownLatch(1);
            thread.execute(done::countDown);
            patiently(PATIENCE_NANOS, done::await);
        } catch (RejectedExecutionException e) {
            LOG.debug("this host has ended", e);
        }
    }

    /** Ends the thread; false if it is still busy after some seconds. An interrupt is kept for later. */
    public boolean end() {
        thread.shutdown();
        return patiently(PATIENCE_NANOS, thread::awaitTermination);
    }

    private interface Wait {
        boolean until(long timeout, TimeUnit unit) throws InterruptedException;
    }

    /** Waits for that long at most; false if in vain. An interrupt is kept for later. */
    public static boolean await(CountDownLatch latch, long millis) {
        return patiently(TimeUnit.MILLISECONDS.toNanos(millis), latch::await);
    }

    private static boolean patiently(long nanos, Wait wait) {
        long deadline = System.nanoTime() + nanos;
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return wait.until(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Ends the thread at once. */
    public void kill() {
        thread.shutdownNow();
    }

    /** Runs the task on a thread of its own, for an end that waits for all others. */
    public static void aside(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true);
        thread.start();
    }
}
