// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
/** The peer-to-peer provider: locks without a server to install. */
@SuppressWarnings("module") // the command line and the simulator are built after this
module io.keyway.lock.peer {
    requires transitive io.keyway.lock;
    requires static org.jspecify;
    requires io.netty.buffer;
    requires io.netty.codec;
    requires io.netty.common;
    requires io.netty.handler;
    requires io.netty.transport;
    requires jdk.net;
    // The tests measure what a lock costs.
    requires static jdk.management;
    requires org.slf4j;

    exports io.keyway.lock.peer;
    exports io.keyway.lock.peer.bakery to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.cluster to
            io.keyway.lock.cli,
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.election to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.home to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.kernel to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.lamport to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.lease to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.local to
            io.keyway.lock.cli;
    exports io.keyway.lock.peer.member to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.net to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.os to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.queue to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.security to
            io.keyway.lock.cli;
    exports io.keyway.lock.peer.service to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.session to
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.trace to
            io.keyway.lock.cli,
            io.keyway.lock.simulator;
    exports io.keyway.lock.peer.wire to
            io.keyway.lock.simulator;

    provides io.keyway.lock.spi.LockProvider with
            io.keyway.lock.peer.NativeLockProvider;
}
