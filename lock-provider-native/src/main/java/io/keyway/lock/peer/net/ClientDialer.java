// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.security.Tls;
import io.keyway.lock.peer.wire.FrameCodec;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Opens the connections of a client's cell. */
public final class ClientDialer {
    private final ClientLoop loop;
    private final CellLoop cell;
    private final FrameCodec codec;
    private final Duration patience;
    private final @Nullable Tls tls;
    private final RateLimitedLog complaints;

    /**
     * A dialer of that cell.
     *
     * @param codec of all cells of that loop
     * @param patience for a connection, and for TLS on it
     * @param about what is connected, for the log, such as "the connection to a:7400"
     */
    public ClientDialer(
            ClientLoop loop, CellLoop cell, FrameCodec codec, Duration patience, Optional<Tls> tls, String about) {
        this.loop = loop;
        this.cell = cell;
        this.codec = codec;
        this.patience = patience;
        this.tls = tls.orElse(null);
        this.complaints = new RateLimitedLog(about);
    }

    /**
     * Opens that link, with TLS if there is any and it is over TCP: the cell gets Opened when both stand. Otherwise
     * {@code failed} gets the reason, in a task of the loop or at once, and the cell nothing. From any thread.
     *
     * @param address resolved, since that may block; its host name is what a certificate must be for
     */
    public void connect(long link, SocketAddress address, Consumer<String> failed) {
        if (address instanceof InetSocketAddress to && to.isUnresolved()) {
            failed.accept("the address of " + to.getHostString() + " is not known");
            return;
        }
        try {
            loop.execute(() -> ClientLink.open(loop, cell, link, address, patience, tls, codec, complaints, failed));
        } catch (RejectedExecutionException e) {
            // The client was closed while the address was looked up: nobody waits for an answer.
            return;
        }
    }

    /** Opens that link to a member in this process, without a socket: the cell gets Opened. In a task of the loop. */
    public void connect(long link, MemberAcceptor member) {
        loop.execute(() -> InProcessLink.open(cell, link, member));
    }
}
