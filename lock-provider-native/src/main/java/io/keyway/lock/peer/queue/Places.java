// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import java.util.List;

/**
 * What those who wait for one name hear of it: their place behind those who hold, or that they are kept out though no
 * grant is in their way, since nothing may be granted. Made for one event.
 */
record Places(Key key, Grants grants, Admission admission, Waiters waiters) {
    /** No more holders are named to one who waits or is refused. */
    static final int SHOWN = 16;

    void tell(WaitQueue.Wait wait, int ahead, boolean mayGrant, Turn turn) {
        long request = wait.request.request();
        wait.keptOut = isKeptOut(wait, mayGrant);
        if (wait.keptOut) {
            turn.send(wait.peer, new LockMessage.Blocked(key, request, false, RefusalCause.OPENING.why()));
        } else {
            List<Participant> holders = grants.participants(SHOWN, turn.now());
            turn.send(wait.peer, new LockMessage.Place(key, request, ahead, holders));
        }
    }

    /** A request that was kept out, and is not any more or has a grant in its way by now, learns its place. */
    void tellThoseKeptOut(boolean mayGrant, Turn turn) {
        int ahead = 0;
        for (WaitQueue.Wait wait : waiters.queued()) {
            if (wait.keptOut && !isKeptOut(wait, mayGrant)) {
                tell(wait, ahead, mayGrant, turn);
            }
            ahead++;
        }
        for (WaitQueue.Wait wait : waiters.yielding()) {
            if (wait.keptOut && !isKeptOut(wait, mayGrant)) {
                tell(wait, 0, mayGrant, turn);
            }
        }
    }

    /** Why that one, which does not wait, gets nothing when its patience is over. */
    RefusalCause refusal(WaitQueue.Wait wait, boolean mayGrant) {
        return grants.isEmpty() || isKeptOut(wait, mayGrant) ? RefusalCause.OPENING : RefusalCause.HELD;
    }

    /** Whether no grant is in its way. */
    private boolean isKeptOut(WaitQueue.Wait wait, boolean mayGrant) {
        if (mayGrant) {
            return false;
        }
        return wait.converts() ? grants.size() == 1 : admission.admits(grants.claims(), wait, wait.request.capacity());
    }
}
