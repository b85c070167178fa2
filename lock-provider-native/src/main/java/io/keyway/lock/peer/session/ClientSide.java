// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import org.jspecify.annotations.Nullable;

/** What the machines of a client ask and tell its session. What comes over links is the business of {@link ClientSession}. */
abstract class ClientSide implements SessionLayer, ClientView {
    AwaitedKeys waits = new AwaitedKeys();

    @Nullable
    OpenSession open;
    /** The goodbye is said; no machine has a session any more. */
    boolean closing;

    private @Nullable SessionTurn turn;

    final void turnBegins(SessionTurn begun) {
        turn = begun;
    }

    final SessionTurn turn() {
        if (turn == null) {
            throw new IllegalStateException("no turn has begun");
        }
        return turn;
    }

    final OpenSession current() {
        if (open == null || closing) {
            throw new IllegalStateException("there is no session; ask exists() first");
        }
        return open;
    }

    @Override
    public Peer session() {
        return open == null || closing ? new Peer(0) : open.peer;
    }

    @Override
    public boolean exists() {
        return open != null && !closing;
    }

    @Override
    public Belief belief(long ttl) {
        return current().beliefs().belief(ttl);
    }

    @Override
    public void hold(Key key, long ttl) {
        current().beliefs().hold(key, ttl);
    }

    @Override
    public void unhold(Key key, long ttl) {
        if (open != null) {
            open.beliefs().unhold(key, ttl);
        }
    }

    @Override
    public void await(Key key, long ttl) {
        waits.add(key, ttl, turn());
    }

    @Override
    public void unawait(Key key, long ttl) {
        waits.remove(key, ttl);
    }

    @Override
    public void receipt(Key key, long number) {
        OpenSession session = current();
        if (number <= session.acked()) {
            turn().call(key, new Received(number));
        } else {
            session.expectations().receipt(key, number);
        }
    }

    @Override
    public void confirm(Key key) {
        current().expectations().confirm(key);
        current().keepNow();
    }

    @Override
    public void afterEcho(Key key) {
        if (open != null && open.taking()) {
            open.expectations().afterFrame(key);
        } else {
            turn().call(key, new Echoed());
        }
    }

    @Override
    public long send(Peer to, Message message) {
        OpenSession session = open;
        if (session == null || closing || to.session() != session.peer.session()) {
            return 0;
        }
        return session.add(message);
    }
}
