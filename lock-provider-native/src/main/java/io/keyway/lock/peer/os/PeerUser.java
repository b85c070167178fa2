// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.os;

import io.netty.channel.Channel;
import io.netty.channel.socket.nio.NioChannelOption;
import java.io.IOException;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.UserPrincipal;
import java.util.Optional;
import jdk.net.ExtendedSocketOptions;
import jdk.net.UnixDomainPrincipal;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks that the process at the other end of a Unix domain socket runs as the owner of the lock directory. */
public final class PeerUser {
    private static final Logger LOG = LoggerFactory.getLogger(PeerUser.class);

    private final UserPrincipal owner;

    private PeerUser(UserPrincipal owner) {
        this.owner = owner;
    }

    /** The user who owns this directory, which was found to be our own. */
    public static PeerUser ownerOf(Path directory) throws IOException {
        return new PeerUser(Files.getOwner(directory, LinkOption.NOFOLLOW_LINKS));
    }

    /**
     * Returns why the peer is to be refused; empty if it is the owner. The user ids are compared, not their names.
     *
     * @throws IOException if the channel is closed or not connected
     */
    public Optional<String> refusal(SocketChannel channel) throws IOException {
        if (!channel.supportedOptions().contains(ExtendedSocketOptions.SO_PEERCRED)) {
            return Optional.of("this system does not say which user is at the other end of a socket");
        }
        return refusal(channel.getOption(ExtendedSocketOptions.SO_PEERCRED));
    }

    /** The same for credentials that were read otherwise. */
    public Optional<String> refusal(UnixDomainPrincipal peer) {
        return owner.equals(peer.user())
                ? Optional.empty()
                : Optional.of("the peer runs as user " + peer.user().getName() + ", not as " + owner.getName());
    }

    /** Whether this connection may speak: its process runs as the owner. */
    public boolean admits(Channel channel) {
        try {
            var peer = channel.config().getOption(NioChannelOption.of(ExtendedSocketOptions.SO_PEERCRED));
            String refusal = peer == null
                    ? "the system does not say who it is"
                    : refusal(peer).orElse("");
            if (!refusal.isEmpty()) {
                LOG.warn("a connection was refused: {}", refusal);
            }
            return refusal.isEmpty();
        } catch (RuntimeException e) {
            LOG.warn("a connection was refused: cannot tell its user: {}", e.toString());
            return false;
        }
    }
}
