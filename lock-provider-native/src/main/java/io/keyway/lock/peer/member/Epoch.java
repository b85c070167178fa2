// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

/**
 * The epoch of a member's next incarnation: above everything stored, everything heard and, should all of that be lost,
 * above what an earlier clock gave.
 */
public final class Epoch {
    /** The largest: it is the upper half of a token. */
    public static final long MAX = 0xFFFF_FFFFL;

    private static final long START_OF_2020_MILLIS = 1_577_836_800_000L;

    private static final long TEN_YEARS_OF_SECONDS = 315_576_000L;

    private Epoch() {}

    private static long wall(long wallMillis) {
        return Math.floorDiv(wallMillis - START_OF_2020_MILLIS, 1000L);
    }

    /**
     * The highest epoch of this member that anybody may have seen, unless its clock was wrong by more than ten years:
     * who tells of a higher one is wrong, or wants it to run out of epochs.
     */
    public static long last(long stored, long wallMillis) {
        return Math.min(MAX - 1, Math.max(stored, Math.max(0, wall(wallMillis)) + TEN_YEARS_OF_SECONDS));
    }

    /**
     * As {@link #last}, of a member that was given a floor of tokens, and began in that epoch, far ahead of its clock.
     */
    public static long lastAfter(long given) {
        return Math.min(MAX - 1, given + TEN_YEARS_OF_SECONDS);
    }

    /**
     * Returns the next epoch. The wall clock serves only here and never shortens a wait.
     *
     * @param stored the highest epoch on disk, 0 if none
     * @param heard the highest epoch that anybody reported of this member, 0 if none
     * @throws IllegalStateException if none is left
     */
    public static long next(long stored, long heard, long wallMillis) {
        long wall = wall(wallMillis);
        long next = Math.max(Math.max(stored, heard) + 1, Math.min(wall, MAX));
        if (next > MAX || next < 1) {
            throw new IllegalStateException("No epoch is left above " + Math.max(stored, heard)
                    + ": the cluster must be set up anew under another cluster id");
        }
        return next;
    }
}
