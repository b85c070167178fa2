// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The machine's monotonic clock, with one daemon thread for its timers, started with the first of them. */
public final class SystemTime implements TimeSource, AutoCloseable {
    private static final Logger LOG = System.getLogger(SystemTime.class.getName());
    private static final Scheduled DROPPED = () -> {};

    private final String threadName;
    private final ScheduledThreadPoolExecutor timers;
    private volatile @Nullable Thread thread;

    /** Makes the source of one client; its thread is named {@code keyway-<client>-timer}. */
    public SystemTime(String client) {
        this.threadName = "keyway-" + client + "-timer";
        this.timers = new ScheduledThreadPoolExecutor(1, this::newThread);
        timers.setRemoveOnCancelPolicy(true);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    /** As the interface says; after {@link #close()} the task is dropped. */
    @Override
    public Scheduled at(long atNanos, Runnable task) {
        Future<?> due;
        try {
            due = timers.schedule(() -> guarded(task), atNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            return DROPPED;
        }
        return () -> due.cancel(false);
    }

    /** Drops all tasks and joins the thread, unless called on it; keeps the interrupt flag. Idempotent. */
    @Override
    public void close() {
        timers.shutdownNow();
        Thread running = thread;
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        boolean interrupted = false;
        while (running.isAlive()) {
            try {
                running.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Thread newThread(Runnable work) {
        Thread created = new Thread(work, threadName);
        created.setDaemon(true);
        thread = created;
        return created;
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.log(Level.ERROR, "A timer task of " + threadName + " failed; the others go on", e);
        }
    }
}
