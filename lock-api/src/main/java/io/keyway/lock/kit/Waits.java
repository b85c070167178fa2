// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.time.Duration;

/** The times that users give, as they are added to a clock. */
final class Waits {
    /** A time of ages is one without end in practice, and must not overflow the clock. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Waits() {}

    /** Returns that time in nanoseconds, which can be added to a time of the clock; 0 for one that is negative. */
    static long nanos(Duration time) {
        return time.isNegative() ? 0 : (time.compareTo(LONGEST) > 0 ? LONGEST : time).toNanos();
    }
}
