// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.member.HostInfo;
import io.keyway.lock.peer.member.SocketPath;
import io.keyway.lock.peer.net.Acceptor;
import io.keyway.lock.peer.net.Shard;
import io.keyway.lock.peer.os.LockFile;
import io.keyway.lock.peer.os.PeerUser;
import io.netty.channel.socket.nio.NioServerDomainSocketChannel;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where clients find a host: its socket, or its port of this machine where the directory's name is too long for one,
 * and host.info, which says so. What somebody removes of it is put back.
 *
 * <p>Opened by the host's start, then looked after by one thread; closed from any.
 */
final class HostEndpoint implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(HostEndpoint.class);

    private final LocalConfig config;
    private final HostElection.Hosting hostLock;
    private final Shard shard;
    private final Optional<Path> socket;
    private final HostInfo info;
    private final AtomicLong links = new AtomicLong();
    private Acceptor acceptor;
    /** Identity of our socket; null where we listen on a port. */
    private @Nullable String key;

    private String trouble = "";
    private boolean closed;

    /**
     * @param socket where clients are to find it; empty to listen on a port
     * @param secret by which both ends prove themselves on a port
     * @throws IOException if it cannot listen
     * @throws LockUnavailableException if host.info cannot be written
     */
    HostEndpoint(LocalConfig config, HostElection.Hosting hostLock, Shard shard, Optional<Path> socket, String secret)
            throws IOException {
        this.config = config;
        this.hostLock = hostLock;
        this.shard = shard;
        this.socket = socket;
        this.acceptor = listen();
        try {
            this.info = socket.map(HostInfo::onSocket)
                    .orElseGet(() -> HostInfo.onPort(((InetSocketAddress) acceptor.address()).getPort(), secret));
            hostLock.publish(info);
        } catch (RuntimeException e) {
            acceptor.close();
            throw e;
        }
    }

    private Acceptor listen() throws IOException {
        if (socket.isEmpty()) {
            return new Acceptor(shard, links, NioServerSocketChannel.class, HostInfo.onLoopback(0), channel -> true);
        }
        PeerUser user = PeerUser.ownerOf(config.directory().path());
        Path bound = SocketPath.toBind(socket.get());
        Files.deleteIfExists(bound);
        Acceptor listening = new Acceptor(
                shard, links, NioServerDomainSocketChannel.class, UnixDomainSocketAddress.of(bound), user::admits);
        try {
            key = LockFile.keyOf(bound);
            Files.move(bound, socket.get(), StandardCopyOption.ATOMIC_MOVE);
            return listening;
        } catch (IOException e) {
            listening.close();
            throw e;
        }
    }

    /**
     * Puts back what clients need to find this host, if it is gone or somebody else's; for the one who has host.lock.
     */
    synchronized void lookAfter() {
        if (closed) {
            return;
        }
        try {
            if (socket.isPresent() && !LockFile.leadsTo(socket.get(), String.valueOf(key))) {
                Acceptor former = acceptor;
                acceptor = listen();
                former.close();
                LOG.warn("{} was removed or replaced: this host listens there anew", socket.get());
            }
            if (!config.directory().election().info().equals(Optional.of(info))) {
                hostLock.publish(info);
                LOG.warn("{} was removed or replaced: this host has written it anew", HostElection.INFO);
            }
            trouble = "";
        } catch (IOException | LockUnavailableException e) {
            if (!trouble.equals(e.getMessage())) {
                trouble = String.valueOf(e.getMessage());
                LOG.warn("nobody new finds this host until that succeeds: {}", trouble);
            }
        }
    }

    /** Takes no more connections; those that stand are not touched. Idempotent. */
    @Override
    public synchronized void close() {
        closed = true;
        acceptor.close();
    }
}
