// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.ArrayDeque;

/** One connection of a client to a member. Each end closes for itself; what was sent before may still arrive. */
final class SimLink {
    static final int TO_MEMBER = 0;
    static final int TO_CLIENT = 1;

    /** A frame that a cut holds up; like TCP, the link sends it again when the cut is over. */
    record Stuck(Object frame, boolean close) {}

    final SimNode client;
    final SimNode member;
    final int clientIncarnation;
    final int memberIncarnation;
    /** The number that the client chose. */
    final long atClient;
    /** The number that the member knows, unique in the world; also the seed of this link's draws. */
    final long atMember;
    /** How many links this client had before: names the link's noise, whatever else is taken out of a plan. */
    final int ordinal;

    boolean clientOpen = true;
    boolean memberOpen;
    final long[] sent = new long[2];
    final long[] lastArrival = new long[2];
    final ArrayDeque<Stuck> stuckToMember = new ArrayDeque<>(0);
    final ArrayDeque<Stuck> stuckToClient = new ArrayDeque<>(0);

    SimLink(SimNode client, SimNode member, long atClient, long atMember, int ordinal) {
        this.client = client;
        this.member = member;
        this.clientIncarnation = client.incarnation();
        this.memberIncarnation = member.incarnation();
        this.atClient = atClient;
        this.atMember = atMember;
        this.ordinal = ordinal;
    }

    SimNode to(int direction) {
        return direction == TO_MEMBER ? member : client;
    }

    int incarnation(int direction) {
        return direction == TO_MEMBER ? memberIncarnation : clientIncarnation;
    }

    boolean openAt(int direction) {
        return direction == TO_MEMBER ? memberOpen : clientOpen;
    }

    ArrayDeque<Stuck> stuck(int direction) {
        return direction == TO_MEMBER ? stuckToMember : stuckToClient;
    }

    /** The number of this link at the end where frames of that direction arrive. */
    long number(int direction) {
        return direction == TO_MEMBER ? atMember : atClient;
    }
}
