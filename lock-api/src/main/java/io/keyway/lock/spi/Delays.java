// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.util.concurrent.Future;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Runs short tasks later, for providers that have no client's timers at hand. All share one daemon thread, which ends
 * soon after the last task: the JDK's own thread for delays, which {@code CompletableFuture.orTimeout} and the like
 * start, stays for the life of the JVM and keeps the class loader of the application that was first to need it.
 */
public final class Delays {
    private static final ScheduledThreadPoolExecutor THREAD = new ScheduledThreadPoolExecutor(1, work -> {
        Thread thread = new Thread(work, "keyway-delays");
        thread.setDaemon(true);
        return thread;
    });

    static {
        THREAD.setKeepAliveTime(1, TimeUnit.SECONDS);
        THREAD.allowCoreThreadTimeOut(true);
        THREAD.setRemoveOnCancelPolicy(true);
    }

    private Delays() {}

    /**
     * Runs the task after that time.
     *
     * @param nanos how long to wait, in nanoseconds; at once if it is not positive
     * @param task what to run; it does not block, since all others wait for it
     * @return the means to drop it
     */
    public static TimeSource.Scheduled after(long nanos, Runnable task) {
        Future<?> due = THREAD.schedule(task, nanos, TimeUnit.NANOSECONDS);
        return () -> due.cancel(false);
    }
}
