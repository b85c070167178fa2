// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.wire.FrameCodec;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A member's session with another one, for the life of the member, where its algorithm does not talk to members. By it
 * each learns that the other runs with its list, who joins and leaves, and what epochs were seen of whom.
 */
final class PeerLink implements CellLoop.Surroundings {
    private static final Logger LOG = LoggerFactory.getLogger(PeerLink.class);

    private final NodeId peer;
    private final LoopThread thread;
    private final CellLoop loop;
    private final PeerDialer dialer;
    private final PeerWatch watch;

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
            PeerWatch.Watcher watcher) {
        this.peer = peer;
        this.thread = thread;
        this.watch = new PeerWatch(peer, watcher);
        this.loop = new CellLoop(thread.loop(), cell, this, Long.MAX_VALUE);
        this.dialer = new PeerDialer(peer, loop, codec, tls, names);
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
        dialer.dial(link);
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
        watch.look((ClientSession) layer);
    }
}
