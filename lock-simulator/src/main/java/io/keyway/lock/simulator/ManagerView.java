// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.home.HomeView;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.queue.LockManagerView;
import java.util.List;

/** What oracles see of the machine that decides on a name, whatever its algorithm is. */
final class ManagerView {
    private ManagerView() {}

    /** True if that machine decides on a name. */
    static boolean isOne(Machine machine) {
        return HomeView.isManager(machine) || LockManagerView.isOne(machine);
    }

    /** How many grants are in force. */
    static int grants(Machine machine) {
        return HomeView.isManager(machine) ? HomeView.grants(machine) : LockManagerView.grants(machine);
    }

    static long token(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.token(machine, index) : LockManagerView.token(machine, index);
    }

    static long hi(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.token(machine, index) : LockManagerView.hi(machine, index);
    }

    static long ttl(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.ttl(machine, index) : LockManagerView.ttl(machine, index);
    }

    static long atLeast(Machine machine, int index) {
        return HomeView.isManager(machine) ? 0 : LockManagerView.atLeast(machine, index);
    }

    static LockMode mode(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.mode(machine, index) : LockManagerView.mode(machine, index);
    }

    static int permits(Machine machine, int index) {
        return HomeView.isManager(machine) ? 1 : LockManagerView.permits(machine, index);
    }

    static long request(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.request(machine, index) : LockManagerView.request(machine, index);
    }

    static Peer session(Machine machine, int index) {
        return HomeView.isManager(machine) ? HomeView.session(machine, index) : LockManagerView.session(machine, index);
    }

    /** A grant or a waiter whose session is over, or a place that is kept beyond its time; empty if there is none. */
    static String orphan(Machine machine, MemberView sessions, long now) {
        return HomeView.isManager(machine)
                ? HomeView.orphan(machine, sessions)
                : LockManagerView.orphan(machine, sessions, now);
    }

    /** The sessions whose requests wait, in the order of the queue. */
    static List<Peer> waiting(Machine machine) {
        return HomeView.isManager(machine) ? HomeView.waiting(machine) : LockManagerView.waiting(machine);
    }

    /** True if that request is in the queue. */
    static boolean waits(Machine machine, Peer session, long request) {
        return HomeView.isManager(machine)
                ? HomeView.waits(machine, session, request)
                : LockManagerView.waits(machine, session, request);
    }
}
