// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What the machines of a member ask and tell of single sessions. What comes over links, and what holds for the whole member, is the business of {@link MemberSessions}. */
abstract class MemberSide implements SessionLayer, MemberView {
    final SessionTable table;
    private @Nullable SessionTurn turn;

    MemberSide(SessionTable table) {
        this.table = table;
    }

    final void turnBegins(SessionTurn begun) {
        turn = begun;
    }

    final SessionTurn turn() {
        if (turn == null) {
            throw new IllegalStateException("no turn has begun");
        }
        return turn;
    }

    @Override
    public boolean live(Peer peer) {
        return table.get(peer.session()) != null;
    }

    /** {@link Turn#NEVER} if the session is over. */
    @Override
    public long silence(Peer peer) {
        MemberSession session = table.get(peer.session());
        return session == null ? Turn.NEVER : turn().now() - session.heard;
    }

    /** A session that is over takes none: its {@link SessionEnded} is on its way to the key, or has come. */
    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.classes.grant(key, token, ttl);
            table.touch(session);
        }
    }

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.classes.ungrant(key, token, ttl);
        }
    }

    @Override
    public void await(Peer peer, Key key, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.classes.await(key, ttl);
        }
    }

    @Override
    public void unawait(Peer peer, Key key, long ttl) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.classes.unawait(key, ttl);
        }
    }

    @Override
    public void listen(Peer peer, Key key) {
        MemberSession session = table.get(peer.session());
        if (session != null) {
            session.listeners.add(key);
        }
    }

    @Override
    public List<Grant> grants() {
        List<Grant> grants = new ArrayList<>();
        for (MemberSession session : table.all()) {
            session.classes.list(session.peer, grants);
        }
        return grants;
    }

    @Override
    public long send(Peer to, Message message) {
        MemberSession session = table.get(to.session());
        if (session == null) {
            return 0;
        }
        table.touch(session);
        return session.stream.add(message);
    }
}
