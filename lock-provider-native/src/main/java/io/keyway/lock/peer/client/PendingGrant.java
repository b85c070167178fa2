// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockMessage;

/**
 * A grant that came to a helper, before it is known how much belief its echo leaves.
 *
 * @param wanted others wait for the lock
 * @param confirming its echo was stale, and a KEEP was sent
 */
record PendingGrant(
        Peer session, LocalWaiters.Waiter waiter, LockMessage.Granted grant, boolean wanted, boolean confirming) {
    PendingGrant(Peer session, LocalWaiters.Waiter waiter, LockMessage.Granted grant) {
        this(session, waiter, grant, grant.wanted(), false);
    }

    PendingGrant nowWanted() {
        return new PendingGrant(session, waiter, grant, true, confirming);
    }

    PendingGrant nowConfirming() {
        return new PendingGrant(session, waiter, grant, wanted, true);
    }

    PendingGrant of(LocalWaiters.Waiter other) {
        return new PendingGrant(session, other, grant, wanted, confirming);
    }

    void encode(StateEncoder out) {
        out.put(session).value(grant).put(wanted).put(confirming);
    }
}
