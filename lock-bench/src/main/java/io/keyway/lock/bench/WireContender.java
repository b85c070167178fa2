// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A client of {@link WireServer}; each thread has a socket of its own. */
final class WireContender implements Contender {

    /** What a pair consists of. */
    enum Kind {
        /** Two requests and two answers. */
        ANSWERED,
        /** Two requests and one answer: nobody waits for that of the release. */
        QUIET,
        /** Two bytes there and two bytes back, with no lock at all. */
        PING
    }

    private final int port;
    private final Kind kind;
    private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Link> links = ThreadLocal.withInitial(this::connect);

    WireContender(int port, Kind kind) {
        this.port = port;
        this.kind = kind;
    }

    @Override
    public String name() {
        return "wire";
    }

    @Override
    public Hold take(String lock) throws IOException {
        Link link = links.get();
        if (kind == Kind.PING) {
            link.ping();
            return link::ping;
        }
        byte[] name = lock.getBytes(StandardCharsets.UTF_8);
        link.write(WireServer.ACQUIRE, name);
        link.read();
        return () -> {
            if (kind == Kind.QUIET) {
                link.write(WireServer.RELEASE_QUIETLY, name);
            } else {
                link.write(WireServer.RELEASE, name);
                link.read();
            }
        };
    }

    /** A transaction of one lock is a pair here. */
    @Override
    public Set<Use> offers() {
        return EnumSet.of(Use.LOCK, Use.TRANSACTION);
    }

    @Override
    public Hold take(String lock, Use use) throws IOException {
        return take(lock);
    }

    private Link connect() {
        try {
            Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
            socket.setTcpNoDelay(true);
            sockets.add(socket);
            return new Link(socket.getInputStream(), socket.getOutputStream());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        for (Socket socket : sockets) {
            try {
                socket.close();
            } catch (IOException e) {
                // Closed anyway.
            }
        }
    }

    private record Link(InputStream in, OutputStream out) {

        void write(int verb, byte[] name) throws IOException {
            if (name.length > 255) {
                throw new IllegalArgumentException("a name of " + name.length + " bytes; the wire has room for 255");
            }
            byte[] request = new byte[name.length + 2];
            request[0] = (byte) verb;
            request[1] = (byte) name.length;
            System.arraycopy(name, 0, request, 2, name.length);
            out.write(request);
        }

        void read() throws IOException {
            if (in.read() < 0) {
                throw new EOFException("The lock table has ended");
            }
        }

        void ping() throws IOException {
            out.write(WireServer.PING);
            read();
        }
    }
}
