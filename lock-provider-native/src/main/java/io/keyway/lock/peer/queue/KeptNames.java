// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import java.util.List;

/**
 * Places of grants that have ended and were to be held at least for longer: they keep everybody out until that time has
 * passed, by the member's clock, and nobody holds them. No message finds such a place but a break, and the word of the
 * client to which the grant came too late that nobody used it.
 */
final class KeptNames {
    private KeptNames() {}

    /**
     * The grant is over, and nobody broke it: true if its place stays.
     *
     * @param used as in {@link LockMessage.Release}
     */
    static boolean keep(HeldGrant grant, long used, LockManager manager, Turn turn) {
        boolean reachedItsUser = used >= grant.token;
        if (!reachedItsUser || !grant.keepsAt(turn.now()) || !grant.breakers.isEmpty()) {
            return false;
        }
        turn.goal(LockGoal.PLACE_KEPT);
        manager.raise(grant.hi);
        grant.kept = true;
        grant.peer = HeldGrant.NOBODY;
        grant.recallLater = false;
        manager.refuseNoWaits(turn);
        arm(manager, turn);
        return true;
    }

    static boolean anyIn(List<HeldGrant> grants) {
        for (HeldGrant grant : grants) {
            if (grant.kept) {
                return true;
            }
        }
        return false;
    }

    /** Ends the places whose time has passed. */
    static void due(LockManager manager, Turn turn) {
        for (HeldGrant grant : List.copyOf(manager.grants)) {
            if (grant.kept && !grant.keepsAt(turn.now())) {
                if (manager.othersWait()) {
                    turn.goal(LockGoal.GRANT_AFTER_KEPT_PLACE);
                }
                end(grant, manager, turn);
            }
        }
        arm(manager, turn);
    }

    /** Nobody has to stop. */
    static void broken(HeldGrant place, LockManager manager, Turn turn) {
        turn.goal(LockGoal.KEPT_PLACE_BROKEN);
        end(place, manager, turn);
        arm(manager, turn);
    }

    /** The client that was granted that token says that it reached nobody. */
    static void unused(long token, LockManager manager, Turn turn) {
        for (HeldGrant grant : List.copyOf(manager.grants)) {
            if (grant.kept && grant.token == token) {
                end(grant, manager, turn);
                arm(manager, turn);
            }
        }
    }

    private static void end(HeldGrant place, LockManager manager, Turn turn) {
        manager.end(place, place.hi, false, turn);
        manager.serve(turn);
    }

    private static void arm(LockManager manager, Turn turn) {
        long first = Turn.NEVER;
        for (HeldGrant grant : manager.grants) {
            if (grant.kept) {
                long at = grant.keptUntil();
                first = first == Turn.NEVER || at - first < 0 ? at : first;
            }
        }
        manager.armKept(first, turn);
    }
}
