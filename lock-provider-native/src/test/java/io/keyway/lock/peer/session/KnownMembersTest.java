// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Seen;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a member makes of the lives of the other ones. */
class KnownMembersTest {
    private static final List<String> MEMBERS = List.of("a:1", "b:1", "c:1");
    private static final Incarnation FIRST = new Incarnation(7, 1);
    private static final Incarnation SECOND = new Incarnation(7, 2);
    private static final long LAST_EPOCH = 1000;

    private final World world = new World(
            settings(),
            settings(),
            new Membership("b:1", MEMBERS, 0, 1, true, 0, LAST_EPOCH),
            SessionTarget.ONLY_MEMBER);

    private static SessionSettings settings() {
        return SessionSettings.of("c", 11, 22, Numbered.ID, World.MAX_TTL, Authenticator.none());
    }

    /** A member introduces itself on a new link. */
    private void hello(long link, String from, Incarnation life, Seen... seen) {
        Nonce nonce = new Nonce(3, link);
        Hello hello = new Hello(
                1, 1, "c", 11, 22, Numbered.ID, Role.MEMBER, from, "b:1", 0, life, nonce, 1, 0, 0, List.of(seen), null);
        world.open.add(link);
        world.member.input(new Input.Opened(link));
        world.member.input(new Input.Arrived(link, hello));
        Challenge challenge = world.member.lastSent(Challenge.class);
        byte[] transcript =
                Handshake.transcript(Role.CLIENT, hello, challenge.wire(), challenge.member(), challenge.nonce());
        world.member.input(
                new Input.Arrived(link, new Proof(Authenticator.none().prove(transcript))));
    }

    /** It comes after its former life, if there was one, and is let in once the member's disk has what it needs. */
    private Welcome welcome(long link, String from, Incarnation life) {
        if (world.open.contains(link - 1)) {
            world.member.input(new Input.Closed(link - 1, "the process ended"));
        }
        hello(link, from, life);
        world.member.force();
        return world.member.lastSent(Welcome.class);
    }

    @Test
    void aMemberOfWhomAFormerLifeWasMetIsNotToldThatTheClusterIsFresh() {
        assertThat(welcome(60, "a:1", FIRST).fresh()).isTrue();
        assertThat(welcome(61, "a:1", SECOND).fresh())
                .as("its file was lost, whatever its operator says")
                .isFalse();
        assertThat(welcome(63, "c:1", new Incarnation(9, 1)).fresh())
                .as("of the others nothing is known")
                .isTrue();
    }

    @Test
    void eachLifeOfAMemberIsToldAHigherEpochThanTheOneBefore() {
        long epoch = world.memberSide().epoch();
        assertThat(welcome(60, "a:1", FIRST).leastEpoch()).isEqualTo(epoch);
        assertThat(welcome(61, "a:1", FIRST).leastEpoch())
                .as("the same life again")
                .isEqualTo(epoch);
        world.member.input(new Input.Closed(61, "the process ended"));
        hello(62, "a:1", SECOND);
        assertThat(world.member.unforced.values())
                .as("what is told must outlive this member")
                .allSatisfy(
                        promise -> assertThat(((MemberPromise) promise).epoch()).isEqualTo(epoch + 1))
                .hasSize(1);
        assertThat(world.member.lastSent(Welcome.class).leastEpoch())
                .as("nothing is told before it is on disk")
                .isEqualTo(epoch);
        world.member.force();
        Welcome second = world.member.lastSent(Welcome.class);
        assertThat(second.leastEpoch()).isEqualTo(epoch + 1);
        assertThat(second.epoch()).as("its own stays what it is").isEqualTo(epoch);
        assertThat(welcome(64, "c:1", new Incarnation(9, 1)).leastEpoch()).isEqualTo(epoch + 1);
    }

    @Test
    void aSecondProcessUnderOneIdIsRefused() {
        hello(60, "a:1", FIRST);
        world.pass(500 * World.MS);
        hello(61, "a:1", SECOND);
        assertThat(world.member.lastSent(Refuse.class))
                .isEqualTo(new Refuse(RefuseCode.DOUBLED, "member", "link 60", "link 61"));
        hello(62, "a:1", SECOND);
        assertThat(world.member.notices)
                .as("and told once")
                .containsOnlyOnce(new DuplicateMember("a:1", "link 60", "link 61"));
        assertThat(world.open).as("the first one stays").contains(60L).doesNotContain(61L, 62L);
    }

    @Test
    void aLifeThatIsSilentIsTakenForOneThatIsOver() {
        hello(60, "a:1", FIRST);
        world.pass(2_500 * World.MS);
        hello(61, "a:1", SECOND);
        assertThat(world.open).contains(61L);
    }

    @Test
    void whoDoesNotSayWhichMemberItIsIsNoMember() {
        hello(60, "", FIRST);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.ROLE);
        hello(61, "b:1", FIRST);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.ROLE);
        hello(62, "d:1", FIRST);
        assertThat(world.member.lastSent(Refuse.class).code()).isEqualTo(RefuseCode.ROLE);
    }

    @Test
    void anEpochBeyondBeliefIsRefusedAndChangesNothing() {
        long epoch = world.memberSide().epoch();
        hello(60, "a:1", FIRST, new Seen("b:1", LAST_EPOCH + 1, FIRST));
        assertThat(world.member.lastSent(Refuse.class))
                .isEqualTo(
                        new Refuse(RefuseCode.PROTOCOL, "epoch", Long.toString(epoch), Long.toString(LAST_EPOCH + 1)));
        assertThat(world.memberSide().epoch()).isEqualTo(epoch);
        hello(61, "a:1", FIRST, new Seen("b:1", LAST_EPOCH, FIRST));
        assertThat(world.memberSide().epoch()).isEqualTo(LAST_EPOCH + 1);
    }
}
