// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.WelcomeInfo;
import io.keyway.lock.peer.wire.FrameCodec;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A member's session with another one, for the life of the member. By it each learns that the other runs with its list, who joins and leaves, and what epochs were seen of whom. */
final class PeerLink implements CellLoop.Surroundings {
    /** Who is told; on the link's thread. */
    interface Watcher {
        void welcomed(NodeId peer, WelcomeInfo greeting);

        void left(NodeId peer);

        void unreachable(NodeId peer, Unreachable why);
    }

    private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final NodeId peer;
    private final LoopThread thread;
    private final CellLoop loop;
    private final Connector connector;
    private final HostNames names;
    private final Watcher watcher;
    private @Nullable WelcomeInfo greeting;
    private @Nullable Unreachable trouble;
    private boolean up;

    /**
     * @param cell a session with {@code peer} that is always wanted
     * @param codec of that thread alone
     */
    PeerLink(
            NodeId peer,
            LoopThread thread,
            Cell cell,
            FrameCodec codec,
            Optional<Tls> tls,
            HostNames names,
            Watcher watcher) {
        this.peer = peer;
        this.thread = thread;
        this.names = names;
        this.watcher = watcher;
        this.loop = new CellLoop(thread.loop(), cell, this, Long.MAX_VALUE);
        this.connector = new Connector(loop, codec, CONNECT, tls, "the connection to " + peer);
    }

    void begin() {
        loop.post(new Input.Tick());
    }

    /** Says goodbye. */
    void closing() {
        loop.post(new Input.Closing());
    }

    /** Not on the link's thread. */
    void shut() {
        thread.run(loop::shut);
    }

    @Override
    public void dial(long link) {
        names.find(
                peer.host(),
                peer.port(),
                address -> connector.connect(link, address, why -> loop.refused(link, why)),
                why -> loop.refused(link, why));
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        throw new IllegalStateException("a session with another member has nothing to persist");
    }

    @Override
    public Optional<Input> failed(Throwable why) {
        LOG.error("the session with {} failed; another one begins", peer, why);
        return Optional.of(new Input.Reborn(0, 0, "this end has failed: " + why));
    }

    @Override
    public void heard(Notice notice) {
        LOG.debug("{}: {}", peer, notice);
    }

    @Override
    public void turned(SessionLayer layer) {
        ClientSession session = (ClientSession) layer;
        boolean now = session.connected();
        WelcomeInfo said = session.greeting();
        if (now && said != null && (!up || !said.equals(greeting))) {
            greeting = said;
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
