// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import java.util.ArrayList;
import java.util.List;

/** What oracles see of the process of a member. */
public final class LamportView {
    private LamportView() {}

    /** The address of the process of a member. */
    public static Key process() {
        return LamportKeys.PROCESS;
    }

    /** The stamps of the requests of a process's own clients that stand. */
    public static List<Long> requests(Machine process) {
        List<Ticket> tickets = ((LamportProcess) process).tickets();
        List<Long> stamps = new ArrayList<>(tickets.size());
        for (Ticket ticket : tickets) {
            stamps.add(ticket.stamp());
        }
        return stamps;
    }

    /** The logical clock of the process that sends a message to another one; 0 if it is no such message. */
    public static long stamp(Message message) {
        return message instanceof LamportMessage stamped ? stamped.stamp() : 0;
    }

    /** The stamp of a request that one process sends to another; 0 if it is another message. */
    public static long requested(Message message) {
        return message instanceof LamportMessage.Request request ? request.stamp() : 0;
    }

    /** Its rare situations. */
    public static List<CoverageGoal> goals() {
        return List.of(LamportGoal.values());
    }

    /** True if nobody asks that process for anything, as far as it knows. */
    public static boolean idle(Machine process) {
        return ((LamportProcess) process).isIdle();
    }
}
