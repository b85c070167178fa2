// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

/** The clock and the timers that go with it; per client. */
public interface TimeSource {
    /** Returns the monotonic time in nanoseconds; compare by difference. */
    long nanoTime();

    /** Runs the task, which must be short, at or after that time, on a thread of the source. */
    Scheduled at(long atNanos, Runnable task);

    /**
     * Whether a test moves this time. Then the kit has no worker threads: a call of a store runs on the thread that
     * causes it, so that everything that is due has happened when the thread that moves the time returns.
     */
    default boolean manual() {
        return false;
    }

    /** A task that is due later. */
    interface Scheduled {
        /** Drops the task unless it has started; idempotent, cheap, may be called from the task. */
        void cancel();
    }
}
