// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Goal;

/**
 * One thing that goes wrong.
 *
 * @param at real nanoseconds from the start of the world
 * @param nanos how long; a crash: until the restart
 * @param node the client whose link or process it is; 0 is the member
 * @param amount see {@link Kind}
 */
record Fault(Kind kind, long at, long nanos, int node, long amount) {
    /** As a goal: it struck something. */
    enum Kind implements Goal {
        /** Frames of the client's links take longer by {@code amount} nanoseconds, both ways. */
        DELAY,
        /** {@code amount} of 1000 frames are lost. */
        LOSS,
        DUPLICATION,
        /** Frames of one link overtake each other, within {@code amount} nanoseconds. */
        REORDERING,
        CUT,
        /** Only what the client sends is cut off. */
        CUT_TO_MEMBER,
        CUT_TO_CLIENT,
        /** Both ends of all links of the client see them closed. */
        RESET,
        /** The process gets nothing, and then everything. */
        PAUSE,
        /** The process ends and starts again with an empty memory. {@code amount} 1: its death is proved to the member; 2: the member's disk is put back. */
        CRASH,
        /** The client closes in good order, and opens anew. */
        CLOSE,
        /** The clock's rate is off by {@code amount} parts per million. */
        DRIFT,
        /** The machine sleeps: nothing runs and its clock stands still. Out of every specification. */
        SUSPEND,
        /** Records take {@code amount} nanoseconds to be forced. */
        SLOW_DISK
    }

    long end() {
        return at + nanos;
    }

    @Override
    public String toString() {
        return "fault " + kind + " at " + Nanos.text(at) + " for " + Nanos.text(nanos) + " node " + node + " amount "
                + amount;
    }

    static Fault parse(String line) {
        Words words = new Words(line);
        return new Fault(
                Kind.valueOf(words.word(1)),
                words.nanos("at"),
                words.nanos("for"),
                words.number("node"),
                Long.parseLong(words.text("amount")));
    }
}
