// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/**
 * A fencing token: the member's epoch in the upper 32 bits, a counter in the lower 31. Tokens rise with each grant of a
 * name, over restarts too.
 */
public final class Tokens {
    /** The tokens of one grant whose holder may cache the lock: one for each local re-acquire. */
    public static final long RANGE = 1 << 16;

    /** Such a part of what is left of a counter one grant takes at the most that may stand beside others. */
    private static final int PARTS = 1 << 15;

    /** The highest counter. */
    public static final long MAX_COUNTER = (1L << 31) - 1;

    private Tokens() {}

    public static long of(long epoch, long counter) {
        return epoch << 31 | counter;
    }

    /**
     * How many tokens a grant may have that others can stand beside: what it does not use is not given to another one,
     * so that the less is left of the counter, the fewer they are.
     *
     * @param highest of all tokens that were given
     */
    public static long range(long highest) {
        return Math.min(RANGE, 1 + (MAX_COUNTER - counter(highest)) / PARTS);
    }

    public static long epoch(long token) {
        return token >>> 31;
    }

    public static long counter(long token) {
        return token & MAX_COUNTER;
    }
}
