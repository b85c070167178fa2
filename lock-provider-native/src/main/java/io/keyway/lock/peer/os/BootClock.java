// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import java.util.OptionalLong;

/** Horizons on the boot clock, which goes on from one process to the next. */
public final class BootClock {
    /** A horizon where there is no boot clock: a restart then waits in full. */
    public static final long NONE = Long.MIN_VALUE;

    private BootClock() {}

    /**
     * Returns the boot time before which the given nanoseconds of the monotonic clock have not passed, if the machine
     * does not sleep; {@link #NONE} without a boot clock.
     */
    public static long horizon(MachineFacts facts, long remainingNanos) {
        OptionalLong boot = facts.bootNanos();
        return boot.isEmpty() ? NONE : boot.getAsLong() + MachineFacts.BOOT_STEP_NANOS + remainingNanos;
    }
}
