// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.net.CellLoop;
import io.keyway.lock.peer.net.Connector;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.wire.FrameCodec;
import java.time.Duration;
import java.util.Optional;

/** Opens the links of one cell to one other member. */
final class PeerDialer {
    private static final Duration CONNECT = Duration.ofSeconds(5);

    private final NodeId peer;
    private final CellLoop loop;
    private final Connector connector;
    private final HostNames names;

    /** @param codec of the cell's thread alone */
    PeerDialer(NodeId peer, CellLoop loop, FrameCodec codec, Optional<Tls> tls, HostNames names) {
        this.peer = peer;
        this.loop = loop;
        this.connector = new Connector(loop, codec, CONNECT, tls, "the connection to " + peer);
        this.names = names;
    }

    /** Opens that link, or tells the cell why not. */
    void dial(long link) {
        names.find(
                peer.host(),
                peer.port(),
                address -> connector.connect(link, address, why -> loop.refused(link, why)),
                why -> loop.refused(link, why));
    }
}
