// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.peer.service.Tokens;

/**
 * The place of a request in the total order: its time on a logical clock, or its
 * number of a bakery, and the member that made it. No two
 * requests have one ticket. As a fencing token it is one number, which rises with the order.
 *
 * @param stamp 1 to {@link #MAX_STAMP}
 * @param process the place of the member in the list of all, from 1
 */
public record Ticket(long stamp, int process) implements Comparable<Ticket> {
    /** The bits of a token that say the process: a list has at most 64 members. */
    private static final int PROCESS_BITS = 7;

    /** No process has a greater number. */
    public static final int MAX_PROCESS = (1 << PROCESS_BITS) - 1;

    /**
     * The last time. A clock begins at the epoch, seconds since 2020 times 2^24; up to that many events a second it
     * reaches this bound when the epochs reach theirs, in 2156.
     */
    public static final long MAX_STAMP = (1L << 56) - 1;

    /**
     * A time whose tokens are above all those of members with a lower epoch, so that a floor of tokens, which is given
     * to a member as its epoch, holds here too.
     *
     * @param epoch 32 bits
     */
    public static long ofEpoch(long epoch) {
        return Tokens.of(epoch, 0) >>> PROCESS_BITS;
    }

    /** The ticket behind a token. */
    public static Ticket of(long token) {
        return new Ticket(token >>> PROCESS_BITS, (int) (token & ((1 << PROCESS_BITS) - 1)));
    }

    /** The later of two. */
    public static Ticket later(Ticket a, Ticket b) {
        return a.compareTo(b) < 0 ? b : a;
    }

    /** Never 0 in its lowest bits, since processes count from 1. */
    public long token() {
        return stamp << PROCESS_BITS | process;
    }

    @Override
    public int compareTo(Ticket other) {
        return stamp != other.stamp ? Long.compare(stamp, other.stamp) : Integer.compare(process, other.process);
    }
}
