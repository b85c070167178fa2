// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

/** What the bounds mean that leaders have a majority record: what is known when several are. None is negative. */
public interface Bounds {
    /** Plain numbers, of which the largest counts. */
    Bounds NUMBERS = new Bounds() {
        @Override
        public long after(long recorded, long said) {
            return Math.max(recorded, said);
        }

        @Override
        public long covering(long one, long other) {
            return Math.max(one, other);
        }
    };

    /** What a member records that has recorded the one, and is told of the other by the view that it knows. */
    long after(long recorded, long said);

    /** What holds whichever of them a majority has recorded last. */
    long covering(long one, long other);
}
