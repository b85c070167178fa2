// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.TimeSource;

/** A {@link SuspendAwareClock} with the timers of another source. A timer that was set before the machine slept is late by the time of the sleep; nobody believes by a timer. */
public final class SuspendAwareTime implements TimeSource {
    private final SuspendAwareClock clock;
    private final TimeSource timers;

    public SuspendAwareTime(SuspendAwareClock clock, TimeSource timers) {
        this.clock = clock;
        this.timers = timers;
    }

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        return timers.at(timers.nanoTime() + (atNanos - clock.nanoTime()), task);
    }
}
