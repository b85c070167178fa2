/** The peer-to-peer provider: locks without a server to install. */
@SuppressWarnings("module") // the command line is built after this
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
    exports io.keyway.lock.peer.cluster to
            io.keyway.lock.cli;
    exports io.keyway.lock.peer.local to
            io.keyway.lock.cli;
    exports io.keyway.lock.peer.security to
            io.keyway.lock.cli;

    provides io.keyway.lock.spi.LockProvider with
            io.keyway.lock.peer.NativeLockProvider;
}
