// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.SharedGoal;
import org.jspecify.annotations.Nullable;

/**
 * Whose turn it is of those who wait for one name: one look along its queue, while one after the other is granted.
 *
 * <p>A request that changes the mode of a grant comes before all others, and nobody is granted before it. Of the others
 * each is granted beside those that hold, or ends the look, but for whoever is refused by its own view of the permits:
 * it is passed by those who see more. A client that was not heard lately is passed over and keeps its place.
 *
 * <p>Where the name is a level of trees each is granted that stands beside all that hold and all that wait before it:
 * it passes only those whom it does not hinder. So whoever waits has a grant in its way, or if not, a request before it
 * that it could not stand beside.
 */
final class TurnOrder {
    private final WaitQueue queue;
    private final Grants grants;
    private final Admission admission;
    private final @Nullable Breaks breaks;
    /** No more permits than that are seen by those who were refused by their own view. */
    private int refused;

    TurnOrder(WaitQueue queue, Grants grants, Admission admission, @Nullable Breaks breaks) {
        this.queue = queue;
        this.grants = grants;
        this.admission = admission;
        this.breaks = breaks;
    }

    /** Who can be granted beside those that hold; null if it is nobody's turn. */
    WaitQueue.@Nullable Wait next(Turn turn) {
        if (!grants.isEmpty() && grants.get(0).mode.isAlone()) {
            return null;
        }
        if (isLevel()) {
            return nextOfLevel(turn);
        }
        WaitQueue.Wait conversion = queue.conversion();
        if (conversion != null) {
            return mayConvert(conversion, turn) ? conversion : null;
        }
        WaitQueue.Wait next = queue.firstHeard(refused, turn);
        while (next != null && !admission.admits(grants.claims(), next, next.request.capacity())) {
            refused = next.capacity();
            next = queue.firstHeard(refused, turn);
        }
        return next;
    }

    private boolean isLevel() {
        LockMode any = grants.isEmpty() ? queue.firstMode() : grants.get(0).mode;
        return any != null && any.isTree();
    }

    private WaitQueue.@Nullable Wait nextOfLevel(Turn turn) {
        Admission.Claims before = new Admission.Claims();
        for (WaitQueue.Wait wait : queue.all()) {
            boolean heard = wait.isHeard(turn);
            if (heard && admission.admits(before, wait, 1) && mayStandBesideOthers(wait, turn)) {
                return wait;
            }
            if (!heard) {
                wait.passOver(turn);
            }
            // One that raises a grant is passed over by nobody, as elsewhere.
            if (heard || wait.converts()) {
                before.count(wait, 1);
                if (wait.mode().isAlone()) {
                    return null;
                }
            }
        }
        return null;
    }

    private boolean mayStandBesideOthers(WaitQueue.Wait wait, Turn turn) {
        if (!wait.converts()) {
            return admission.admits(grants.claims(), wait, 1);
        }
        HeldGrant own = grants.current(wait.peer, wait.request.converts());
        if (own == null) {
            return false;
        }
        if (breaks != null && breaks.has(own)) {
            turn.goal(SharedGoal.UPGRADE_DURING_A_BREAK);
            return false;
        }
        Admission.Claims mine = new Admission.Claims();
        mine.count(own, 1);
        return admission.admits(grants.claims().without(mine), wait, 1);
    }

    /** Whether somebody was refused by its own view before. */
    boolean passes() {
        return refused > 0;
    }

    /** It is passed over by nobody, heard or not: it ends with its read grant at the latest. */
    private boolean mayConvert(WaitQueue.Wait wait, Turn turn) {
        HeldGrant own = grants.current(wait.peer, wait.request.converts());
        if (own != null && breaks != null && breaks.has(own)) {
            turn.goal(SharedGoal.UPGRADE_DURING_A_BREAK);
            return false;
        }
        if (own == null || grants.size() > 1) {
            return false;
        }
        if (wait.isHeard(turn)) {
            return true;
        }
        turn.goal(SharedGoal.UPGRADE_OF_THE_SILENT);
        wait.passOver(turn);
        return false;
    }
}
