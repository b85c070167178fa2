// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The event executor of a client that was given none: one daemon thread, started by its first task. */
final class EventThread implements Executor {

    private final ThreadPoolExecutor pool;
    private volatile @Nullable Thread last;

    EventThread(String client) {
        pool = new ThreadPoolExecutor(1, 1, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
            Thread thread = new Thread(task, "keyway-" + client + "-events");
            thread.setDaemon(true);
            last = thread;
            return thread;
        });
    }

    @Override
    public void execute(Runnable task) {
        pool.execute(task);
    }

    /** Ends the thread; waits for it at most {@code limit} of real time unless the caller is that thread. */
    void close(Duration limit, boolean join) {
        pool.shutdown();
        if (!join) {
            return;
        }
        boolean interrupted = false;
        try {
            if (!pool.awaitTermination(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                pool.shutdownNow();
                return;
            }
            Thread thread = last;
            if (thread != null) {
                // The pool says that it has terminated a moment before its thread has.
                Joins.join(thread, limit);
            }
        } catch (InterruptedException e) {
            pool.shutdownNow();
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
