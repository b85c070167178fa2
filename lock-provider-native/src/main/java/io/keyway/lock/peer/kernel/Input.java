// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/** Everything that can happen to a cell. */
public sealed interface Input {
    /** Only time has passed. */
    record Tick() implements Input {}

    /** A link is up: accepted at a member, or the one that a client asked for with {@link Driver#dial}. */
    record Opened(long link) implements Input {}

    /** A frame was read from a link, in the order in which the link delivered it. */
    record Arrived(long link, Frame frame) implements Input {}

    /** A link is down, or could not be opened. Never a reason to end a grant. */
    record Closed(long link, String why) implements Input {}

    /** A user of this cell asks one of its machines for something. */
    record Command(Key key, Call call) implements Input {}

    /** The operating system proved that the process behind a session is dead (local mode). */
    record Died(long session) implements Input {}

    /**
     * The operating system proved that nobody believes in a grant of an earlier life of this member (local mode): its
     * quarantine is over.
     */
    record Proved() implements Input {}

    /**
     * Every member of the list runs with it, so that this one may grant from that time on, if nothing else speaks
     * against it.
     *
     * @param openAt on the cell's clock
     * @param epoch the highest that any of them has: tokens of names that they decided on before stay below it
     * @param firstUse nothing was ever granted in this cluster, as far as all of them know
     */
    record Confirmed(long openAt, long epoch, boolean firstUse) implements Input {}

    /**
     * Another cell of this member was told of an epoch of the member that it did not know, and took this one, above it.
     */
    record EpochTaken(long epoch) implements Input {}

    /** A link that was asked for cannot be opened before somebody changes a configuration. */
    record Unfit(long link, String why) implements Input {}

    /** A durable record is on disk; also all records of lower tickets. */
    record Forced(long ticket) implements Input {}

    /**
     * The driver was late by so many nanoseconds: deadlines that this cell set for others move by as much before any of
     * them is looked at.
     */
    record Stalled(long nanos) implements Input {}

    /**
     * What the operating system said of this client's life no longer holds: everything of its session is dropped, and
     * the next one names other bytes (local mode).
     */
    record Reborn(long life, long guard, String why) implements Input {
        /** There is no other byte: there will be no other session either. */
        public static final long NO_LIFE = -1;
    }

    /** The member of this client's cell is none any more: whoever waits for it has to ask another one. */
    record Dismissed() implements Input {}

    /** The user of this cell closes it: a client says BYE, a member grants no more. */
    record Closing() implements Input {}
}
