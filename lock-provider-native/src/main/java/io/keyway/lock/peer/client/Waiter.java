// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockCall;

/** A user of one client who waits for a lock, and the grant that is pending for it. */
final class Waiter {
    final LockCall.Acquire call;
    final long since;
    /** Its request is at the manager of the present session. */
    boolean sent;
    /** It was told that it waits. */
    boolean told;
    /** How many grants in a row were stale when they came. */
    int stale;

    /** The session of the pending grant. This and what follows mean nothing unless one is. */
    Peer session = new Peer(0);

    long token;
    long hi;
    /** Others wait for the lock. */
    boolean wanted;
    /** The echo of the pending grant was stale, and a KEEP was sent. */
    boolean confirming;

    Waiter(LockCall.Acquire call, long since) {
        this.call = call;
        this.since = since;
    }

    Waiter copy() {
        Waiter copy = new Waiter(call, since);
        copy.sent = sent;
        copy.told = told;
        copy.stale = stale;
        copy.session = session;
        copy.token = token;
        copy.hi = hi;
        copy.wanted = wanted;
        copy.confirming = confirming;
        return copy;
    }

    void encode(boolean pending, StateEncoder out) {
        out.put(call.request()).value(call.mode()).put(call.permits()).put(call.limit());
        out.put(call.ttl()).put(call.atLeast()).value(call.owner()).put(call.wantPlace());
        out.time(since).put(sent).put(told).put(stale).put(pending);
        if (pending) {
            out.put(session).put(token).put(hi).put(wanted).put(confirming);
        }
    }
}
