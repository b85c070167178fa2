// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.WelcomeInfo;
import org.jspecify.annotations.Nullable;

/** Looks at a member's session with another one after each batch of its turns, and tells what has changed. */
final class PeerWatch {
    /** Who is told; on one thread for all peers. */
    interface Watcher {
        void welcomed(NodeId peer, WelcomeInfo greeting);

        void left(NodeId peer);

        void unreachable(NodeId peer, Unreachable why);
    }

    private final NodeId peer;
    private final Watcher watcher;
    private @Nullable WelcomeInfo welcome;
    private @Nullable Unreachable trouble;
    private boolean up;

    PeerWatch(NodeId peer, Watcher watcher) {
        this.peer = peer;
        this.watcher = watcher;
    }

    void look(ClientSession session) {
        boolean now = session.connected();
        WelcomeInfo said = session.lastWelcome();
        if (now && said != null && (!up || !said.equals(welcome))) {
            welcome = said;
            watcher.welcomed(peer, said);
        }
        if (up && !now) {
            watcher.left(peer);
        }
        up = now;
        Unreachable why = session.trouble();
        if (why != null && !why.equals(trouble)) {
            watcher.unreachable(peer, why);
        }
        trouble = why;
    }
}
