// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

import java.util.concurrent.TimeUnit;

/** The time of the command line and its supervisor: whatever they wait for by the clock, they wait for here. */
public interface CommandClock {
    /** The machine's monotonic clock. */
    CommandClock SYSTEM = new CommandClock() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public void pause(long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.sleep(nanos);
        }

        @Override
        public void await(Object monitor, long nanos) throws InterruptedException {
            TimeUnit.NANOSECONDS.timedWait(monitor, nanos);
        }
    };

    /** As {@link System#nanoTime()}. */
    long nanoTime();

    /** Returns after that time, in nanoseconds. */
    void pause(long nanos) throws InterruptedException;

    /** Waits on the monitor, which the caller owns, for at most that time in nanoseconds; may return early. */
    void await(Object monitor, long nanos) throws InterruptedException;

    /** As {@link #pause}; an interrupt ends the pause and stays set. */
    default void pauseOrInterrupt(long nanos) {
        try {
            pause(nanos);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
