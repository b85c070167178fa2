// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.home.HomeManager.Held;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import java.util.List;

/** What oracles see of the locks of clients that are attached to a member. */
public final class HomeView {
    private HomeView() {}

    /** True if that machine is the one of a lock. */
    public static boolean isManager(Machine machine) {
        return machine instanceof HomeManager;
    }

    /** How many grants it has made that stand. */
    public static int grants(Machine machine) {
        return ((HomeManager) machine).held().size();
    }

    private static Held grant(Machine machine, int index) {
        int i = 0;
        for (Held grant : ((HomeManager) machine).held()) {
            if (i++ == index) {
                return grant;
            }
        }
        throw new IndexOutOfBoundsException(index);
    }

    public static long token(Machine machine, int index) {
        return grant(machine, index).token();
    }

    public static LockMode mode(Machine machine, int index) {
        return grant(machine, index).mode();
    }

    public static long ttl(Machine machine, int index) {
        return grant(machine, index).ttl();
    }

    public static long request(Machine machine, int index) {
        return grant(machine, index).request();
    }

    public static Peer session(Machine machine, int index) {
        return grant(machine, index).peer();
    }

    /** A grant or a waiter whose session is over; empty if there is none. */
    public static String orphan(Machine machine, MemberView sessions) {
        HomeManager manager = (HomeManager) machine;
        for (Held grant : manager.held()) {
            if (!sessions.live(grant.peer())) {
                return "token " + grant.token() + " of " + grant.peer();
            }
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
