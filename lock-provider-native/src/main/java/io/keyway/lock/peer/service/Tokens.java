// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/**
 * A fencing token: the member's epoch in the upper 32 bits, a counter in the lower 31. Tokens rise with each grant of a
 * name, over restarts too.
 */
public final class Tokens {
    /** The tokens of one grant whose holder may cache the lock: one for each local re-acquire. */
    public static final long RANGE = 1 << 16;

    /** The highest counter. */
    public static final long MAX_COUNTER = (1L << 31) - 1;

    private Tokens() {}

    public static long of(long epoch, long counter) {
        return epoch << 31 | counter;
    }

    public static long epoch(long token) {
        return token >>> 31;
    }

    public static long counter(long token) {
        return token & MAX_COUNTER;
    }
}
