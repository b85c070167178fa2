// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Peer;

/**
 * A grant that came to a helper, before it is known how much belief its echo leaves.
 *
 * @param wanted others wait for the lock
 * @param confirming its echo was stale, and a KEEP was sent
 */
record Offer(Peer session, LocalWaiters.Waiter waiter, LeaseMessage.Granted grant, boolean wanted, boolean confirming) {
    Offer(Peer session, LocalWaiters.Waiter waiter, LeaseMessage.Granted grant) {
        this(session, waiter, grant, grant.wanted(), false);
    }

    Offer nowWanted() {
        return new Offer(session, waiter, grant, true, confirming);
    }

    Offer nowConfirming() {
        return new Offer(session, waiter, grant, wanted, true);
    }

    Offer of(LocalWaiters.Waiter other) {
        return new Offer(session, other, grant, wanted, confirming);
    }

    void encode(Canon out) {
        out.put(session).value(grant).put(wanted).put(confirming);
    }
}
