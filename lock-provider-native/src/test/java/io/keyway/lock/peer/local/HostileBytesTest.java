// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.algorithms.Algorithms;
import io.keyway.lock.peer.member.HostElection;
import io.keyway.lock.peer.net.RawPeer;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What arrives at the socket of a host that serves others: the connection ends, the log says so in one line, and nobody
 * else feels it.
 */
class HostileBytesTest {
    private static final int MANY = 1_000;
    /** So long that no process of a busy machine stands still until its lease is over. */
    private static final Duration TTL = Patience.lease(Duration.ofSeconds(6));

    private static final String CLOSED = "a connection to this process was closed: ";

    @TempDir
    static Path directory;

    private static BeliefCrew crew;
    private static LocalConfig place;
    private static SocketAddress host;
    private static long start;

    @BeforeAll
    static void serve() throws IOException, InterruptedException {
        start = System.nanoTime();
        crew = new BeliefCrew(directory, TTL, "");
        crew.history().start();
        crew.history().awaitProgress("of the host");
        crew.history().start();
        crew.history().awaitProgress("of both");
        host = new HostElection(crew.locks()).info().orElseThrow().address();
        place = LocalConfig.of(crew.locks(), TTL, Algorithms.standard(), Duration.ofSeconds(5));
    }

    @AfterEach
    void nobodyFeelsIt() {
        crew.history().awaitProgress("after all that");
        assertThat(crew.history().logged(CLOSED)).isPositive();
        assertThat(crew.history().refusals()).isEmpty();
        assertThat(crew.history().losses()).isZero();
    }

    @AfterAll
    static void theLogIsShort() throws IOException, InterruptedException {
        try {
            long periods = Duration.ofNanos(System.nanoTime() - start).toSeconds() / 10;
            assertThat(crew.history().logged(CLOSED))
                    .as("one line in ten seconds")
                    .isLessThanOrEqualTo(1 + (int) periods);
            crew.history().endAndCheck("hostile bytes", 10);
        } finally {
            crew.close();
        }
    }

    private void closed(byte... bytes) throws Exception {
        try (RawPeer peer = new RawPeer(host)) {
            peer.send(bytes);
            assertThat(peer.read()).isNull();
        }
    }

    @Test
    void whatIsNoFrame() throws Exception {
        byte[] garbage = new byte[512];
        new SplittableRandom(3).nextBytes(garbage);
        garbage[0] = (byte) 0x9c;
        closed(garbage);
        closed((byte) 0x7f, (byte) 0xff, (byte) 0xff, (byte) 0xff); // 2 GiB less one
        closed("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
        closed((byte) 0, (byte) 0, (byte) 0, (byte) 0);
        closed((byte) 0, (byte) 0, (byte) 0, (byte) 2, (byte) 1, (byte) 99);
    }

    @Test
    @Tag("soak")
    void aFrameThatEndsInTheMiddleIsWaitedForSomeSecondsOnly() throws Exception {
        try (RawPeer peer = new RawPeer(host);
                RawPeer impatient = new RawPeer(host)) {
            byte[] hello = RawPeer.bytes(LocalHello.of(place, 1, 1));
            peer.send(Arrays.copyOf(hello, hello.length / 2));
            impatient.send(Arrays.copyOf(hello, hello.length / 2));
            impatient.close();
            assertThat(peer.read()).isNull();
        }
    }

    @Test
    void validFramesOutOfOrder() throws Exception {
        SessionFrame proof = new SessionFrame.Proof(new Mac(new byte[32]));
        SessionFrame data = new SessionFrame.Data(1, 1, 0, true, 1, 0, List.of());
        SessionFrame welcome =
                new SessionFrame.Welcome(1, 0, LocalConfig.NODE, 1, 0, 0, List.of(LocalConfig.NODE), 1, false, 0);
        for (SessionFrame first : List.of(proof, data, welcome)) {
            try (RawPeer peer = new RawPeer(host)) {
                peer.send(first);
                assertThat(peer.read()).as("after %s", first).isNull();
            }
        }
        try (RawPeer peer = new RawPeer(host)) {
            peer.send(LocalHello.of(place, 1, 1));
            assertThat(peer.read()).isInstanceOf(SessionFrame.Challenge.class);
            peer.send(proof);
            assertThat(peer.read())
                    .isInstanceOfSatisfying(
                            SessionFrame.Refuse.class,
                            refuse -> assertThat(refuse.code()).isEqualTo(RefuseCode.NOT_AUTHENTICATED));
            assertThat(peer.read()).isNull();
        }
    }

    @Test
    void aPeerOfAnotherVersionIsToldBothVersions() throws Exception {
        try (RawPeer peer = new RawPeer(host)) {
            peer.send(LocalHello.of(place, 2, 3));
            assertThat(peer.read()).isEqualTo(new SessionFrame.Refuse(RefuseCode.WIRE, "wire version", "1", "2 to 3"));
            assertThat(peer.read()).isNull();
        }
        try (RawPeer peer = new RawPeer(host)) {
            byte[] hello = RawPeer.bytes(LocalHello.of(place, 1, 1));
            hello[4] = 2; // all of it in the layout of a version to come
            peer.send(hello);
            assertThat(peer.read()).isEqualTo(new SessionFrame.Refuse(RefuseCode.WIRE, "wire version", "1", "2"));
            assertThat(peer.read()).isNull();
        }
    }

    @Test
    @Tag("soak")
    void aThousandConnectionsThatSayNothing() throws Exception {
        List<RawPeer> silent = new ArrayList<>();
        try {
            for (int i = 0; i < MANY; i++) {
                silent.add(new RawPeer(host));
            }
            crew.history().awaitProgress("beside them");
            crew.history().start();
            crew.history().awaitProgress("of one that came later");
            assertThat(silent.get(0).read()).as("the oldest go first").isNull();
        } finally {
            for (RawPeer each : silent) {
                each.close();
            }
        }
    }
}
