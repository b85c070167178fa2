// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.Map;

/** One connection of a client through the proxy to the server. On the proxy's thread only. */
final class Link {
    private final SocketChannel client;
    private final SocketChannel server;
    private final SelectionKey clientKey;
    private final SelectionKey serverKey;
    private final Pipe toServer;
    private final Pipe toClient;
    private boolean connected;
    private boolean stranded;
    /** Nothing was asked since the last answer. */
    private boolean answered = true;

    private boolean asked;

    Link(SocketChannel client, InetSocketAddress target, Selector selector, ByteBuffer incoming) throws IOException {
        this.client = client;
        this.toServer = new Pipe(incoming);
        this.toClient = new Pipe(incoming);
        this.server = SocketChannel.open();
        try {
            client.configureBlocking(false);
            client.setOption(StandardSocketOptions.TCP_NODELAY, true);
            server.configureBlocking(false);
            server.setOption(StandardSocketOptions.TCP_NODELAY, true);
            this.clientKey = client.register(selector, 0, this);
            this.serverKey = server.register(selector, SelectionKey.OP_CONNECT, this);
            this.connected = server.connect(target);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    /** Does what the sockets and the faults allow; false if the connection has ended. */
    boolean turn(Map<Direction, Fault> faults, long now) {
        try {
            if (!connected) {
                connected = server.finishConnect();
                if (!connected) {
                    return true;
                }
            }
            // Answers first: what a request of this turn brings is treated by what that request has changed.
            boolean answers = pass(server, client, toClient, fault(faults, Direction.TO_CLIENT), serverKey, now);
            answered |= answers;
            boolean asks = pass(client, server, toServer, fault(faults, Direction.TO_SERVER), clientKey, now);
            asked = asks && answered;
            answered = answered && !asks;
            if (toServer.closed() && toClient.closed()) {
                close(false);
                return false;
            }
            clientKey.interestOps(interest(toServer, toClient, faults, Direction.TO_SERVER, Direction.TO_CLIENT));
            serverKey.interestOps(interest(toClient, toServer, faults, Direction.TO_CLIENT, Direction.TO_SERVER));
            return true;
        } catch (IOException e) {
            close(true);
            return false;
        }
    }

    /** Whether a request has begun in the last turn: the first bytes from the client after an answer. */
    boolean hasAsked() {
        return asked;
    }

    /** Nothing moves any more, either way. */
    void strand() {
        stranded = true;
    }

    /** Ends {@link #strand()}. */
    void free() {
        stranded = false;
    }

    /** Whether bytes have come. */
    private static boolean pass(
            SocketChannel source, SocketChannel sink, Pipe pipe, Fault fault, SelectionKey from, long now)
            throws IOException {
        boolean come = from.isReadable() && pipe.wantsRead(fault) && pipe.read(source, fault, now);
        pipe.write(sink, fault, now);
        return come;
    }

    private int interest(Pipe read, Pipe written, Map<Direction, Fault> faults, Direction reading, Direction writing) {
        return (read.wantsRead(fault(faults, reading)) ? SelectionKey.OP_READ : 0)
                | (written.wantsWrite(fault(faults, writing)) ? SelectionKey.OP_WRITE : 0);
    }

    private Fault fault(Map<Direction, Fault> faults, Direction direction) {
        return stranded ? Fault.STALLED : faults.getOrDefault(direction, Fault.NONE);
    }

    /** When time alone changes something; {@link Long#MAX_VALUE} if it does not. */
    long due(Map<Direction, Fault> faults) {
        return Math.min(
                toServer.due(fault(faults, Direction.TO_SERVER)), toClient.due(fault(faults, Direction.TO_CLIENT)));
    }

    /** Both ends get a reset, or an end of stream. */
    void close(boolean reset) {
        close(client, reset);
        close(server, reset);
    }

    static void close(SocketChannel channel, boolean reset) {
        try (channel) {
            if (reset && channel.isOpen()) {
                channel.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
        } catch (IOException e) {
            // The descriptor is gone, and with it the connection.
        }
    }
}
