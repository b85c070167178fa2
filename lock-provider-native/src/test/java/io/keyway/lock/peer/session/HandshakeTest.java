// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Data;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Resume;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class HandshakeTest {
    private static final long MS = World.MS;
    private static final long TTL = 10_000 * MS;

    private static Authenticator secret(String text) {
        return Authenticator.sharedSecret(text.getBytes(StandardCharsets.UTF_8));
    }

    private static World refused(SessionSettings ofMember, SessionSettings ofClient) {
        World world = new World(ofMember, ofClient);
        world.client.work(turn -> turn.client().await(Numbered.KEY, TTL));
        world.settle();
        assertThat(world.clientSide().exists()).isFalse();
        return world;
    }

    private static Unreachable told(World world) {
        assertThat(world.client.told(Unreachable.class)).hasSize(1);
        return world.client.told(Unreachable.class).get(0);
    }

    @Test
    void bothEndsProveThatTheyKnowTheSecret() {
        World world = new World(World.settings("c", secret("s")), World.settings("c", secret("s")));
        world.connect(TTL);
        assertThat(world.client.lastSent(Proof.class).mac())
                .isNotEqualTo(world.member.lastSent(Challenge.class).mac());
    }

    static List<Arguments> otherSecrets() {
        return List.of(
                Arguments.of(secret("theirs"), secret("ours"), "did not prove", "it has another one than this end"),
                Arguments.of(Authenticator.none(), secret("ours"), "did not prove", "it has none"),
                Arguments.of(secret("theirs"), Authenticator.none(), "this end has none", "add secretFile"));
    }

    @ParameterizedTest
    @MethodSource("otherSecrets")
    void aMemberWithAnotherSecretGetsNoProof(Authenticator ofMember, Authenticator ofClient, String what, String why) {
        World world = refused(World.settings("c", ofMember), World.settings("c", ofClient));
        assertThat(told(world).final_()).isTrue();
        assertThat(told(world).why()).contains(what, why);
        assertThat(world.client.sent).noneMatch(Proof.class::isInstance);
    }

    @Test
    void aClientWithoutTheSecretLearnsNothingButThat() {
        Authenticator forger = new Authenticator() {
            @Override
            public Mac prove(byte[] transcript) {
                return new Mac(new byte[32]);
            }

            @Override
            public boolean accepts(byte[] transcript, Mac mac) {
                return true;
            }
        };
        World world = refused(World.settings("one", secret("s")), World.settings("other", forger));
        assertThat(world.member.lastSent(Refuse.class)).isEqualTo(new Refuse(RefuseCode.NOT_AUTHENTICATED, "", "", ""));
        assertThat(told(world).final_()).isTrue();
    }

    @Test
    void aDifferenceIsToldWithBothValuesAfterTheProof() {
        World world = refused(World.settings("orders", secret("s")), World.settings("payments", secret("s")));
        assertThat(world.member.lastSent(Refuse.class))
                .isEqualTo(new Refuse(RefuseCode.CLUSTER, "cluster", "orders", "payments"));
        assertThat(told(world).why()).contains("the members are of cluster orders, the URL says payments");
    }

    private static SessionSettings client(long settings, long members, int algorithm, int wireLow, int wireHigh) {
        Authenticator none = Authenticator.none();
        return new SessionSettings(
                "c", settings, members, "", "", algorithm, World.MAX_TTL, wireLow, wireHigh, 5_000 * MS, 256, none);
    }

    static List<Arguments> differences() {
        return List.of(
                Arguments.of(RefuseCode.SETTINGS, client(9, 22, Numbered.ID, 1, 1)),
                Arguments.of(RefuseCode.ALGORITHM, client(11, 22, 8, 1, 1)),
                Arguments.of(RefuseCode.WIRE, client(11, 22, Numbered.ID, 2, 3)));
    }

    @ParameterizedTest
    @MethodSource("differences")
    void eachDifferenceHasItsCode(RefuseCode code, SessionSettings client) {
        World world = refused(World.settings("c", Authenticator.none()), client);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(code);
        assertThat(told(world).final_()).isTrue();
    }

    @Test
    void everyFieldOfHelloAndChallengeIsProved() {
        Hello hello = hello(1, null);
        Incarnation member = World.MEMBER;
        Nonce nonce = new Nonce(5, 6);
        List<byte[]> transcripts = new ArrayList<>(List.of(
                Handshake.transcript(Role.CLIENT, hello, 1, member, nonce),
                Handshake.transcript(Role.MEMBER, hello, 1, member, nonce),
                Handshake.transcript(Role.CLIENT, hello, 2, member, nonce),
                Handshake.transcript(Role.CLIENT, hello, 1, World.CLIENT, nonce),
                Handshake.transcript(Role.CLIENT, hello, 1, member, new Nonce(5, 7)),
                Handshake.transcript(Role.CLIENT, hello(2, null), 1, member, nonce),
                Handshake.transcript(Role.CLIENT, hello(1, new Resume(member, 1, 1)), 1, member, nonce),
                Handshake.transcript(Role.CLIENT, hello(1, new Resume(member, 1, 2)), 1, member, nonce)));
        Set<String> distinct = new HashSet<>();
        transcripts.forEach(bytes -> distinct.add(HexFormat.of().formatHex(bytes)));
        assertThat(distinct).hasSameSizeAs(transcripts);
    }

    private static Hello hello(long attempt, Resume resume) {
        return new Hello(
                1,
                1,
                "c",
                11,
                22,
                Numbered.ID,
                Role.CLIENT,
                "",
                "",
                0,
                World.CLIENT,
                new Nonce(1, 2),
                attempt,
                0,
                0,
                List.of(new Seen("a:1", 3, World.MEMBER)),
                resume);
    }

    @Test
    void aLinkThatProvesNothingIsHungUpInTimeAndCostsNoSession() {
        World world = new World();
        world.open.add(50L);
        world.member.input(new Input.Opened(50));
        assertThat(world.member.cell.nextDue()).isEqualTo(world.now + 5_000 * MS);
        world.pass(5_000 * MS);
        assertThat(world.open).isEmpty();
        assertThat(world.memberSide().lastSession()).isZero();
        assertThat(world.member.cell.nextDue()).isEqualTo(Turn.NEVER);
    }

    @Test
    void ofTooManyLinksWithoutProofTheOldestAreHungUp() {
        World world = new World();
        for (long link = 1000; link < 1300; link++) {
            world.open.add(link);
            world.member.input(new Input.Opened(link));
        }
        assertThat(world.open).hasSize(256).contains(1299L).doesNotContain(1043L);
    }

    @Test
    void dataBeforeTheWelcomeIsHungUp() {
        World world = new World();
        world.open.add(50L);
        world.member.input(new Input.Opened(50));
        world.member.input(new Input.Arrived(50, new Data(1, 1, 0, true, 1, 0, List.of(World.number(1)))));
        assertThat(world.open).isEmpty();
        assertThat(world.member.heard()).isEmpty();
    }

    @Test
    void aProofThatComesLateNeverReplacesANewerLink() {
        World world = new World();
        Cell member = world.member.cell;
        Input old = proof(world, 60, 1);
        Input young = proof(world, 61, 2);
        world.member.input(young);
        Welcome welcome = world.member.lastSent(Welcome.class);
        world.member.input(old);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.STALE_ATTEMPT);
        assertThat(world.open).contains(61L).doesNotContain(60L);
        assertThat(world.memberSide().client(welcome.session())).isEqualTo(World.CLIENT);
        assertThat(world.memberSide().lastSession()).isEqualTo(1);
        assertThat(member).isSameAs(world.member.cell);
    }

    @Test
    void aProofThatComesAfterTheEndOfItsSessionMakesNoGhost() {
        World world = new World();
        Input old = proof(world, 60, 1);
        world.member.input(proof(world, 61, 2));
        long session = world.member.lastSent(Welcome.class).session();
        world.member.input(new Input.Died(session));
        world.member.input(old);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.STALE_ATTEMPT);
        assertThat(world.memberSide().size()).isZero();
        assertThat(world.memberSide().remembers(World.CLIENT)).isTrue();
        world.pass(10_000 * MS);
        assertThat(world.memberSide().remembers(World.CLIENT))
                .as("once no proof of that time can be on its way")
                .isFalse();
    }

    @Test
    void aResumptionThatHasHeardWhatWasNeverSentIsRefused() {
        World world = new World();
        world.member.input(proof(world, 60, 1));
        long session = world.member.lastSent(Welcome.class).session();
        world.member.input(proof(world, 61, 2, new Resume(World.MEMBER, session, 1)));
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.PROTOCOL);
        assertThat(world.memberSide().client(session))
                .as("and costs no session")
                .isEqualTo(World.CLIENT);
    }

    @Test
    void aNewerLinkTakesTheSessionOverAndTheOlderOneCountsNoMore() {
        World world = new World();
        world.member.input(proof(world, 60, 1));
        long session = world.member.lastSent(Welcome.class).session();
        Resume resume = new Resume(World.MEMBER, session, 0);
        world.member.input(proof(world, 61, 2, resume));
        assertThat(world.member.lastSent(Welcome.class).session()).isEqualTo(session);
        assertThat(world.open).doesNotContain(60L);
        world.member.input(new Input.Arrived(60, new Data(session, 1, 0, true, 1, 0, List.of(World.number(1)))));
        assertThat(world.member.heard()).isEmpty();
        world.member.input(new Input.Arrived(61, new Data(session, 1, 0, true, 1, 0, List.of(World.number(2)))));
        assertThat(world.member.heard()).containsExactly(2L);
    }

    @Test
    void aFreshSessionEndsTheFormerOneOfThatClient() {
        World world = new World();
        world.member.input(proof(world, 60, 1));
        long former = world.member.lastSent(Welcome.class).session();
        world.member.input(proof(world, 61, 2));
        assertThat(world.memberSide().client(former)).isNull();
        assertThat(world.memberSide()
                        .client(world.member.lastSent(Welcome.class).session()))
                .isEqualTo(World.CLIENT);
    }

    @Test
    void aSessionIsResumedByItsOwnClientOnly() {
        World world = new World();
        world.member.input(proof(world, 60, 1));
        long session = world.member.lastSent(Welcome.class).session();
        Hello hello = hello(1, new Resume(World.MEMBER, session, 0));
        Hello thief = new Hello(
                1,
                1,
                "c",
                11,
                22,
                Numbered.ID,
                Role.CLIENT,
                "",
                "",
                0,
                new Incarnation(6, 6),
                hello.nonce(),
                1,
                0,
                0,
                List.of(),
                hello.resume());
        world.member.input(proof(world, 61, thief));
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.UNKNOWN_SESSION);
        assertThat(world.open).contains(60L);
    }

    private static Input proof(World world, long link, long attempt) {
        return proof(world, link, attempt, null);
    }

    private static Input proof(World world, long link, long attempt, Resume resume) {
        return proof(world, link, hello(attempt, resume));
    }

    /** Says hello on a new link and returns the proof, not yet delivered. */
    private static Input proof(World world, long link, Hello hello) {
        world.open.add(link);
        world.member.input(new Input.Opened(link));
        world.member.input(new Input.Arrived(link, hello));
        Challenge challenge = world.member.lastSent(Challenge.class);
        byte[] transcript =
                Handshake.transcript(Role.CLIENT, hello, challenge.wire(), challenge.member(), challenge.nonce());
        return new Input.Arrived(link, new Proof(Authenticator.none().prove(transcript)));
    }

    /** As a member does that cannot read what the client sends over each link. */
    @Test
    void aLinkThatBreaksRightAfterItsWelcomeIsDialledMoreAndMoreSeldom() {
        World world = new World();
        world.connect(World.MAX_TTL);
        int before = world.dials;
        for (int i = 0; i < 1_000; i++) {
            if (!world.open.isEmpty()) {
                world.cut(world.open.first());
            }
            world.pass(10 * World.MS);
        }
        assertThat(world.dials - before).as("in ten seconds").isBetween(8, 40);
        world.pass(5_000 * World.MS);
        assertThat(world.clientSide().connected()).isTrue();
        before = world.dials;
        world.cut(world.open.first());
        world.pass(20 * World.MS);
        assertThat(world.dials - before)
                .as("after a link that was good for some seconds")
                .isEqualTo(1);
    }

    @Test
    void eachLinkHasNoncesOfItsOwn() {
        World world = new World();
        world.connect(World.MAX_TTL);
        for (long link = 1; link <= 5; link++) {
            world.cut(link);
            world.pass(2_000 * World.MS);
        }
        List<Nonce> nonces = new ArrayList<>();
        world.client.sent.forEach(frame -> {
            if (frame instanceof Hello hello) {
                nonces.add(hello.nonce());
            }
        });
        world.member.sent.forEach(frame -> {
            if (frame instanceof Challenge challenge) {
                nonces.add(challenge.nonce());
            }
        });
        assertThat(nonces).hasSize(12).doesNotHaveDuplicates();
    }
}
