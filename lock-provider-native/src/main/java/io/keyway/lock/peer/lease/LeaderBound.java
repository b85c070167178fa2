// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.Bounds;

/**
 * What a majority records before a leader makes use of it, in one number: the highest epoch that it grants in, and the
 * longest time for which a lease, or a place that is kept, binds others. The leader says it again with a higher epoch
 * when that time becomes shorter, so what it says only rises.
 *
 * <p>Between leaders epochs may go back, where the former one has said something to a minority. Whoever votes with that
 * must not hide the longer time that a majority has recorded: {@link #covering}. And who has it must record the longer
 * time of the next leader: {@link #after}.
 */
final class LeaderBound implements Bounds {
    /** Milliseconds, of a little more than a day. */
    private static final int BITS = 27;

    private static final long MASK = (1L << BITS) - 1;
    private static final long MILLI = 1_000_000L;

    static long of(long epoch, long nanos) {
        return epoch << BITS | Math.min(MASK, (nanos + MILLI - 1) / MILLI);
    }

    static long epoch(long bound) {
        return bound >>> BITS;
    }

    /** In nanoseconds. */
    static long longest(long bound) {
        return (bound & MASK) * MILLI;
    }

    @Override
    public long after(long recorded, long said) {
        return epoch(said) > epoch(recorded) ? said : covering(recorded, said);
    }

    @Override
    public long covering(long one, long other) {
        return of(Math.max(epoch(one), epoch(other)), Math.max(longest(one), longest(other)));
    }
}
