// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.peer.home.HomeManager.Held;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import java.util.List;
import java.util.Objects;

/** What oracles see of the locks of clients that are attached to a member. */
public final class HomeView {
    private HomeView() {}

    /** True if that machine is the one of a lock. */
    public static boolean isManager(Machine machine) {
        return machine instanceof HomeManager;
    }

    /** True if it has granted the lock to a client of its member. */
    public static boolean held(Machine machine) {
        return ((HomeManager) machine).held() != null;
    }

    private static Held grant(Machine machine) {
        return Objects.requireNonNull(((HomeManager) machine).held(), "held");
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
        HomeManager manager = (HomeManager) machine;
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
        return ((HomeManager) machine).waiting();
    }

    /** True if that request waits. */
    public static boolean waits(Machine machine, Peer session, long request) {
        return ((HomeManager) machine).waits(session, request);
    }

    /** Their rare situations. */
    public static List<CoverageGoal> goals() {
        return List.of(HomeGoal.values());
    }
}
