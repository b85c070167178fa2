// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Objects;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;

/**
 * How the processes of an {@link ElectionGroup} reach each other. All of one group share the secret and the kind of
 * sockets. Immutable.
 */
public final class GroupOptions {
    /** The longest message unless one is set, in bytes. */
    public static final int LONGEST_MESSAGE = 1 << 20;

    private final InetSocketAddress listen;
    private final String address;
    private final byte[] secret;
    private final int longestMessage;
    private final Map<String, String> metadata;
    private final SocketFactory sockets;
    private final ServerSocketFactory serverSockets;

    private GroupOptions(
            InetSocketAddress listen,
            String address,
            byte[] secret,
            int longestMessage,
            Map<String, String> metadata,
            SocketFactory sockets,
            ServerSocketFactory serverSockets) {
        this.listen = listen;
        this.address = address;
        this.secret = secret;
        this.longestMessage = longestMessage;
        this.metadata = Map.copyOf(metadata);
        this.sockets = sockets;
        this.serverSockets = serverSockets;
    }

    /**
     * {@return the options of processes of one machine: a port of the system's choice on the loopback address, no
     * secret, plain sockets}
     */
    public static GroupOptions defaults() {
        return new GroupOptions(
                new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                "",
                new byte[0],
                LONGEST_MESSAGE,
                Map.of(),
                SocketFactory.getDefault(),
                ServerSocketFactory.getDefault());
    }

    /**
     * {@return these options with another address to take connections at} One that is not a loopback address needs a
     * {@linkplain #withSecret secret}. Observers take no connections.
     *
     * @param at port 0 for one of the system's choice
     */
    public GroupOptions withListen(InetSocketAddress at) {
        Objects.requireNonNull(at, "at");
        return new GroupOptions(at, address, secret, longestMessage, metadata, sockets, serverSockets);
    }

    /**
     * {@return these options with the address under which others reach this process, where that is not the one that it
     * listens at, as in a container}
     *
     * @param hostAndPort as {@code host:port}
     */
    public GroupOptions withAddress(String hostAndPort) {
        GroupAddress.parse(hostAndPort);
        return new GroupOptions(listen, hostAndPort, secret, longestMessage, metadata, sockets, serverSockets);
    }

    /**
     * {@return these options with a secret, which both ends of each connection prove to know (HMAC-SHA256)} It hides
     * nothing of what is said afterwards: that is what {@linkplain #withSockets sockets of TLS} are for.
     *
     * @param shared of all processes of the group; not empty
     * @throws IllegalArgumentException if it is empty
     */
    public GroupOptions withSecret(String shared) {
        if (shared.isEmpty()) {
            throw new IllegalArgumentException("A secret of a group is not empty; leave it out to have none.");
        }
        byte[] bytes = shared.getBytes(StandardCharsets.UTF_8);
        return new GroupOptions(listen, address, bytes, longestMessage, metadata, sockets, serverSockets);
    }

    /**
     * {@return these options with another limit of a message, a state or an answer} All processes have the same.
     *
     * @param bytes one or more
     * @throws IllegalArgumentException if it is less than one
     */
    public GroupOptions withLongestMessage(int bytes) {
        if (bytes < 1 || bytes > Integer.MAX_VALUE / 2) {
            throw new IllegalArgumentException("A message of a group has 1 to " + Integer.MAX_VALUE / 2
                    + " bytes at the most, not " + bytes + ".");
        }
        return new GroupOptions(listen, address, secret, bytes, metadata, sockets, serverSockets);
    }

    /**
     * {@return these options with what the candidate says about itself, beside its address}
     *
     * @param said as of {@link io.keyway.lock.LockOptions#withMetadata}
     */
    public GroupOptions withMetadata(Map<String, String> said) {
        return new GroupOptions(listen, address, secret, longestMessage, said, sockets, serverSockets);
    }

    /**
     * {@return these options with other sockets, as those of an {@code SSLContext}}
     *
     * @param outgoing makes the sockets by which this process follows another one
     * @param incoming makes the socket at which it is reached
     */
    public GroupOptions withSockets(SocketFactory outgoing, ServerSocketFactory incoming) {
        Objects.requireNonNull(outgoing, "outgoing");
        Objects.requireNonNull(incoming, "incoming");
        return new GroupOptions(listen, address, secret, longestMessage, metadata, outgoing, incoming);
    }

    InetSocketAddress listen() {
        return listen;
    }

    String address() {
        return address;
    }

    byte[] secret() {
        return secret;
    }

    int longestMessage() {
        return longestMessage;
    }

    Map<String, String> metadata() {
        return metadata;
    }

    SocketFactory sockets() {
        return sockets;
    }

    ServerSocketFactory serverSockets() {
        return serverSockets;
    }

    /** Without the secret. */
    @Override
    public String toString() {
        return "GroupOptions[listen=" + listen + ", address=" + address + ", secret="
                + (secret.length == 0 ? "" : "***") + ", longestMessage=" + longestMessage + ", metadata=" + metadata
                + "]";
    }
}
