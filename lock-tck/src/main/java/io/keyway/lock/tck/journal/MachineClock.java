// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.journal;

/**
 * The clock of all journals: {@link System#nanoTime}. On Linux each JVM reads CLOCK_MONOTONIC, which is one for the
 * machine (and its containers' shared kernel), so readings of several JVMs compare. Java does not promise that, so each
 * worker's first reading is checked: it must lie between two of this JVM, before it was started and after it has
 * answered.
 */
public final class MachineClock {
    private MachineClock() {}

    /** Nanoseconds since some moment, the same for all processes of this machine. */
    public static long now() {
        return System.nanoTime();
    }

    /**
     * Checks a reading of another process.
     *
     * @throws AssertionError if the clocks of the two processes do not compare
     */
    public static void check(long before, long theirs, long after) {
        if (theirs - before < 0 || after - theirs < 0) {
            throw new AssertionError("a process read " + theirs + " between " + before + " and " + after
                    + ": System.nanoTime() of two processes does not compare on this machine, so no history "
                    + "can be judged");
        }
    }
}
