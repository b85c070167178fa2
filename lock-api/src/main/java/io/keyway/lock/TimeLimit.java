// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import io.keyway.lock.spi.TimeSource;
import java.time.Duration;

/** The end of a wait that has several parts, on a client's clock. */
final class TimeLimit {
    /** A wait of ages is a wait without end in practice, and must not overflow the clock. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private final TimeSource time;
    private final long end;

    private TimeLimit(TimeSource time, long end) {
        this.time = time;
        this.end = end;
    }

    static TimeLimit in(Duration wait, TimeSource time) {
        return new TimeLimit(time, time.nanoTime() + nanos(wait));
    }

    /** Returns that time in nanoseconds, which can be added to a time of the clock; 0 for one that is negative. */
    static long nanos(Duration time) {
        return time.isNegative() ? 0 : (time.compareTo(LONGEST) > 0 ? LONGEST : time).toNanos();
    }

    /** Returns the time that is left; zero if it is over. */
    Duration left() {
        return Duration.ofNanos(Math.max(0, end - time.nanoTime()));
    }
}
