// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * One connection of a client, or of another member, to a member. Each end closes for itself; what was sent before may
 * still arrive.
 */
final class SimLink {
    static final int TO_MEMBER = 0;
    static final int TO_CLIENT = 1;

    /** A frame that a cut holds up; like TCP, the link sends it again when the cut is over. */
    record Stuck(Object frame, boolean close) {}

    /** The end that dialled. */
    final SimCell client;
    /** That end's life. */
    final int clientIncarnation;
    /** Who was dialled. */
    final SimNode memberNode;
    /** The cell that answers there; null if nobody was there. */
    final @Nullable SimCell member;
    /** The number that the client chose. */
    final long atClient;
    /** The number that the member knows, unique in the world. */
    final long atMember;
    /** How many links this cell had before: names the link's noise, whatever else is taken out of a plan. */
    final int ordinal;
    /** What is wrong between the two machines, in both directions. */
    final SimNet.Condition[] conditions;

    boolean clientOpen = true;
    boolean memberOpen;
    final long[] sent = new long[2];
    final long[] lastArrival = new long[2];
    final ArrayDeque<Stuck> stuckToMember = new ArrayDeque<>(0);
    final ArrayDeque<Stuck> stuckToClient = new ArrayDeque<>(0);

    SimLink(
            SimCell client,
            SimNode memberNode,
            long atClient,
            long atMember,
            int ordinal,
            SimNet.Condition[] conditions) {
        this.client = client;
        this.clientIncarnation = client.node().incarnation();
        this.memberNode = memberNode;
        this.member = memberNode.listening();
        this.atClient = atClient;
        this.atMember = atMember;
        this.ordinal = ordinal;
        this.conditions = conditions;
    }

    /** The cell where frames of that direction arrive; null if it never was there. */
    @Nullable
    SimCell to(int direction) {
        return direction == TO_MEMBER ? member : client;
    }

    /** The machine where frames of that direction arrive. */
    SimNode node(int direction) {
        return direction == TO_MEMBER ? memberNode : client.node();
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

    void close(int direction) {
        if (direction == TO_MEMBER) {
            memberOpen = false;
        } else {
            clientOpen = false;
        }
    }
}
