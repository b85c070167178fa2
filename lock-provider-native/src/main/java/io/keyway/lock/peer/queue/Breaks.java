// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;

/** Breaks of grants by an administrator: by token, and done when the holder knows, or its lease is over. */
final class Breaks {
    private Breaks() {}

    /** An administrator wants the grant ended that uses that token. */
    static void begin(Peer from, LockMessage.Break request, LockManager manager, Turn turn) {
        for (HeldGrant grant : manager.grants) {
            if (grant.covers(request.token())) {
                turn.tell(new LockNotice.Alarm(
                        manager.key(), "break of token " + request.token() + ": " + request.reason()));
                if (grant.kept) {
                    turn.send(from, new LockMessage.Answer(manager.key(), request.request(), true));
                    KeptNames.broken(grant, manager, turn);
                    return;
                }
                grant.breakers.add(new HeldGrant.Breaker(from, request.request(), request.token()));
                turn.send(
                        grant.peer,
                        new LockMessage.Revoke(
                                manager.key(), request.token(), LeaseLoss.Cause.BROKEN, request.reason()));
                return;
            }
        }
        turn.send(from, new LockMessage.Answer(manager.key(), request.request(), false));
    }

    /** The holder says that the grant is over, or that it has moved past the token. */
    static void revoked(Peer from, LockMessage.Revoked revoked, LockManager manager, Turn turn) {
        HeldGrant ended = manager.current(from, revoked.token());
        if (ended != null) {
            turn.goal(LockGoal.BROKEN);
            turn.member().ungrant(from, manager.key(), ended.token, ended.ttl);
            manager.end(ended, revoked.used(), true, turn);
            manager.serve(turn);
            return;
        }
        turn.goal(LockGoal.BREAK_MOVED_PAST);
        for (HeldGrant grant : manager.grants) {
            if (grant.peer.equals(from)) {
                grant.breakers.removeIf(breaker -> {
                    boolean its = breaker.asked() == revoked.asked();
                    if (its) {
                        turn.send(breaker.peer(), new LockMessage.Answer(manager.key(), breaker.request(), false));
                    }
                    return its;
                });
            }
        }
    }
}
