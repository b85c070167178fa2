// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.lamport.LamportManager.Held;
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

    /** True if that request waits. */
    public static boolean waits(Machine machine, Peer session, long request) {
        return ((LamportManager) machine).waits(session, request);
    }

    /** The machines of a member, its process done in that way. */
    public static MachineFactory machines(UnsafeLamport variant) {
        MachineFactory regular = new LamportAlgorithm().memberMachines(all -> true);
        return key -> key.equals(LamportKeys.PROCESS) ? new UnsafeProcess(variant) : regular.create(key);
    }

    /** Its rare situations. */
    public static List<CoverageGoal> goals() {
        return List.of(LamportGoal.values());
    }

    /** True if nobody asks that member for anything, as far as it knows. */
    public static boolean idle(Cell member) {
        return !(member.machine(LamportKeys.PROCESS) instanceof LamportProcess process) || process.isIdle();
    }
}
