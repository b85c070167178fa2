// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Ports for servers that come and go. They lie below those from which systems draw ports of outgoing connections
 * (32,768 and up on Linux): else, while the server is gone, some connection may take its port, even a connection to
 * that very port, which then talks to itself.
 */
public final class Ports {
    private static final int FIRST = 15_000;
    private static final int LAST = 30_000;
    private static final int TRIES = 1_000;
    private static final Set<Integer> GIVEN = ConcurrentHashMap.newKeySet();

    private Ports() {}

    /**
     * Returns a port of the loopback address at which nobody listens now, and that this JVM has not been given before.
     *
     * @throws IOException if a thousand tries found none
     */
    public static int free() throws IOException {
        IOException trouble = new IOException("no port was tried");
        for (int i = 0; i < TRIES; i++) {
            int port = ThreadLocalRandom.current().nextInt(FIRST, LAST);
            try (ServerSocket socket = new ServerSocket()) {
                socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
                if (GIVEN.add(port)) {
                    return port;
                }
            } catch (IOException e) {
                trouble = e;
            }
        }
        throw new IOException("no free port from " + FIRST + " to " + LAST, trouble);
    }
}
