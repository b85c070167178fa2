// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Tokens;
import java.util.List;

/** What a name's manager does after a start of its member: takes over the grants of before a clean end, lets holders re-assert theirs, and keeps the name closed if two do. */
final class Reassertion {
    /** After conflicting re-assertions nothing is granted before this time; {@link Turn#NEVER} if there were none. */
    private long closedUntil = Turn.NEVER;

    /** True while nothing may be granted because of a conflict. */
    boolean closed() {
        return closedUntil != Turn.NEVER;
    }

    /** Ends what is over: the time in which the name is closed, and imported grants. */
    void due(LockManager manager, Turn turn) {
        if (closed() && turn.now() - closedUntil >= 0) {
            closedUntil = Turn.NEVER;
        }
        for (HeldGrant grant : List.copyOf(manager.grants)) {
            if (grant.imported() && turn.now() - grant.until >= 0) {
                manager.finish(grant, grant.hi, turn);
            }
        }
        arm(manager, turn);
    }

    /** A grant of before a clean end: it may be believed in for as long as it had left. */
    void imported(LockCall.Import was, LockManager manager, Turn turn) {
        HeldGrant grant = new HeldGrant(
                HeldGrant.NOBODY,
                0,
                was.token(),
                was.hi(),
                was.mode(),
                was.permits(),
                was.ttl(),
                was.owner(),
                turn.now(),
                was.keep());
        grant.until = turn.now() + was.left();
        manager.grants.add(grant);
        manager.promise(grant, turn);
        if (was.left() > 0 || !KeptNames.keep(grant, grant.hi, manager, turn)) {
            arm(manager, turn);
        }
    }

    /** A client says that it still believes in its grant. */
    void reassert(Peer from, LockMessage.Reassert claim, LockManager manager, Turn turn) {
        HeldGrant known = manager.current(from, claim.token());
        if (known != null && known.imported()) {
            known.peer = from;
            turn.member().grant(from, manager.key(), known.token, known.ttl);
            arm(manager, turn);
        }
        if (known != null) {
            reasserted(from, claim, manager, turn);
        } else if (!turn.member().quarantined()
                || closedUntil != Turn.NEVER
                || claim.mode() != LockMode.EXCLUSIVE
                || claim.ttl() > turn.member().maxTtl()
                || Tokens.epoch(claim.hi()) >= turn.member().epoch()) {
            turn.goal(LockGoal.REASSERTION_REFUSED);
            manager.raise(ownEpoch(claim.hi(), turn));
            turn.send(from, LockMessage.Revoke.of(manager.key(), claim.token(), LeaseLoss.Cause.DENIED));
        } else if (!manager.grants.isEmpty()) {
            conflict(from, claim, manager, turn);
        } else {
            HeldGrant grant = new HeldGrant(
                    from,
                    claim.request(),
                    claim.token(),
                    claim.hi(),
                    claim.mode(),
                    claim.permits(),
                    claim.ttl(),
                    claim.owner(),
                    turn.now(),
                    0);
            manager.grants.add(grant);
            turn.member().grant(from, manager.key(), grant.token, grant.ttl);
            reasserted(from, claim, manager, turn);
        }
    }

    private static void reasserted(Peer from, LockMessage.Reassert claim, LockManager manager, Turn turn) {
        turn.goal(LockGoal.REASSERTED);
        HeldGrant grant = manager.current(from, claim.token());
        if (grant != null) {
            // What is left of its range is of a former life: it is below a floor that this one may have been given.
            grant.wanted = manager.othersWait()
                    || Tokens.epoch(claim.hi()) < turn.member().epoch();
            turn.send(from, new LockMessage.Reasserted(manager.key(), claim.token(), grant.wanted));
        }
    }

    /** Two clients believe in the same lock: clocks are broken. Neither is trusted, and the name stays closed until no belief can be left. */
    private void conflict(Peer from, LockMessage.Reassert claim, LockManager manager, Turn turn) {
        turn.goal(LockGoal.REASSERTIONS_IN_CONFLICT);
        closedUntil = turn.now() + turn.member().quarantine();
        arm(manager, turn);
        StringBuilder who = new StringBuilder(claim.owner().client());
        for (HeldGrant grant : List.copyOf(manager.grants)) {
            who.append(" and ").append(grant.owner.client());
            turn.send(grant.peer, LockMessage.Revoke.of(manager.key(), grant.token, LeaseLoss.Cause.DENIED));
            turn.member().ungrant(grant.peer, manager.key(), grant.token, grant.ttl);
            manager.end(grant, grant.hi, true, turn);
        }
        manager.raise(ownEpoch(claim.hi(), turn));
        turn.send(from, LockMessage.Revoke.of(manager.key(), claim.token(), LeaseLoss.Cause.DENIED));
        turn.tell(new LockNotice.Alarm(
                manager.key(),
                "held twice after a restart, by " + who
                        + "; closed until no lease can be left. Check the clocks of these machines"));
    }

    /** A token of a foreign epoch must not lift ours beyond our own. */
    private static long ownEpoch(long token, Turn turn) {
        return Tokens.epoch(token) <= turn.member().epoch() ? token : 0;
    }

    private void arm(LockManager manager, Turn turn) {
        long first = closedUntil;
        for (HeldGrant grant : manager.grants) {
            if (grant.imported()) {
                first = first == Turn.NEVER || grant.until - first < 0 ? grant.until : first;
            }
        }
        manager.armClosed(first, turn);
    }

    Reassertion copy() {
        Reassertion copy = new Reassertion();
        copy.closedUntil = closedUntil;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(closedUntil);
    }
}
