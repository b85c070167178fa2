// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;

/** What oracles see of a manager's grants and queue. */
public final class LockManagerView {
    private LockManagerView() {}

    private static LockManager of(Machine machine) {
        return (LockManager) machine;
    }

    /** True if that machine decides on a name. */
    public static boolean isOne(Machine machine) {
        return machine instanceof LockManager;
    }

    public static int grants(Machine machine) {
        return of(machine).grants.size();
    }

    public static long token(Machine machine, int index) {
        return of(machine).grants.get(index).token;
    }

    public static long hi(Machine machine, int index) {
        return of(machine).grants.get(index).hi;
    }

    public static long ttl(Machine machine, int index) {
        return of(machine).grants.get(index).ttl;
    }

    public static long request(Machine machine, int index) {
        return of(machine).grants.get(index).request;
    }

    public static Peer session(Machine machine, int index) {
        return of(machine).grants.get(index).peer;
    }

    /** A grant or a waiter whose session is over; empty if there is none. */
    public static String orphan(Machine machine, MemberView sessions) {
        for (HeldGrant grant : of(machine).grants) {
            if (!sessions.live(grant.peer)) {
                return "token " + grant.token + " of " + grant.peer;
            }
        }
        for (WaitQueue.Wait wait : of(machine).waiters()) {
            if (!sessions.live(wait.peer)) {
                return "request " + wait.request.request() + " of " + wait.peer;
            }
        }
        return "";
    }

    /** True if that request is in the queue. */
    public static boolean waits(Machine machine, Peer session, long request) {
        for (WaitQueue.Wait wait : of(machine).waiters()) {
            if (wait.peer.equals(session) && wait.request.request() == request) {
                return true;
            }
        }
        return false;
    }
}
