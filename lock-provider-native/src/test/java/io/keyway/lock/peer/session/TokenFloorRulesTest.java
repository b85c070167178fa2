// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a member makes of a floor of tokens in a hello. */
class TokenFloorRulesTest {
    private static final Incarnation FIRST = new Incarnation(7, 1);
    private static final Incarnation SECOND = new Incarnation(7, 2);
    private static final long LAST_EPOCH = 1000;
    private static final long FLOOR = 500L << 31;

    private final World world = new World(
            settings(),
            settings(),
            new Membership("b:1", List.of("b:1"), 0, 1, true, 0, LAST_EPOCH),
            SessionTarget.ONLY_MEMBER);

    private static SessionSettings settings() {
        return SessionSettings.of("c", 11, 22, Numbered.ID, World.MAX_TTL, Authenticator.none());
    }

    /** A client introduces itself on a new link. */
    private void hello(long link, Incarnation client, long floor) {
        Nonce nonce = new Nonce(3, link);
        Hello hello = new Hello(
                1,
                1,
                "c",
                11,
                0,
                Numbered.ID,
                Role.CLIENT,
                "",
                "b:1",
                0,
                client,
                nonce,
                link,
                0,
                0,
                floor,
                List.of(),
                null);
        world.open.add(link);
        world.member.input(new Input.Opened(link));
        world.member.input(new Input.Arrived(link, hello));
        Challenge challenge = world.member.lastSent(Challenge.class);
        byte[] transcript =
                Handshake.transcript(Role.CLIENT, hello, challenge.wire(), challenge.member(), challenge.nonce());
        world.member.input(
                new Input.Arrived(link, new Proof(Authenticator.none().prove(transcript))));
    }

    private Refuse refused() {
        return world.member.lastSent(Refuse.class);
    }

    @Test
    void theMemberGoesOnInAnEpochAboveIt() {
        hello(60, FIRST, FLOOR);
        assertThat(world.member.sent).as("before it is on disk").noneMatch(Welcome.class::isInstance);
        world.member.force();
        assertThat(world.member.lastSent(Welcome.class).epoch()).isEqualTo(501);
        hello(61, SECOND, FLOOR);
        assertThat(world.open).contains(60L, 61L);
        assertThat(world.memberSide().epoch()).isEqualTo(501);
    }

    @Test
    void itIsNotRaisedBesideASessionOfAnother() {
        hello(60, FIRST, 0);
        long epoch = world.memberSide().epoch();
        hello(61, SECOND, FLOOR);
        assertThat(refused()).isEqualTo(new Refuse(RefuseCode.HIGH_FLOOR, "tokenFloor", "1", Long.toString(FLOOR)));
        assertThat(world.memberSide().epoch()).isEqualTo(epoch);
        world.member.input(new Input.Closed(60, "the process ended"));
        hello(62, SECOND, FLOOR);
        assertThat(world.open).as("a session outlives its link").doesNotContain(62L);
        world.pass(2 * World.MAX_TTL);
        hello(63, SECOND, FLOOR);
        assertThat(world.memberSide().epoch()).isEqualTo(501);
    }

    @Test
    void aLowerOneIsRefused() {
        hello(60, FIRST, FLOOR);
        world.member.force();
        hello(61, SECOND, FLOOR - 1);
        assertThat(refused())
                .isEqualTo(
                        new Refuse(RefuseCode.LOW_FLOOR, "tokenFloor", Long.toString(FLOOR), Long.toString(FLOOR - 1)));
        hello(62, SECOND, 0);
        assertThat(world.open).as("who gives none").contains(62L);
    }

    @Test
    void oneThatLeavesNoEpochsIsRefusedAndChangesNothing() {
        long epoch = world.memberSide().epoch();
        for (long floor : new long[] {Long.MAX_VALUE, LAST_EPOCH << 31}) {
            hello(60 + (floor & 1), FIRST, floor);
            assertThat(refused().code()).isEqualTo(RefuseCode.PROTOCOL);
            assertThat(world.memberSide().epoch()).isEqualTo(epoch);
        }
        hello(62, FIRST, FLOOR);
        assertThat(world.memberSide().epoch()).isEqualTo(501);
    }
}
