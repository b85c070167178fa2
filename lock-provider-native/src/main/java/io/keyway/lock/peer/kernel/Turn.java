// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.List;

/** The only door of a machine to the world, valid during one turn. */
public interface Turn {
    /** A time that never comes: cancels a timer. */
    long NEVER = Long.MAX_VALUE;

    /** The earlier of two times, each of which may be {@link #NEVER}. */
    static long earlier(long a, long b) {
        if (a == NEVER || b == NEVER) {
            return a == NEVER ? b : a;
        }
        return a - b <= 0 ? a : b;
    }

    /** The later of two times; {@link #NEVER} stands for none. */
    static long later(long a, long b) {
        return b == NEVER || (a != NEVER && a - b > 0) ? a : b;
    }

    /** Whether a time that may be {@link #NEVER} has come. */
    static boolean due(long at, long now) {
        return at != NEVER && now - at >= 0;
    }

    /** The cell's clock, read once for the turn; nanoseconds, compared by difference. */
    long now();

    /**
     * Queues a message behind all earlier ones of that session. It is lost only with the session.
     *
     * @return its number in the session; {@link ClientView#receipt} tells when the peer has it; 0 if the session is
     *     over, and nothing was queued
     */
    long send(Peer to, Message message);

    /** Calls a machine of this cell, in this turn, after the current one has returned. */
    void call(Key to, Call call);

    /**
     * Sets the timer of that slot (0 to 7) of this machine; {@link #NEVER} cancels it. An armed slot loses its old
     * time.
     */
    void timer(int slot, long at);

    /**
     * The keys of the machines of this cell that are not at rest, in order: the first ones from that one on, at most so
     * many. For those who list them: it may cost more than what is shown.
     */
    List<Key> residents(Key from, boolean inclusive, int most);

    /** Asks for a record to be forced to disk; all later outputs of the cell wait until it is. */
    long force(DurableRecord record);

    void tell(Notice notice);

    /**
     * The logical clock that the frame shows whose messages are being processed; 0 if there is no such frame, or it
     * shows none. Whoever has sent it has heard of nothing later.
     */
    default long frameClock() {
        return 0;
    }

    /** All frames of this member's cell show that logical clock from now on, from the next flush at the latest. */
    default void showClock(long logicalClock) {}

    void goal(CoverageGoal goal);

    /** A random number of 1 to 63 bits. */
    long draw(int bits);

    /** The member's side of this cell. @throws IllegalStateException in a client's cell */
    MemberView member();

    /**
     * The other members, as this member's cell knows them.
     *
     * @throws IllegalStateException in a client's cell, or if the algorithm does not talk to members
     */
    PeerView peers();

    /** The client's side of this cell. @throws IllegalStateException in a member's cell */
    ClientView client();
}
