// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockCall;
import org.jspecify.annotations.Nullable;

/** A user of one client who waits for a lock, and the grant that is pending for it. */
final class Waiter {
    private static final Peer NONE = new Peer(0);

    final LockCall.Acquire call;
    final long since;
    /** The number of its request in the present session; 0 if that was not sent. */
    long sent;
    /** It was told that it waits, or does not want to be. */
    boolean told;
    /** How many grants in a row were stale when they came. */
    int stale;

    /** A grant came for it, and its echo has not shown how much belief it leaves. */
    boolean pending;
    /** The session of the pending grant. This and what follows mean nothing unless one is. */
    Peer session = NONE;

    long token;
    long hi;
    /** How many permits were out. */
    int out;
    /** Others wait for the lock. */
    boolean wanted;
    /** The echo of the pending grant was stale, and a KEEP was sent. */
    boolean confirming;

    /** Its neighbours in its {@link WaiterList}. */
    @Nullable
    Waiter before;

    @Nullable
    Waiter after;

    Waiter(LockCall.Acquire call, long since) {
        this.call = call;
        this.since = since;
        this.told = !call.wantPlace();
    }

    boolean isSent() {
        return sent != 0;
    }

    /** The session is over, and its request with it. */
    void unsent() {
        sent = 0;
        told = !call.wantPlace();
    }

    boolean isExclusive() {
        return call.mode().isAlone();
    }

    /** Whether it wants another mode for a grant that it has. */
    boolean converts() {
        return call.converts() != 0;
    }

    Waiter copy() {
        Waiter copy = new Waiter(call, since);
        copy.sent = sent;
        copy.told = told;
        copy.stale = stale;
        copy.pending = pending;
        copy.session = session;
        copy.token = token;
        copy.hi = hi;
        copy.out = out;
        copy.wanted = wanted;
        copy.confirming = confirming;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(call.request())
                .value(call.mode())
                .put(call.permits())
                .put(call.capacity())
                .put(call.perResource())
                .put(call.converts())
                .put(call.quiet());
        out.put(call.ttl()).put(call.atLeast()).value(call.owner()).put(call.wantPlace());
        out.time(since).put(sent).put(told).put(stale).put(pending);
        if (pending) {
            out.put(session).put(token).put(hi).put(this.out).put(wanted).put(confirming);
        }
    }
}
