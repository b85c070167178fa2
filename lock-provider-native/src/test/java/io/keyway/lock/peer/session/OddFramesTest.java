// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.SessionFrame.Data;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Frames and silences that a sound peer on a sound network never makes: they cost a link, and no session. */
class OddFramesTest {
    private static final long MS = World.MS;
    private static final long TTL = 10_000 * MS;

    private final World world = new World();
    private final Peer peer = world.held(TTL);
    private final long link = world.open.first();

    private Data ofSession(long session, long seq) {
        return new Data(session, seq, 0, true, world.now, 0, List.of(World.number(77)));
    }

    @Test
    void aMemberTakesNothingOfAnotherSession() {
        world.member.input(new Input.Arrived(link, ofSession(peer.session() + 1, 2)));
        assertThat(world.open).doesNotContain(link);
        assertThat(world.member.heard()).containsExactly(1L);
        world.pass(1_000 * MS);
        assertThat(world.clientSide().session()).isEqualTo(peer);
        assertThat(world.clientSide().connected()).isTrue();
        assertThat(world.member.told(MemberView.SessionEnded.class)).isEmpty();
    }

    @Test
    void aClientTakesNothingOfAnotherSession() {
        long deadline = world.clientSide().belief(TTL).deadline();
        world.client.input(new Input.Arrived(link, ofSession(peer.session() + 1, 1)));
        assertThat(world.open).doesNotContain(link);
        assertThat(world.client.heard()).isEmpty();
        assertThat(world.clientSide().belief(TTL).deadline()).isEqualTo(deadline);
        world.pass(1_000 * MS);
        assertThat(world.clientSide().session()).isEqualTo(peer);
        assertThat(world.clientSide().connected()).isTrue();
    }

    @Test
    void aClientTakesNothingOfAnOlderLink() {
        world.cut(link);
        world.pass(1_000 * MS);
        assertThat(world.clientSide().connected()).isTrue();
        assertThat(world.open).doesNotContain(link);
        world.client.input(new Input.Arrived(link, ofSession(peer.session(), 1)));
        assertThat(world.client.heard()).isEmpty();
        world.sendFromMember(peer, 5);
        world.settle();
        assertThat(world.client.heard()).containsExactly(5L);
    }

    @Test
    void aStallOfTheMemberPutsOffTheEndOfItsQuarantine() {
        world.restartMember(new Incarnation(0xA, 2), 8, TTL);
        world.now += TTL;
        world.member.input(new Input.Stalled(MS));
        assertThat(world.memberSide().quarantined()).isTrue();
        world.now += MS;
        world.member.input(new Input.Tick());
        assertThat(world.memberSide().quarantined()).isFalse();
    }

    private Data empty(long seq, long ack, boolean stamped, long stamp) {
        return new Data(peer.session(), seq, ack, stamped, stamp, 0, List.of());
    }

    @Test
    void aMemberEchoesTheHighestStamp() {
        long highest = world.now + MS;
        world.member.input(new Input.Arrived(link, empty(2, 0, true, highest)));
        world.member.input(new Input.Arrived(link, empty(2, 0, true, highest - 1)));
        assertThat(world.member.lastSent(Data.class).stamp()).isEqualTo(highest);
    }

    @Test
    void anOlderEchoConfirmsNothing() {
        long before = world.client.lastSent(Data.class).stamp();
        world.deaf = true;
        world.now += MS;
        world.client.work(turn -> turn.client().confirm(Numbered.KEY));
        long confirming = world.client.lastSent(Data.class).stamp();
        world.client.input(new Input.Arrived(link, empty(1, 1, true, before)));
        assertThat(world.client.told(ClientView.Echoed.class)).isEmpty();
        world.client.input(new Input.Arrived(link, empty(1, 1, true, confirming)));
        assertThat(world.client.told(ClientView.Echoed.class)).hasSize(1);
    }

    @Test
    void aReceiptIsGivenForWhatIsAcknowledgedOnly() {
        world.deaf = true;
        for (long number = 2; number <= 3; number++) {
            world.client.work(turn -> {
                long sent = turn.send(turn.client().session(), World.number(1));
                turn.client().receipt(Numbered.KEY, sent);
            });
        }
        world.client.input(new Input.Arrived(link, empty(1, 2, false, 0)));
        assertThat(world.client.told(ClientView.Received.class)).containsExactly(new ClientView.Received(2));
    }

    @Test
    void whoBeginsToWaitHearsThatTheMemberIsOutOfReach() {
        world.reachable = false;
        world.cut(link);
        world.pass(1_000 * MS);
        assertThat(world.client.told(ClientView.Unreachable.class)).hasSize(1);
        world.client.work(turn -> turn.client().await(Numbered.KEY, TTL));
        assertThat(world.client.told(ClientView.Unreachable.class)).hasSize(2);
    }

    /** A fresh session there would end the former one, and what is still believed of it. */
    @Test
    void aFormerIncarnationOfTheMemberIsNotTalkedToWhileItsGrantsAreBelieved() {
        world.restartMember(new Incarnation(0xA, 2), 8, World.MAX_TTL);
        world.pass(1_000 * MS);
        assertThat(world.clientSide().connected()).isTrue();
        world.restartMember(World.MEMBER, 9, 0);
        world.pass(2_000 * MS);
        assertThat(world.dials).isGreaterThan(3);
        assertThat(world.clientSide().connected()).isFalse();
        assertThat(world.memberSide().lastSession()).isZero();
        world.pass(TTL);
        assertThat(world.clientSide().connected()).as("when they are over").isTrue();
    }

    @Test
    void aStallOfTheClientIsNotTheMembersSilence() {
        world.deaf = true;
        world.client.work(turn -> turn.client().confirm(Numbered.KEY));
        world.now += TTL / 2;
        world.client.input(new Input.Stalled(TTL / 2));
        assertThat(world.open).as("its answers may lie in the socket").contains(link);
        world.now += TTL / 5;
        world.client.input(new Input.Tick());
        assertThat(world.open).doesNotContain(link);
        assertThat(world.client.told(ClientView.Lapsed.class)).isEmpty();
    }
}
