// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;
import javax.net.ssl.SSLServerSocketFactory;
import org.junit.jupiter.api.Test;

/** Where others connect, and what does not come from any of them. */
class EntranceTest {
    private static Entrance open(ServerSocketFactory sockets) {
        GroupOptions options = GroupOptions.defaults().withSockets(SocketFactory.getDefault(), sockets);
        Entrance entrance = new Entrance(options, new Greeting("election", new byte[0]), (link, hello) -> link.close());
        entrance.run("keyway-entrance-test");
        return entrance;
    }

    /** Makes one server socket, which is {@code only}. */
    private static ServerSocketFactory making(ServerSocket only) {
        return new ServerSocketFactory() {
            @Override
            public ServerSocket createServerSocket(int port) {
                return only;
            }

            @Override
            public ServerSocket createServerSocket(int port, int backlog) {
                return only;
            }

            @Override
            public ServerSocket createServerSocket(int port, int backlog, InetAddress at) {
                return only;
            }
        };
    }

    /** As of a process that has as many files open as it may have. */
    @Test
    void connectionsThatCannotBeTakenKeepNoProcessorBusy() throws Exception {
        List<Long> times = new CopyOnWriteArrayList<>();
        ServerSocket full = new ServerSocket(0, 1, InetAddress.getLoopbackAddress()) {
            @Override
            public Socket accept() throws IOException {
                times.add(System.nanoTime());
                throw new IOException("Too many open files");
            }
        };
        try (Entrance entrance = open(making(full))) {
            await().until(() -> times.size() >= 4);
            for (int i = 1; i < times.size(); i++) {
                assertThat(times.get(i) - times.get(i - 1))
                        .isGreaterThanOrEqualTo(Duration.ofMillis(100).toNanos());
            }
        }
    }

    /** TLS reads before anything is written. */
    @Test
    void whoConnectsAndSaysNothingIsNotWaitedForWithTlsEither() throws Exception {
        try (Entrance entrance = open(SSLServerSocketFactory.getDefault())) {
            String[] address = entrance.address().split(":", 2);
            try (Socket silent = new Socket(address[0], Integer.parseInt(address[1]))) {
                silent.setSoTimeout((int) Duration.ofMinutes(3).toMillis());
                assertThat(end(silent)).isEqualTo("closed");
            }
        }
    }

    /** What comes before the end is an alert of TLS, if anything. */
    private static String end(Socket socket) {
        try {
            while (socket.getInputStream().read() >= 0) {
                // not the end
            }
            return "closed";
        } catch (SocketTimeoutException e) {
            return "open";
        } catch (IOException e) {
            return "closed";
        }
    }
}
