// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;

/**
 * One thing that goes wrong.
 *
 * @param at real nanoseconds from the start of the world
 * @param nanos how long; a crash: until the restart
 * @param node whose links, process or machine it is; clients count from 1 up, members from 0 down
 * @param peer for links: to whom they go, or {@link #ALL}
 * @param amount see {@link Kind}
 */
record Fault(Kind kind, long at, long nanos, int node, int peer, long amount) {
    /** As a peer: all others. */
    static final int ALL = Integer.MAX_VALUE;

    Fault(Kind kind, long at, long nanos, int node, long amount) {
        this(kind, at, nanos, node, ALL, amount);
    }

    /** As a goal: it struck something. */
    enum Kind implements CoverageGoal {
        /** Frames of the node's links take longer by {@code amount} nanoseconds, both ways. */
        DELAY,
        /** {@code amount} of 1000 frames are lost. */
        LOSS,
        DUPLICATION,
        /** Frames of one link overtake each other, within {@code amount} nanoseconds. */
        REORDERING,
        CUT,
        /** Only what the client sends, or what a member is sent, is cut off. */
        CUT_TO_MEMBER,
        CUT_TO_CLIENT,
        /** Both ends of the node's links see them closed. */
        RESET,
        /**
         * The process gets nothing, and then everything. It stops between two steps, or within its next one: before
         * what that says, or in the middle of it.
         */
        PAUSE,
        /**
         * The process ends and starts again with an empty memory. {@code amount} 1: its death is proved to the member;
         * 2: the member's disk is put back; 3: it is lost; 4: it is lost, and the operator says that the cluster never
         * ran.
         */
        CRASH,
        /** The client closes in good order, and opens anew. */
        CLOSE,
        /** The clock's rate is off by {@code amount} parts per million. */
        DRIFT,
        /**
         * The machine sleeps: nothing runs and its monotonic clock stands still. Out of every specification where
         * clients do not look at the wall clock.
         */
        SUSPEND,
        /** The machine's wall clock is set {@code amount} nanoseconds ahead, or back. */
        WALL_STEP,
        /** The member ends in good order, and the next one takes over what it granted. */
        HAND_OVER,
        /** Records take {@code amount} nanoseconds to be forced. */
        SLOW_DISK,
        /**
         * The operator ends the member and starts it with the member list of which {@code amount} has the bits, and
         * with the {@code maxTtl} of {@link #maxTtl}; if it is none of that list, it has ended for good.
         */
        NEW_LIST,
        /**
         * Nothing goes wrong: the operator tells the member again and again that the one that is its {@code peer} is to
         * be added, if {@code amount} is 1, or removed.
         */
        CHANGE_MEMBERS,
        /** Nothing goes wrong: the member is to give its seat to another one, if it leads. */
        LEAVE_SEAT
    }

    private static final int LIST_BITS = 32;

    /**
     * The amount of a new list that comes with a {@code maxTtl} of a 2 to the power of {@code shift}th of the world's.
     */
    static long listAndTtl(long list, int shift) {
        return list | (long) shift << LIST_BITS;
    }

    /** Of a new list: the bits of its members. */
    long list() {
        return amount & (1L << LIST_BITS) - 1;
    }

    /** Of a new list: what comes with it. */
    long maxTtl(long ofTheWorld) {
        return ofTheWorld >> (amount >>> LIST_BITS);
    }

    Fault of(int other) {
        return new Fault(kind, at, nanos, other, peer, amount);
    }

    long end() {
        return at + nanos;
    }

    @Override
    public String toString() {
        return "fault " + kind + " at " + Nanos.text(at) + " for " + Nanos.text(nanos) + " node " + node
                + (peer == ALL ? "" : " peer " + peer) + " amount " + amount;
    }

    static Fault parse(String line) {
        Words words = new Words(line);
        return new Fault(
                Kind.valueOf(words.word(1)),
                words.nanos("at"),
                words.nanos("for"),
                words.number("node"),
                words.has("peer") ? words.number("peer") : ALL,
                Long.parseLong(words.text("amount")));
    }
}
