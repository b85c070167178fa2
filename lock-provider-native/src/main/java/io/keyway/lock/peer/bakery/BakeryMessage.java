// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.spi.Owner;
import java.util.List;

/**
 * What homes and leaders say to each other. A request goes by the number that its home gave it, which that home uses
 * once in its life.
 */
sealed interface BakeryMessage extends Message {
    /** Of a home to a leader. */
    sealed interface ToLeader extends BakeryMessage {
        @Override
        default Key key() {
            return BakeryKeys.LEADER;
        }
    }

    /** Of a home to a leader, about a request. */
    sealed interface OfRequest extends ToLeader {
        String name();

        long number();
    }

    /** Of a leader to a home, about a request. */
    sealed interface Answer extends BakeryMessage {
        /** That of the home's last {@link Begin}: an answer to an earlier one is not counted. */
        long meeting();

        long number();

        @Override
        default Key key() {
            return BakeryKeys.HOME;
        }
    }

    /** Of a home, or of a leader, to a home. */
    sealed interface BetweenHomes extends BakeryMessage {
        @Override
        default Key key() {
            return BakeryKeys.HOME;
        }
    }

    /**
     * What follows until {@link End} is all that this home asks for: what it said before may be lost.
     *
     * @param life of the home, drawn at its start
     * @param meeting never used before in that life
     * @param since the view by which that leader got its seat, as the home knows; another one hears nothing of it
     */
    record Begin(long life, long meeting, ViewId since) implements ToLeader {}

    /** The whole of it was said. */
    record End(long meeting) implements ToLeader {}

    /**
     * ENTERING and GETMAXTICKET: a client wants the lock. Answered by {@link Entered}.
     *
     * @param waited nanoseconds since it asked, of a soft writer since it came to its home
     */
    record Entering(String name, long number, RequestMode mode, Owner owner, long waited) implements OfRequest {}

    /**
     * ADDTICKET, LOCKEXITING and ACTIVATE: the request has its ticket, and wants to be let in. Answered by
     * {@link Activated} or {@link Refused} when that is so, and {@link TicketAdded} before.
     *
     * @param ticket the number; that of its home breaks ties
     * @param process the number that its home had when it drew the ticket
     * @param asks wants to hear at once whether another one holds the lock
     * @param holds a majority has it active: its client may believe in the lock
     * @param age nanoseconds since it was granted if it holds, else as the time of {@link Entering}
     */
    record AddTicket(
            String name,
            long number,
            RequestMode mode,
            long ticket,
            int process,
            boolean asks,
            boolean holds,
            Owner owner,
            long age)
            implements OfRequest {}

    /**
     * DROPTICKET: the request is over.
     *
     * @param held of one that was granted, so that smaller tickets come too late: how many nanoseconds ago; {@link
     *     #NEVER_HELD} of others
     */
    record DropTicket(String name, long number, long held) implements OfRequest {
        static final long NEVER_HELD = -1;
    }

    /** The home counts this leader's activation no more, and nobody holds by it. Answers {@link Yield}. */
    record Relinquished(String name, long number) implements OfRequest {}

    /** That request is not over. Answers {@link Question}. */
    record Stands(String name, long number) implements OfRequest {}

    /**
     * ENTERED and MAXTICKET.
     *
     * @param highest the highest ticket that this leader has heard of, of whatever lock
     */
    record Entered(long meeting, long number, long highest) implements Answer {}

    /**
     * TICKETADDED: others are before it.
     *
     * @param ahead how many wait before it
     * @param holder who is let in, or one of them
     */
    record TicketAdded(long meeting, long number, int ahead, Participant holder) implements Answer {}

    /** ACTIVATED: this leader lets that request in, and none that excludes it. */
    record Activated(long meeting, long number) implements Answer {}

    /** A greater ticket has held the lock, or may have: draw another one. Who was let in is not any more. */
    record Refused(long meeting, long number) implements Answer {}

    /** A smaller ticket waits: give this leader's activation back, unless you hold. */
    record Yield(long meeting, long number) implements Answer {}

    /** Somebody wants to know whether that request is over; answered by {@link Stands}, or by its end before. */
    record Question(long meeting, long number) implements Answer {}

    /**
     * An administrator breaks what the receiver's client holds.
     *
     * @param number the sender's, for the answer
     * @param token of the grant
     */
    record Break(long number, String name, long token, String reason) implements BetweenHomes {}

    /**
     * Answers {@link Break}.
     *
     * @param done false if that grant did not stand
     */
    record Broken(long number, boolean done) implements BetweenHomes {}

    /** An administrator asks who holds and who waits. Answered by {@link Seen}. */
    record Look(long number, String name) implements ToLeader {}

    /**
     * Answers {@link Look}, in one part or several.
     *
     * @param number that of the question
     */
    record Seen(
            long number,
            List<Participant> holders,
            List<Participant> waiters,
            List<Participant> softWriters,
            int more,
            boolean last)
            implements BetweenHomes {}

    /**
     * Of a leader: it knows that it has a seat, by that view. Answered by {@link Begin}.
     *
     * @param highest as of {@link Entered}: a leader that starts anew refuses what is drawn below that
     */
    record Leading(ViewId since, long highest) implements BetweenHomes {}

    /**
     * What a leader forces.
     *
     * @param ticket no ticket of this leader is above that one, and no later life of it lets one in that is not; not 0
     * @param since it has spoken in the seat that it has since that view; NONE if it has spoken in none
     */
    record Reserved(long ticket, ViewId since) implements DurableRecord {}
}
