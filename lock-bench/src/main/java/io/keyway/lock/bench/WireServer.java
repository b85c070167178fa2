// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.BufferedInputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;

/**
 * The wire, a yardstick: a lock table behind blocking sockets, a thread for each connection. Who waits for a lock waits
 * in the order of coming, and whoever releases it writes the grant to the next one's socket. It has no lease, no token
 * and no memory of connections that break: a lock could hardly do less.
 *
 * <p>A program of its own: prints its port, and ends when its standard input does.
 */
public final class WireServer {
    /** Asks for a lock, whose name follows; answered when it is granted. */
    static final int ACQUIRE = 1;
    /** Gives it back; answered. */
    static final int RELEASE = 2;
    /** Gives it back; not answered. */
    static final int RELEASE_QUIETLY = 3;
    /** Answered at once, and nothing else. No name follows. */
    static final int PING = 4;

    private static final byte[] ANSWER = {1};

    private final ConcurrentMap<String, Deque<Connection>> table = new ConcurrentHashMap<>();

    private WireServer() {}

    /** The entry point. */
    @SuppressWarnings("SystemOut") // the port is told to whoever started this
    public static void main(String[] arguments) throws IOException {
        WireServer server = new WireServer();
        ServerSocket socket = new ServerSocket(0, 128, InetAddress.getLoopbackAddress());
        Thread acceptor = new Thread(() -> server.accept(socket), "accept");
        acceptor.setDaemon(true);
        acceptor.start();
        System.out.println(socket.getLocalPort());
        System.in.transferTo(OutputStream.nullOutputStream());
        System.exit(0);
    }

    private void accept(ServerSocket listening) {
        try {
            while (true) {
                Socket socket = listening.accept();
                socket.setTcpNoDelay(true);
                Thread thread = new Thread(() -> serve(socket), "connection");
                thread.setDaemon(true);
                thread.start();
            }
        } catch (IOException e) {
            throw new IllegalStateException("No more connections", e);
        }
    }

    private void serve(Socket socket) {
        try (socket) {
            DataInputStream in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
            Connection connection = new Connection(socket.getOutputStream());
            byte[] text = new byte[255];
            while (true) {
                int verb = in.readByte();
                if (verb == PING) {
                    connection.answer();
                    continue;
                }
                int length = in.readUnsignedByte();
                in.readFully(text, 0, length);
                String name = new String(text, 0, length, StandardCharsets.UTF_8);
                if (verb == ACQUIRE) {
                    table.compute(name, connection.enter);
                    if (connection.first) {
                        connection.answer();
                    }
                } else {
                    table.computeIfPresent(name, connection.leave);
                    if (connection.next != null) {
                        connection.next.answer();
                    }
                    if (verb == RELEASE) {
                        connection.answer();
                    }
                }
            }
        } catch (EOFException e) {
            // The client has closed.
        } catch (IOException e) {
            throw new IllegalStateException("A connection is broken", e);
        }
    }

    /** A client's thread: it waits for one lock at a time, so that one answer at a time is written to it. */
    private static final class Connection {
        final BiFunction<String, @Nullable Deque<Connection>, Deque<Connection>> enter = this::enter;
        final BiFunction<String, Deque<Connection>, @Nullable Deque<Connection>> leave = this::leave;
        /** Whether the lock was free when this one came. */
        boolean first;
        /** Whose turn it is when this one has left. */
        @Nullable
        Connection next;

        private final OutputStream out;

        Connection(OutputStream out) {
            this.out = out;
        }

        void answer() throws IOException {
            out.write(ANSWER);
        }

        /** The first of a queue holds the lock. */
        private Deque<Connection> enter(String name, @Nullable Deque<Connection> queue) {
            Deque<Connection> joined = queue == null ? new ArrayDeque<>(2) : queue;
            first = joined.isEmpty();
            joined.addLast(this);
            return joined;
        }

        private @Nullable Deque<Connection> leave(String name, Deque<Connection> queue) {
            if (queue.pollFirst() != this) {
                throw new IllegalStateException(name + " is not held by the connection that releases it");
            }
            next = queue.peekFirst();
            return next == null ? null : queue;
        }
    }
}
