// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.supervisor;

/**
 * Whether two processes of one machine read the same {@link System#nanoTime()}. They do on Linux, where it is
 * {@code CLOCK_MONOTONIC}; the platform does not promise it, so it is checked.
 */
final class SharedClock {
    private SharedClock() {}

    /**
     * What is added to a time of this process to get a time of the other that is not later.
     *
     * @param before this clock's reading, taken before the other's
     * @param other the other clock's reading
     * @param after this clock's reading, taken after the other's
     */
    static long offset(long before, long other, long after) {
        boolean shared = other - before >= 0 && after - other >= 0;
        // The message cannot have taken less than no time: measured from its receipt, the result errs to the early
        // side.
        return shared ? 0 : other - after;
    }
}
