// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that come and go. They lie below those from which systems draw ports of outgoing connections
 * (32,768 and up on Linux): else, while the server is gone, some connection may take its port, even a connection to
 * that very port, which then talks to itself.
 */
public final class Ports {
    private static final int FIRST = 15_000;
    private static final int LAST = 30_000;
    private static final int SLICE = 100;
    private static final int TRIES = 1_000;

    /** The first port of each slice that is this JVM's, bound for as long as it lives: no other JVM draws from it. */
    private static final List<ServerSocket> CLAIMS = new ArrayList<>();

    private static int next;
    private static int end;

    private Ports() {}

    /**
     * Returns a port of the loopback address at which nobody listens now, and that neither this JVM nor another one
     * that lives has been given before.
     *
     * @throws IOException if none is left, or can be bound
     */
    public static synchronized int free() throws IOException {
        IOException trouble = new IOException("no port was tried");
        for (int i = 0; i < TRIES; i++) {
            if (next == end) {
                claim();
            }
            int port = next++;
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                return port;
            } catch (IOException e) {
                trouble = e;
            }
        }
        throw new IOException("no free port from " + FIRST + " to " + LAST, trouble);
    }

    private static void claim() throws IOException {
        int slices = (LAST - FIRST) / SLICE;
        int start = ThreadLocalRandom.current().nextInt(slices);
        IOException trouble = new IOException("no slice was tried");
        for (int i = 0; i < slices; i++) {
            int first = FIRST + (start + i) % slices * SLICE;
            ServerSocket socket = new ServerSocket();
            try {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), first));
                CLAIMS.add(socket);
                next = first + 1;
                end = first + SLICE;
                return;
            } catch (IOException e) {
                socket.close();
                trouble = e;
            }
        }
        throw new IOException(
                "all ports from " + FIRST + " to " + LAST + " have been given out; end some of the JVMs that drew them",
                trouble);
    }
}
