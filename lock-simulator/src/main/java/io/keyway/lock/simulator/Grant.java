// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.service.LockMessage;

/**
 * A grant as its authority made it, and as the oracles follow it. Times of the authority are on its own clock.
 *
 * @param member the node that grants
 * @param memberLife that node's incarnation
 * @param client the node that holds it
 * @param life that node's incarnation
 * @param token the first token
 * @param hi the last one that may be handed out
 * @param ttl nanoseconds
 * @param atLeast for how long it keeps others out at the least; 0 for no such time
 * @param permits how many; of no meaning in other modes
 * @param capacity how many permits there are, as its request said; 0 if nobody said so
 * @param from the token of the grant whose mode was changed, in the same step; 0 for a grant of its own
 */
record Grant(
        String name,
        int member,
        int memberLife,
        long session,
        int client,
        int life,
        long request,
        long token,
        long hi,
        long ttl,
        long atLeast,
        LockMode mode,
        int permits,
        int capacity,
        long from) {
    /** A grant of its own, to one holder alone. */
    Grant(
            String name,
            int member,
            int memberLife,
            long session,
            int client,
            int life,
            long request,
            long token,
            long hi,
            long ttl,
            long atLeast) {
        this(
                name,
                member,
                memberLife,
                session,
                client,
                life,
                request,
                token,
                hi,
                ttl,
                atLeast,
                LockMode.EXCLUSIVE,
                1,
                0,
                0);
    }

    /** How a grant ends at the authority. */
    enum End {
        /** The holder's word: released, accepted, withdrawn. */
        GIVEN_BACK,
        /** Broken, and the holder confirmed it. */
        BROKEN,
        /** The session was not heard for the ttl. */
        EXPIRED,
        /** The session ended by silence. */
        SESSION_SILENT,
        /** The session ended by its client's word, or its process is dead. */
        SESSION_ENDED,
        /** Its holder has it in another mode now, with another token. */
        CONVERTED,
        /** A conflict, or a start after a clean end. */
        OTHER,
        /** The authority itself ended and forgot it. */
        FORGOTTEN;

        /** How a grant ended that was there before a step of its authority, and is not after it. */
        static End by(Object cause, SimWorld world, SimNode member, Grant grant) {
            if (cause instanceof LockMessage.Revoked) {
                return BROKEN;
            }
            if (cause instanceof LockMessage.Release
                    || cause instanceof LockMessage.Accepted
                    || cause instanceof LockMessage.Withdraw) {
                return GIVEN_BACK;
            }
            if (cause instanceof MemberView.Expired) {
                return EXPIRED;
            }
            if (cause instanceof MemberView.SessionEnded) {
                Input input = member.main().lastInput();
                boolean told = input instanceof Input.Died
                        || (world.options().profile() == Options.Profile.FAILOVER
                                && world.model().adoptsView(member))
                        || (input instanceof Input.Arrived arrived && ends(arrived.link(), world, grant));
                return told ? SESSION_ENDED : SESSION_SILENT;
            }
            return OTHER;
        }

        /** Whether the word came from its client, or from another member, by which all clients of a leader are over. */
        private static boolean ends(long link, SimWorld world, Grant grant) {
            boolean dialled = link < 0; // by the member itself, to another member
            int sender = dialled ? 0 : world.net().client(link);
            return sender == grant.client() || (sender <= 0 && world.options().profile() == Options.Profile.FAILOVER);
        }
    }

    /** Whether holders in these modes may hold one lock at the same time; of permits, if there are enough. */
    static boolean together(LockMode one, LockMode other) {
        return one == other && one != LockMode.EXCLUSIVE;
    }

    /** Whether it is a mode that changed back, since nobody took the change: its token is an earlier one. */
    boolean isBack() {
        return from > token;
    }

    /** Whether a session of that node has it. */
    boolean is(int ofMember, long ofSession) {
        return member == ofMember && session == ofSession;
    }

    boolean covers(long asked) {
        return asked >= token && asked <= hi;
    }
}
