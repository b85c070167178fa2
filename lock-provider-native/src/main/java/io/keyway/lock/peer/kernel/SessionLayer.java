// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * The sessions of one cell: the part of it that knows links, stamps frames and expires grants. Also the cell's
 * {@link MemberView} or {@link ClientView}.
 */
public interface SessionLayer {
    /**
     * A turn begins, and what is due of the sessions happens before anything else in it: a lapse is seen before any
     * frame that would extend. The layer may use this turn, from the calls of its views too, until the turn ends.
     */
    void begin(SessionTurn turn);

    void opened(long link, SessionTurn turn);

    void arrived(long link, Frame frame, SessionTurn turn);

    void closed(long link, String why, SessionTurn turn);

    /** A link that this cell wanted cannot be opened before somebody changes a configuration. */
    default void unfit(long link, String why, SessionTurn turn) {
        closed(link, why, turn);
    }

    /** The process behind that session is proved dead. */
    void died(long session, SessionTurn turn);

    /** Drops the session, which stood on a proof of life that no longer holds. */
    default void reborn(long life, long guard, String why, SessionTurn turn) {}

    /** Whoever waits for this member is told that it has to ask another one. */
    default void dismissed(SessionTurn turn) {}

    /** No grant of an earlier life of this member can be believed any more: the quarantine is over. */
    default void proved(SessionTurn turn) {}

    /**
     * The member list is confirmed.
     *
     * @param list from when on it holds; this member's epoch is to be no lower than that one
     */
    default void confirmed(Input.Confirmed list, SessionTurn turn) {}

    /** A sibling cell took that epoch, since the member had forgotten one. */
    default void epochTaken(long epoch, SessionTurn turn) {}

    /** Moves every deadline that was set for others. Comes before any timer of the turn. */
    void stalled(long nanos);

    void closing(SessionTurn turn);

    void forced(long ticket, SessionTurn turn);

    /** Queues a message; 0 if that session is over. */
    long send(Peer to, Message message);

    /**
     * Ends a batch of turns: one frame for each peer that is owed something, stamped with {@link Turn#now}, which is
     * read afresh for it; says when it has to be woken.
     */
    void flush(SessionTurn turn);

    SessionLayer copy();

    void encode(StateEncoder out);

    /** A turn as the session layer sees it. */
    interface SessionTurn extends Turn {
        /** The cell is to begin a turn at that time, {@link Turn#NEVER} for none, instead of the time said before. */
        void wake(long at);

        void dial(long link);

        void transmit(long link, Frame frame);

        void hangUp(long link);

        /** The address of the other end of a link, for people; empty if it is not known. */
        default String origin(long link) {
            return "";
        }

        /** As {@link #force}, but later outputs do not wait: for promises that are made ahead of need. */
        long persist(DurableRecord record);

        /** All later outputs of the cell wait until the record of that ticket is on disk. */
        void awaitForced(long ticket);

        /** The messages that are accepted next came with a frame that shows that logical clock; 0 for none. */
        void atHand(long frameClock);

        /** A client's session has taken a frame that shows that logical clock. */
        void heardClock(long logicalClock);

        /**
         * What frames of this cell show: of a member its own logical clock, of a client the highest it has heard of.
         */
        long shownClock();

        /** Hands a message that arrived in order to its machine, in this turn. */
        void accept(Peer from, Message message);
    }
}
