// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.TreeModes;

/**
 * The way of probes for circles of waiters through one name at one client. A probe follows the edges that are there
 * when it passes, from who waits to who is in its way, and changes neither: nothing is kept of it here.
 */
final class ProbePath {
    private ProbePath() {}

    /**
     * That waiter wants to reach whoever is in its way. Its manager knows, if it knows the request; if not, somebody
     * here is: the user of a grant, or a waiter who asks first.
     */
    static void seek(Key key, LockCall.Seek seek, GrantList grants, LocalWaiters waiters, Turn turn) {
        Waiter waiter = waiters.find(seek.request());
        if (waiter == null || (waiter.converts() && !waiter.isSent())) {
            return;
        }
        if (waiter.isSent()) {
            if (turn.client().exists()) {
                turn.send(turn.client().session(), new LockMessage.Seek(key, seek.request(), seek.probe()));
            }
            return;
        }
        boolean used = false;
        for (ClientGrant held : grants) {
            GrantHandle.Use use = held.handle.use();
            if (use != null && isInTheWay(held.handle, waiter)) {
                turn.tell(new LockNotice.Sought(key, use.token(), 0, seek.probe()));
                used = true;
            }
        }
        if (!used) {
            waiters.queue().tellAhead(waiter, seek.probe(), key, turn);
        }
    }

    private static boolean isInTheWay(GrantHandle handle, Waiter waiter) {
        return !handle.covers(waiter.call.converts()) && !TreeModes.together(handle.mode(), waiter.call.mode());
    }

    /** Somebody elsewhere waits for what is used here, or behind a waiter of this client. */
    static void sought(Key key, LockMessage.Sought sought, GrantList grants, LocalWaiters waiters, Turn turn) {
        ClientGrant held = sought.grant() == 0 ? null : grants.covering(sought.grant());
        GrantHandle.Use use = held == null ? null : held.handle.use();
        if (use != null) {
            turn.tell(new LockNotice.Sought(key, use.token(), 0, sought.probe()));
        } else if (sought.grant() == 0 && waiters.find(sought.ahead()) != null) {
            turn.tell(new LockNotice.Sought(key, 0, sought.ahead(), sought.probe()));
        }
    }
}
