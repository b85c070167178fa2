// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.InputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each fault of the proxy, on real sockets. */
class FaultProxyTest {
    private EchoServer server;
    private FaultProxy proxy;
    private final List<Socket> sockets = new ArrayList<>();

    @BeforeEach
    void start() throws IOException {
        server = new EchoServer();
        proxy = FaultProxy.to(server.address());
    }

    @AfterEach
    void end() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
        proxy.close();
        server.close();
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(proxy.address().getAddress(), proxy.address().getPort());
        socket.setSoTimeout(30_000);
        sockets.add(socket);
        return socket;
    }

    private int answer(Socket socket, int letter) throws IOException {
        socket.getOutputStream().write(letter);
        return socket.getInputStream().read();
    }

    /** Everything that lies in the proxy's sockets has been looked at. */
    private void settle() {
        for (int turn = 0; turn < 3; turn++) {
            proxy.connections();
        }
    }

    @Test
    void bytesPassWholeAndInOrderBothWays() throws Exception {
        Socket socket = connect();
        byte[] sent = new byte[200_000];
        for (int i = 0; i < sent.length; i++) {
            sent[i] = (byte) ((i * 31) >> 3);
        }
        Thread writer = new Thread(() -> {
            try {
                socket.getOutputStream().write(sent);
                socket.shutdownOutput();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        });
        writer.start();
        assertThat(socket.getInputStream().readAllBytes()).isEqualTo(sent);
        writer.join();
    }

    @Test
    void answersAreThrownAwayFromTheOneThatWasNamedOn() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        proxy.discardAfter(2);
        assertThat(answer(socket, 'b')).isEqualTo('b');
        Socket other = connect();
        assertThat(answer(other, 'c')).isEqualTo('c');
        other.getOutputStream().write('d');
        for (int expected : new int[] {'a', 'b', 'c', 'd'}) {
            assertThat(server.next()).isEqualTo(expected);
        }
        proxy.reset();
        assertThatThrownBy(() -> other.getInputStream().read()).isInstanceOf(SocketException.class);
        proxy.heal();
        assertThat(answer(connect(), 'e')).isEqualTo('e');
    }

    @Test
    void aStrandedConnectionMovesNothingWhileNewOnesAreServed() throws Exception {
        Socket stranded = connect();
        assertThat(answer(stranded, 'a')).isEqualTo('a');
        proxy.strand();
        stranded.getOutputStream().write('b');
        assertThat(answer(connect(), 'c')).isEqualTo('c');
        assertThat(server.next()).isEqualTo('a');
        assertThat(server.next()).isEqualTo('c');
        proxy.heal();
        assertThat(server.next()).isEqualTo('b');
        assertThat(stranded.getInputStream().read()).isEqualTo('b');
    }

    @Test
    void aHalfCloseIsPassedOn() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        socket.shutdownOutput();
        assertThat(server.next()).isEqualTo('a');
        assertThat(server.next()).isEqualTo(EchoServer.END);
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
    }

    @Test
    void aCutOfTheWayToTheServerHoldsBytesBackUntilItHeals() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        assertThat(server.next()).isEqualTo('a');
        proxy.cut(Direction.TO_SERVER);
        socket.getOutputStream().write('b');
        settle();
        Socket direct =
                new Socket(server.address().getAddress(), server.address().getPort());
        sockets.add(direct);
        assertThat(answer(direct, 'c')).isEqualTo('c');
        assertThat(server.next()).isEqualTo('c');
        proxy.heal();
        assertThat(socket.getInputStream().read()).isEqualTo('b');
    }

    @Test
    void aCutOfTheWayBackLetsRequestsArrive() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        proxy.cut(Direction.TO_CLIENT);
        socket.getOutputStream().write('b');
        assertThat(server.next()).isEqualTo('a');
        assertThat(server.next()).isEqualTo('b');
        server.awaitEchoes(2);
        settle();
        assertThat(socket.getInputStream().available()).isZero();
        proxy.heal();
        assertThat(socket.getInputStream().read()).isEqualTo('b');
    }

    @Test
    void aReplyCanBeLostForGood() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        proxy.set(Direction.TO_CLIENT, Fault.DISCARDING);
        socket.getOutputStream().write('b');
        assertThat(server.next()).isEqualTo('a');
        assertThat(server.next()).isEqualTo('b');
        // The end comes behind what was answered.
        socket.shutdownOutput();
        assertThat(socket.getInputStream().read()).isEqualTo(-1);
        proxy.heal();
        assertThat(answer(connect(), 'c')).isEqualTo('c');
    }

    @Test
    void aBlackHoleTellsNobody() throws Exception {
        Socket before = connect();
        assertThat(answer(before, 'a')).isEqualTo('a');
        proxy.blackHole();
        before.getOutputStream().write('b');
        Socket during = connect();
        during.getOutputStream().write('c');
        settle();
        assertThat(before.getInputStream().available()).isZero();
        assertThat(during.getInputStream().available()).isZero();
        assertThat(proxy.connections()).isEqualTo(1);
        proxy.heal();
        assertThat(before.getInputStream().read()).isEqualTo('b');
        assertThatThrownBy(() -> {
                    if (during.getInputStream().read() < 0) {
                        throw new SocketException("ended without a reset");
                    }
                })
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("reset");
    }

    @Test
    void bytesArriveLaterByTheDelay() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        Duration delay = Duration.ofMillis(20);
        proxy.set(Direction.TO_SERVER, Fault.delayed(delay));
        proxy.set(Direction.TO_CLIENT, Fault.delayed(delay));
        long start = System.nanoTime();
        assertThat(answer(socket, 'b')).isEqualTo('b');
        assertThat(System.nanoTime() - start)
                .isGreaterThanOrEqualTo(delay.multipliedBy(2).toNanos());
    }

    @Test
    void aSlowLinePassesNoMoreThanItsRate() throws Exception {
        Socket socket = connect();
        proxy.set(Direction.TO_CLIENT, Fault.slow(50_000));
        long start = System.nanoTime();
        socket.getOutputStream().write(new byte[5_000]);
        InputStream in = socket.getInputStream();
        assertThat(in.readNBytes(5_000)).hasSize(5_000);
        // The last part needs no time of its own.
        assertThat(System.nanoTime() - start)
                .isGreaterThanOrEqualTo(Duration.ofMillis(85).toNanos());
    }

    @Test
    void aReaderThatReadsNothingIsFeltByTheSender() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        proxy.cut(Direction.TO_SERVER);
        Thread writer = new Thread(() -> {
            try {
                socket.getOutputStream().write(new byte[64 * 1024 * 1024]);
            } catch (IOException e) {
                // It ends when the test does.
            }
        });
        writer.setDaemon(true);
        writer.start();
        settle();
        // No buffer on the way holds so much.
        assertThat(writer.isAlive()).isTrue();
        proxy.heal();
        assertThat(socket.getInputStream().read()).isZero();
    }

    @Test
    void aResetEndsBothSidesAndLaterConnectionsAreServed() throws Exception {
        Socket socket = connect();
        assertThat(answer(socket, 'a')).isEqualTo('a');
        assertThat(server.next()).isEqualTo('a');
        proxy.reset();
        assertThatThrownBy(() -> socket.getInputStream().read())
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("reset");
        assertThat(server.next()).isEqualTo(EchoServer.RESET);
        assertThat(answer(connect(), 'b')).isEqualTo('b');
    }

    @Test
    void aDisconnectedProxyRefusesUntilItHealsOnTheSamePort() throws Exception {
        assertThat(answer(connect(), 'a')).isEqualTo('a');
        proxy.disconnect();
        assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
        InetSocketAddress before = proxy.address();
        proxy.heal();
        assertThat(proxy.address()).isEqualTo(before);
        assertThat(answer(connect(), 'b')).isEqualTo('b');
    }

    @Test
    void muteArrivalsStayOpenAndUnanswered() throws Exception {
        proxy.arrivals(Arrivals.MUTE);
        for (int i = 0; i < 200; i++) {
            connect().getOutputStream().write('a');
        }
        settle();
        assertThat(proxy.connections()).isZero();
        for (Socket socket : sockets) {
            assertThat(socket.getInputStream().available()).isZero();
        }
        proxy.arrivals(Arrivals.SERVED);
        assertThat(answer(connect(), 'b')).isEqualTo('b');
    }

    @Test
    void aServerThatDoesNotRunEndsTheConnection() throws Exception {
        int free = Ports.free();
        try (FaultProxy nobody = FaultProxy.to(new InetSocketAddress(InetAddress.getLoopbackAddress(), free));
                Socket socket = new Socket(
                        nobody.address().getAddress(), nobody.address().getPort())) {
            socket.setSoTimeout(30_000);
            assertThatThrownBy(() -> {
                        if (socket.getInputStream().read() < 0) {
                            throw new SocketException("ended");
                        }
                    })
                    .isInstanceOf(SocketException.class);
        }
    }

    @Test
    void aClosedProxyRefusesCommandsAndLeavesNoThread() {
        proxy.close();
        proxy.close();
        assertThatThrownBy(() -> proxy.reset())
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("closed");
        assertThat(Thread.getAllStackTraces().keySet())
                .extracting(Thread::getName)
                .doesNotContain("fault-proxy-" + proxy.address().getPort());
    }
}
