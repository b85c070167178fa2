// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.security.SecuritySettings;
import io.keyway.lock.peer.session.Authenticator;
import io.keyway.lock.peer.session.Mac;
import io.keyway.lock.peer.session.RefuseCode;
import io.keyway.lock.peer.session.SessionFrame;
import io.keyway.lock.peer.wire.FrameCodec;
import io.keyway.lock.tck.process.Signals;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * What comes to a member's port: hellos go to the cell that they name, and everything else ends with a word, at bounded
 * cost.
 */
class MemberAcceptorTest {
    private static final MemberAcceptor.Limits FEW = new MemberAcceptor.Limits(8, 4, Duration.ofSeconds(30));
    private static final MemberAcceptor.Limits SHORT = new MemberAcceptor.Limits(8, 4, Duration.ofMillis(100));
    private static final SessionFrame PROOF = new SessionFrame.Proof(new Mac(new byte[32]));
    private static final SessionFrame DATA = new SessionFrame.Data(1, 1, 0, true, 1, 0, List.of());

    private @Nullable TcpMember member;

    private TcpMember member(String secret, MemberAcceptor.Limits limits) throws Exception {
        Optional<String> given = secret.isEmpty() ? Optional.empty() : Optional.of(secret);
        Security security = Security.of(new SecuritySettings(
                given,
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                Optional.empty(),
                false,
                false,
                Optional.empty(),
                UnaryOperator.identity()));
        TcpMember started = new TcpMember(2, security, limits);
        member = started;
        return started;
    }

    @AfterEach
    void end() {
        if (member != null) {
            member.close();
        }
    }

    private static void logged(TcpMember member, String words) {
        Signals.until("a line about: " + words, () -> member.log.stream().anyMatch(line -> line.contains(words)));
        assertThat(member.log).allMatch(line -> line.startsWith("a connection to m from 127.0.0.1:"));
    }

    /** Sends that; returns what is answered before the connection is closed. */
    private static String answer(TcpMember member, byte... bytes) throws Exception {
        try (RawPeer peer = member.connect()) {
            peer.trySend(bytes);
            return peer.readToEnd();
        }
    }

