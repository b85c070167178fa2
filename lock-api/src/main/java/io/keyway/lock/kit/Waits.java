// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.time.Duration;

/** How long users wait at the most. */
final class Waits {
    /** A wait of ages is a wait without end in practice, and must not overflow the clock. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    private Waits() {}

    /** Returns that wait in nanoseconds, which can be added to a time of the clock. */
    static long nanos(Duration wait) {
        return (wait.compareTo(LONGEST) > 0 ? LONGEST : wait).toNanos();
    }
}
