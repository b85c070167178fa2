// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Tokens;
import java.util.ArrayList;
import java.util.List;

/**
 * What becomes of a name's grants of before a start of its member: they are imported after a clean end, and claimed by
 * those who believe in them.
 *
 * <p><b>States.</b> Of the name: <i>open</i>, or <i>closed</i> for the length of a quarantine, since two have claimed
 * what only one can have had: clocks are broken, and none of them is trusted. Of a grant: <i>imported</i>, until it is
 * claimed or nobody can believe in it any more, or <i>held</i>.
 *
 * <p><b>Messages.</b> REASSERT claims a grant. REASSERTED confirms that it stands; REVOKE (DENIED) refuses it.
 *
 * <p><b>Invariants.</b> An imported grant is claimed by its token at any time. Another one is taken only in the
 * quarantine, with a token of an earlier epoch, and beside grants that it could have been granted with. What a claim
 * names is used up, whether it is taken or refused, but for tokens of an epoch that is still to come.
 */
final class Reassertions {
    private final Key key;
    private final Grants grants;
    private final Admission admission;
    private final int slot;

    /** After a conflict nothing is granted before this time; {@link Turn#NEVER} if there was none. */
    private long closedUntil = Turn.NEVER;

    /** {@code slot}: of the manager's timers. */
    Reassertions(Key key, Grants grants, Admission admission, int slot) {
        this.key = key;
        this.grants = grants;
        this.admission = admission;
        this.slot = slot;
    }

    boolean isClosed() {
        return closedUntil != Turn.NEVER;
    }

    /** That grant, which stands, is of that client, and it knows so from now on. */
    void confirm(Peer from, LockMessage.Reassert claim, HeldGrant grant, boolean othersWait, Turn turn) {
        if (grant.imported()) {
            grants.moveTo(grant, from);
            turn.member().grant(from, key, grant.token, grant.ttl);
            arm(turn);
        }
        turn.goal(LockGoal.REASSERTED);
        // What is left of its range is of a former life: it is below a floor that this one may have been given.
        boolean wanted = othersWait || Tokens.epoch(claim.hi()) < turn.member().epoch();
        grants.setWanted(grant, wanted);
        if (wanted) {
            grants.settle(grant);
        }
        turn.send(from, new LockMessage.Reasserted(key, claim.token(), grant.wanted));
    }

    /** Takes the client's word for a grant of which nothing is known, or refuses it; false if it is in conflict. */
    boolean take(Peer from, LockMessage.Reassert claim, boolean othersWait, Turn turn) {
        if (!turn.member().quarantined()
                || isClosed()
                || !admission.serves(claim.mode())
                || claim.ttl() > turn.member().maxTtl()
                || Tokens.epoch(claim.hi()) >= turn.member().epoch()) {
            turn.goal(LockGoal.REASSERTION_REFUSED);
            deny(from, claim, turn);
            return true;
        }
        HeldGrant grant = HeldGrant.claimed(from, claim, turn.now());
        // How many permits there are is not said again: they were few enough when they were granted.
        if (!admission.admits(grants.claims(), grant, Integer.MAX_VALUE)) {
            return false;
        }
        grants.add(grant);
        turn.member().grant(from, key, grant.token, grant.ttl);
        confirm(from, claim, grant, othersWait, turn);
        return true;
    }

    /** Nothing is granted until no belief can be left, in that claim or in what stands; the grants are to end. */
    void close(Peer from, LockMessage.Reassert claim, Turn turn) {
        turn.goal(LockGoal.REASSERTIONS_IN_CONFLICT);
        closedUntil = turn.now() + turn.member().quarantine();
        arm(turn);
        deny(from, claim, turn);
        StringBuilder who = new StringBuilder(claim.owner().client());
        for (HeldGrant grant : grants) {
            who.append(" and ").append(grant.owner.client());
        }
        turn.tell(new LockNotice.Alarm(
                key,
                "held twice after a restart, by " + who
                        + "; closed until no lease can be left. Check the clocks of these machines"));
    }

    private void deny(Peer from, LockMessage.Reassert claim, Turn turn) {
        if (Tokens.epoch(claim.hi()) <= turn.member().epoch()) {
            grants.raise(claim.hi());
        }
        turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
    }

    /** Opens the name if its time has come; returns the imported grants in which nobody can believe any more. */
    List<HeldGrant> over(long now) {
        closedUntil = Turn.due(closedUntil, now) ? Turn.NEVER : closedUntil;
        List<HeldGrant> over = new ArrayList<>();
        for (HeldGrant grant : grants) {
            if (grant.imported() && now - grant.until >= 0) {
                over.add(grant);
            }
        }
        return over;
    }

    /** The manager is called when something is {@link #over}. */
    void arm(Turn turn) {
        long first = closedUntil;
        for (HeldGrant grant : grants) {
            first = grant.imported() ? Turn.earlier(first, grant.until) : first;
        }
        turn.timer(slot, first);
    }

    Reassertions copy(Grants of) {
        Reassertions copy = new Reassertions(key, of, admission, slot);
        copy.closedUntil = closedUntil;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(closedUntil);
    }
}