    @Test
    void aHelloIsAnsweredByTheCellThatItNames() throws Exception {
        TcpMember member = member("", FEW);
        List<RawPeer> peers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            RawPeer peer = member.connect();
            peers.add(peer);
            member.welcomed(peer, i % 2);
        }
        // They stand beside each other: none is half-open, so none had to go.
        Signals.until("all have proved themselves", () -> member.acceptor.halfOpen() == 0);
        assertThat(member.log).isEmpty();
        for (RawPeer peer : peers) {
            peer.close();
        }
    }

    @Test
    void aCellThatIsNotThereIsNamedToWhoeverHasProvedItself() throws Exception {
        TcpMember member = member("", FEW);
        try (RawPeer peer = member.connect()) {
            assertThat(peer.introduce(member.hello(63), Authenticator.none()))
                    .isEqualTo(new SessionFrame.Refuse(RefuseCode.SHARD, "shard", "0", "63"));
        }
    }

    @Test
    void aHelloMayComeByteByByte() throws Exception {
        TcpMember member = member("", FEW);
        try (RawPeer peer = member.connect()) {
            for (byte each : RawPeer.bytes(member.hello(1))) {
                peer.send(each);
            }
            assertThat(peer.read()).isInstanceOf(SessionFrame.Challenge.class);
        }
    }

    @Test
    void whoeverSpeaksHttpIsToldSoInHttp() throws Exception {
        TcpMember member = member("", FEW);
        assertThat(answer(member, "GET / HTTP/1.1\r\nHost: a\r\n\r\n".getBytes(StandardCharsets.US_ASCII)))
                .startsWith("HTTP/1.1 400 ")
                .contains("does not speak HTTP");
        logged(member, "it speaks HTTP");
    }

    @Test
    void whoeverSpeaksTlsIsRefusedWithoutIt() throws Exception {
        TcpMember member = member("", FEW);
        try (RawPeer peer = member.connect()) {
            peer.send((byte) 0x16, (byte) 3, (byte) 1, (byte) 1, (byte) 0);
            assertThat(peer.read()).isEqualTo(new SessionFrame.Refuse(RefuseCode.PROTOCOL, "", "", ""));
            assertThat(peer.read()).isNull();
        }
        logged(member, "it speaks TLS and this member does not");
    }

    @Test
    @Timeout(20) // and not when its time for a hello is over
    void garbageEndsTheConnectionWithoutAWord() throws Exception {
        TcpMember member = member("", FEW);
        byte[] garbage = new byte[5000];
        new SplittableRandom(3).nextBytes(garbage);
        garbage[0] = (byte) 0x9c;
        assertThat(answer(member, garbage)).isEmpty();
        logged(member, "bytes that no peer sends");
        int tooLong = FrameCodec.MAX_HANDSHAKE + 1;
        assertThat(answer(member, (byte) 0, (byte) 0, (byte) (tooLong >> 8), (byte) tooLong))
                .as("too long for a hello")
                .isEmpty();
        assertThat(answer(member, (byte) 0, (byte) 0, (byte) 0, (byte) 0)).isEmpty();
        assertThat(answer(member, "SSH-2.0-x\r\n".getBytes(StandardCharsets.US_ASCII)))
                .isEmpty();
    }

    @Test
    void validFramesInAnInvalidOrderEndTheConnection() throws Exception {
        TcpMember member = member("", FEW);
        for (SessionFrame first : List.of(PROOF, DATA)) {
            try (RawPeer peer = member.connect()) {
                peer.send(first);
                assertThat(peer.read()).as("after %s", first).isNull();
            }
        }
        logged(member, "it says no hello first");
        try (RawPeer peer = member.connect()) {
            byte[] hello = RawPeer.bytes(member.hello(0));
            byte[] both = Arrays.copyOf(hello, hello.length + 4);
            peer.send(both);
            assertThat(peer.read()).as("more after the hello").isNull();
        }
        try (RawPeer peer = member.connect()) {
            peer.send(member.hello(0));
            assertThat(peer.read()).isInstanceOf(SessionFrame.Challenge.class);
            peer.send(DATA);
            assertThat(peer.read()).as("data for a proof").isNull();
        }
        try (RawPeer peer = member.connect()) {
            SessionFrame.Welcome welcome = member.welcomed(peer, 1);
            peer.send(member.hello(1)); // as if the network had doubled it
            peer.send(new SessionFrame.Data(welcome.session() + 1, 1, 0, true, 1, 0, List.of()));
            assertThat(peer.read()).as("after data of another session").isNull();
        }
        try (RawPeer peer = member.connect()) {
            member.welcomed(peer, 0);
        }
    }

    @Test
    void anotherVersionIsToldBoth() throws Exception {
        TcpMember member = member("", FEW);
        try (RawPeer peer = member.connect()) {
            byte[] hello = RawPeer.bytes(member.hello(0));
            hello[4] = 2;
            peer.send(hello);
            assertThat(peer.read()).isEqualTo(new SessionFrame.Refuse(RefuseCode.WIRE, "wire version", "1", "2"));
            assertThat(peer.read()).isNull();
        }
        logged(member, "wire version 2");
    }

    @Test
    void whoeverHasAnotherSecretIsRefused() throws Exception {
        TcpMember member = member("the secret of this cluster", FEW);
        byte[] other = "the secret of another one".getBytes(StandardCharsets.US_ASCII);
        for (Authenticator wrong : List.of(Authenticator.none(), Authenticator.sharedSecret(other))) {
            try (RawPeer peer = member.connect()) {
                assertThat(peer.introduce(member.hello(1), wrong))
                        .isEqualTo(new SessionFrame.Refuse(RefuseCode.NOT_AUTHENTICATED, "", "", ""));
                assertThat(peer.read()).isNull();
                assertThat(new String(peer.seen(), StandardCharsets.ISO_8859_1)).doesNotContain("secret");
            }
        }
        logged(member, "it did not prove that it knows the secret");
        try (RawPeer peer = member.connect()) {
            member.welcomed(peer, 1);
        }
    }

    @Test
    void aClientThatFindsThatTheMemberHasAnotherSecretLeavesATrace() throws Exception {
        TcpMember member = member("the secret of this cluster", FEW);
        try (RawPeer peer = member.connect()) {
            peer.send(member.hello(1));
            assertThat(peer.read()).isInstanceOf(SessionFrame.Challenge.class);
        }
        logged(member, "or another secret");
    }

    @Test
    void whoeverSaysNothingMakesRoomForOthers() throws Exception {
        TcpMember member = member("", FEW);
        List<RawPeer> silent = new ArrayList<>();
        for (int i = 0; i < 1000; i++) {
            silent.add(member.connect());
        }
        try (RawPeer peer = member.connect()) {
            member.welcomed(peer, 1);
        }
        assertThat(silent.get(0).read()).as("the oldest went").isNull();
        Signals.until("no more than allowed are left", () -> member.acceptor.halfOpen() <= FEW.mostPerAddress());
        logged(member, "it was the oldest of too many");
        try (RawPeer peer = silent.get(999)) {
            member.welcomed(peer, 0);
        }
        for (RawPeer each : silent) {
            each.close();
        }
        Signals.until("none is left", () -> member.acceptor.halfOpen() == 0);
    }

    @Test
    void whoeverIsHandedOverAndProvesNothingCountsTooUntilItGoes() throws Exception {
        TcpMember member = member("", FEW);
        List<RawPeer> greeted = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            RawPeer peer = member.connect();
            greeted.add(peer);
            peer.send(member.hello(i % 2));
        }
        int answered = 0;
        for (RawPeer peer : greeted.subList(46, 50)) {
            answered += peer.read() instanceof SessionFrame.Challenge ? 1 : 0;
        }
        assertThat(answered).isEqualTo(FEW.mostPerAddress());
        assertThat(member.acceptor.halfOpen()).isLessThanOrEqualTo(FEW.mostPerAddress());
        for (RawPeer peer : greeted.subList(0, 46)) {
            assertThat(peer.readToEnd()).hasSizeLessThan(200);
        }
        for (RawPeer peer : greeted) {
            peer.close();
        }
        Signals.until("none is left", () -> member.acceptor.halfOpen() == 0);
    }

    @Test
    void halfAHelloIsWaitedForAMomentOnly() throws Exception {
        TcpMember member = member("", SHORT);
        try (RawPeer peer = member.connect()) {
            byte[] hello = RawPeer.bytes(member.hello(0));
            peer.send(Arrays.copyOf(hello, hello.length / 2));
            assertThat(peer.read()).isNull();
        }
        logged(member, "it did not say hello in time");
    }
}
