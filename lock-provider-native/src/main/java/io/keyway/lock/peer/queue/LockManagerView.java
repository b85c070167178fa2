// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

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

    /** How many are in force. */
    public static int grants(Machine machine) {
        List<HeldGrant> all = of(machine).grants;
        int inForce = 0;
        for (int i = 0; i < all.size(); i++) {
            inForce += isNobodys(all.get(i)) ? 0 : 1;
        }
        return inForce;
    }

    /** Kept beyond its end, or taken over and not re-asserted. */
    private static boolean isNobodys(HeldGrant grant) {
        return grant.kept || grant.imported();
    }

    /** How many permits are out of which nobody has said since the member's start that it has them. */
    public static int unclaimed(Machine machine) {
        int permits = 0;
        for (HeldGrant grant : of(machine).grants) {
            permits += isNobodys(grant) ? grant.permits : 0;
        }
        return permits;
    }

    /** What a member that ends in good order hands over; empty if nobody can know what there was. */
    public static Optional<List<LockCall.Import>> exports(Machine machine, long now) {
        if (of(machine).closed()) {
            return Optional.empty();
        }
        List<LockCall.Import> exports = new ArrayList<>();
        for (HeldGrant grant : of(machine).grants) {
            exports.add(grant.export(now));
        }
        return Optional.of(exports);
    }

    /** That one of those in force. */
    private static HeldGrant grant(Machine machine, int index) {
        List<HeldGrant> all = of(machine).grants;
        int at = 0;
        for (int left = index; isNobodys(all.get(at)) || left > 0; at++) {
            left -= isNobodys(all.get(at)) ? 0 : 1;
        }
        return all.get(at);
    }

    public static long token(Machine machine, int index) {
        return grant(machine, index).token;
    }

    public static long hi(Machine machine, int index) {
        return grant(machine, index).hi;
    }

    public static long ttl(Machine machine, int index) {
        return grant(machine, index).ttl;
    }

    public static long atLeast(Machine machine, int index) {
        return grant(machine, index).atLeast;
    }

    public static LockMode mode(Machine machine, int index) {
        return grant(machine, index).mode;
    }

    public static int permits(Machine machine, int index) {
        return grant(machine, index).permits;
    }

    public static long request(Machine machine, int index) {
        return grant(machine, index).request;
    }

    public static Peer session(Machine machine, int index) {
        return grant(machine, index).peer;
    }

    /** A grant or a waiter whose session is over, or a place that is kept beyond its time; empty if there is none. */
    public static String orphan(Machine machine, MemberView sessions, long now) {
        for (HeldGrant grant : of(machine).grants) {
            boolean over = grant.kept
                    ? !grant.keepsAt(now)
                    : grant.imported() ? grant.until - now < 0 : !sessions.live(grant.peer);
            if (over) {
                return "token " + grant.token + " of " + grant.peer;
            }
        }
        for (WaitQueue.Wait wait : of(machine).waiters().queued()) {
            if (!sessions.live(wait.peer)) {
                return named(wait);
            }
        }
        for (WaitQueue.Wait wait : of(machine).waiters().yielding()) {
            if (!sessions.live(wait.peer)) {
                return named(wait);
            }
        }
        return "";
    }

    /**
     * Who waits first for a flat lock after an event though it could be granted, and its client was heard; empty if
     * nobody does. Who is silent is passed over when the manager looks at the queue, and not before.
     */
    public static String forgotten(Machine machine, Turn turn) {
        LockManager manager = of(machine);
        if (turn.member().quarantined() || manager.closed()) {
            return "";
        }
        List<HeldGrant> grants = manager.grants;
        WaitQueue queue = manager.waiters().queue();
        if (queue != null && !queue.isEmpty()) {
            WaitQueue.Wait first = queue.all().iterator().next();
            boolean isFlat = first.mode() == LockMode.EXCLUSIVE || first.mode() == LockMode.SHARED;
            boolean fits =
                    grants.isEmpty() || (first.mode() == LockMode.SHARED && grants.get(0).mode == LockMode.SHARED);
            boolean waits = !first.converts() && !first.request.noWait() && !first.isPassedOver();
            return isFlat && fits && waits && first.isHeard(turn) ? named(first) : "";
        }
        for (WaitQueue.Wait soft : manager.waiters().yielding()) {
            boolean waits = soft.request.quiet() == 0 && !soft.isPassedOver();
            if (grants.isEmpty() && waits && soft.isHeard(turn)) {
                return named(soft);
            }
        }
        return "";
    }

    private static String named(WaitQueue.Wait wait) {
        return "request " + wait.request.request() + " of " + wait.peer;
    }

    /** The sessions whose requests wait, in the order of the queue. */
    public static List<Peer> waiting(Machine machine) {
        List<Peer> waiting = new ArrayList<>();
        for (WaitQueue.Wait wait : of(machine).waiters().queued()) {
            waiting.add(wait.peer);
        }
        return waiting;
    }

    /** The requests that wait, in the order of the queue. */
    public static List<Long> queued(Machine machine) {
        List<Long> requests = new ArrayList<>();
        for (WaitQueue.Wait wait : of(machine).waiters().queued()) {
            requests.add(wait.request.request());
        }
        return requests;
    }

    /** True if that request waits. */
    public static boolean waits(Machine machine, Peer session, long request) {
        return of(machine).waiters().find(session, request) != null;
    }
}
