// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.time.Duration;

/**
 * How one direction of a {@link FaultProxy} treats its bytes. What is not discarded arrives whole and in order, as TCP
 * has it.
 *
 * @param stalled nothing moves; what was sent arrives when the fault ends, as after a lost route that comes back
 * @param discarding bytes are read and thrown away, for a reply that must never arrive. The stream is useless
 *     afterwards: reset it
 * @param delay by which each byte arrives later; at least zero
 * @param bytesPerSecond the most that passes; 0 for no bound
 */
public record Fault(boolean stalled, boolean discarding, Duration delay, long bytesPerSecond) {
    /** No fault. */
    public static final Fault NONE = new Fault(false, false, Duration.ZERO, 0);

    /** Nothing moves. */
    public static final Fault STALLED = new Fault(true, false, Duration.ZERO, 0);

    /** Everything is thrown away. */
    public static final Fault DISCARDING = new Fault(false, true, Duration.ZERO, 0);

    public Fault {
        if (delay.isNegative()) {
            throw new IllegalArgumentException("delay " + delay + " is negative");
        }
        if (bytesPerSecond < 0) {
            throw new IllegalArgumentException("bytesPerSecond " + bytesPerSecond + " is negative");
        }
    }

    /** Bytes arrive that much later. */
    public static Fault delayed(Duration delay) {
        return new Fault(false, false, delay, 0);
    }

    /** A reader, or a line, that takes at most so many bytes per second; at least 1. */
    public static Fault slow(long bytesPerSecond) {
        if (bytesPerSecond < 1) {
            throw new IllegalArgumentException("bytesPerSecond " + bytesPerSecond + " is less than 1");
        }
        return new Fault(false, false, Duration.ZERO, bytesPerSecond);
    }
}
