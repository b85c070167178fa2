// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.lamport.LamportManager.Held;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What oracles see of the machines of a member. */
public final class LamportView {
    private LamportView() {}

    /** True if that machine is the one of a lock. */
    public static boolean isManager(Machine machine) {
        return machine instanceof LamportManager;
    }

    /** True if it has granted the lock to a client of its member. */
    public static boolean held(Machine machine) {
        return ((LamportManager) machine).held() != null;
    }

    private static Held grant(Machine machine) {
        return Objects.requireNonNull(((LamportManager) machine).held(), "held");
    }

    public static long token(Machine machine) {
        return grant(machine).token();
    }

    public static long ttl(Machine machine) {
        return grant(machine).ttl();
    }

    public static long request(Machine machine) {
        return grant(machine).request();
    }

    public static Peer session(Machine machine) {
        return grant(machine).peer();
    }

    /** A grant or a waiter whose session is over; empty if there is none. */
    public static String orphan(Machine machine, MemberView sessions) {
        LamportManager manager = (LamportManager) machine;
        if (held(machine) && !sessions.live(session(machine))) {
            return "token " + token(machine) + " of " + session(machine);
        }
        for (Peer peer : manager.waiting()) {
            if (!sessions.live(peer)) {
                return "a request of " + peer;
            }
        }
        return "";
    }

    /** The sessions whose requests wait, in the order of their arrival. */
    public static List<Peer> waiting(Machine machine) {
        return ((LamportManager) machine).waiting();
    }

    /** True if that request waits. */
    public static boolean waits(Machine machine, Peer session, long request) {
        return ((LamportManager) machine).waits(session, request);
    }

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
