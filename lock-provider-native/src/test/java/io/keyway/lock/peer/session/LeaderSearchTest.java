// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.ClientView.SessionGone;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.SessionFrame.Challenge;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import io.keyway.lock.peer.session.SessionFrame.Proof;
import io.keyway.lock.peer.session.SessionFrame.Refuse;
import io.keyway.lock.peer.session.SessionFrame.Role;
import io.keyway.lock.peer.session.SessionFrame.Wait;
import io.keyway.lock.peer.session.SessionFrame.Welcome;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A client that asks five members in turn whether they lead. */
class LeaderSearchTest {
    private static final long MS = World.MS;
    private static final int MEMBERS = 5;
    private static final Incarnation FOLLOWER = new Incarnation(0xB, 1);

    private final SessionSettings settings = World.settings("c", Authenticator.none());
    private final World world = new World(settings, settings, Membership.single("a:1"), SessionTarget.LEADER);

    private void input(Input input) {
        world.client.input(input);
    }

    /** The link that is dialled next, opened; time goes on until then. */
    private long nextLink() {
        while (world.dialled.isEmpty()) {
            world.now = Math.max(world.now, world.client.cell.nextDue());
            input(new Input.Tick());
        }
        long link = world.dialled.pollFirst();
        input(new Input.Opened(link));
        return link;
    }

    private void refuse(long link) {
        input(new Input.Arrived(link, new Refuse(RefuseCode.NOT_LEADING, "", "", "")));
    }

    /** By one that has not met a leader, and tells who the members are. */
    private void refuseWithList(long link) {
        prove(link);
        input(new Input.Arrived(link, new Refuse(RefuseCode.NOT_LEADING, "", "a:1,b:1,c:1,d:1,e:1", "")));
    }

    private void prove(long link) {
        Hello hello = world.client.lastSent(Hello.class);
        Nonce nonce = new Nonce(1, 2);
        byte[] transcript = Handshake.transcript(Role.MEMBER, hello, hello.wireHigh(), FOLLOWER, nonce);
        input(new Input.Arrived(
                link,
                new Challenge(
                        hello.wireHigh(), FOLLOWER, nonce, Authenticator.none().prove(transcript))));
        assertThat(world.client.lastSent(Proof.class)).isNotNull();
    }

    private void startToLook() {
        world.client.work(turn -> turn.client().await(Numbered.KEY, World.MAX_TTL));
    }

    /** The former leader is stopped, and takes connections all the same. */
    @Test
    void whoStandsStillIsNotWaitedForAnyLongerBecauseOthersHaveRefused() {
        startToLook();
        for (int i = 0; i < 2 * MEMBERS; i++) {
            refuse(nextLink());
        }
        nextLink();
        long asked = world.now;

        nextLink();

        assertThat(world.now - asked).isLessThan(1_600 * MS);
    }

    /** While the others elect another leader it is asked again each time, and it must not keep the client from that. */
    @Test
    void whoStandsStillIsNotWaitedForLongerEachTime() {
        startToLook();
        refuseWithList(nextLink());
        for (int round = 0; round < 4; round++) {
            for (int i = 1; i < MEMBERS; i++) {
                refuse(nextLink());
            }
            nextLink();
            long asked = world.now;
            refuse(nextLink());
            assertThat(world.now - asked).as("round %s", round).isLessThan(800 * MS);
        }
    }

    /** Somewhere the leader may be, at the end of a slow link: it is waited for longer, the longer the search. */
    @Test
    void inALongSearchWhoeverDoesNotAnswerIsWaitedForLonger() {
        startToLook();
        refuseWithList(nextLink());
        long begin = world.now;
        long last = 0;
        while (last < 3_000 * MS) {
            for (int i = 1; i < MEMBERS; i++) {
                refuse(nextLink());
            }
            nextLink();
            long asked = world.now;
            refuse(nextLink());
            last = world.now - asked;
        }
        assertThat(world.now - begin).isLessThan(120_000 * MS);
    }

    /** For as long as it takes the members to elect another leader within half a second, and then within a second. */
    @Test
    void allAreAskedWithinASecondHoweverOftenTheyHaveRefused() {
        startToLook();
        refuseWithList(nextLink());
        assertThat(world.clientSide().referral()).isEqualTo(List.of("a:1", "b:1", "c:1", "d:1", "e:1"));
        for (int i = 0; i < 3 * MEMBERS; i++) {
            refuse(nextLink());
        }
        assertThat(search()).isBetween(200 * MS, 500 * MS);
        for (int i = 0; i < 4 * MEMBERS; i++) {
            refuse(nextLink());
        }
        assertThat(search()).isBetween(400 * MS, 1_000 * MS);
    }

    /** How long it takes to ask all members. */
    private long search() {
        long from = world.now;
        for (int i = 0; i < MEMBERS; i++) {
            refuse(nextLink());
        }
        return world.now - from;
    }

    /** Nobody tells a client at once that a link is slow: it must find out by waiting longer. */
    @Test
    void aSlowLinkIsWaitedForLongerEachTime() {
        startToLook();
        long last = 0;
        for (int i = 0; i < 4; i++) {
            nextLink();
            long asked = world.now;
            while (world.dialled.isEmpty()) {
                world.now = Math.max(world.now, world.client.cell.nextDue());
                input(new Input.Tick());
            }
            assertThat(world.now - asked).isGreaterThan(last);
            last = world.now - asked;
        }
        assertThat(last).isGreaterThan(3_000 * MS);
    }

    /** The next leader lets nobody in before the lease of the former one is over. */
    @Test
    void whatAClientWaitsForItsWelcomeIsNoPartOfItsRoundTrip() {
        startToLook();
        long link = nextLink();
        prove(link);
        world.now += 5 * MS;
        input(new Input.Arrived(link, new Wait(1_400 * MS)));
        world.now += 1_400 * MS;
        input(new Input.Tick());
        assertThat(world.dialled).as("it goes on waiting").isEmpty();
        input(new Input.Arrived(link, new Welcome(5, 0, "a:1", 3, 0, 0, List.of("a:1"), 1, false, World.MAX_TTL)));
        assertThat(world.clientSide().connected()).isTrue();
        assertThat(world.clientSide().roundTrip()).isEqualTo(5 * MS);
    }

    /** The leader was lost, too. */
    @Test
    void whoWaitsInVainForItsWelcomeLooksForAnotherLeader() {
        startToLook();
        long link = nextLink();
        prove(link);
        input(new Input.Arrived(link, new Wait(1_400 * MS)));
        long from = world.now;
        nextLink();
        assertThat(world.now - from).isBetween(1_400 * MS, 2_500 * MS);
    }

    /** It cannot know yet which of the two it is: who answers names itself in its welcome. */
    @Test
    void whoHoldsIsToldThatAnotherMemberServesOrTheSameOneAnew() {
        world.held(World.MAX_TTL);

        world.restartMember(FOLLOWER, 8, World.MAX_TTL);
        world.pass(2_000 * MS);

        assertThat(world.clientSide().connected()).isTrue();
        assertThat(world.client.told(SessionGone.class))
                .containsExactly(new SessionGone(
                        new Peer(1), true, "another member serves now, or the same one after a restart"));
    }
}
