// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.time.Duration;

/** The one clock of a check: the machine's, or one that the TCK moves. */
interface CheckClock {
    /** Monotonic, in nanoseconds; compare by difference. */
    long now();

    /** Lets so much time pass. */
    void pass(Duration time) throws InterruptedException;

    /** Whether the TCK moves it. */
    boolean isVirtual();
}
