// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.session.SessionFrame.Data;
import org.junit.jupiter.api.Test;

class SessionScriptTest {
    private static final long MS = World.MS;
    private static final long TTL = 10_000 * MS;

    @Test
    void nothingIsSentBeforeSomethingIsWanted() {
        World world = new World();
        world.pass(10 * TTL);
        assertThat(world.client.sent).isEmpty();
    }

    @Test
    void messagesArriveInOrderInBothDirections() {
        World world = new World();
        Peer peer = world.connect(TTL);
        assertThat(world.client.told(ClientView.SessionOpen.class))
                .containsExactly(new ClientView.SessionOpen(peer, false));
        for (int i = 1; i <= 20; i++) {
            world.sendFromClient(i);
            world.sendFromMember(peer, 100 + i);
        }
        world.settle();
        assertThat(world.member.heard())
                .containsExactly(
                        1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L, 10L, 11L, 12L, 13L, 14L, 15L, 16L, 17L, 18L, 19L, 20L);
        assertThat(world.client.heard()).hasSize(20).isSorted();
    }

    @Test
    void aHeldLeaseIsRenewedForever() {
        World world = new World();
        world.held(TTL);
        world.client.work(turn -> turn.client().unawait(Numbered.KEY, TTL));
        int before = world.client.sent.size();
        world.pass(100 * TTL);
        assertThat(World.believes(world, TTL)).isTrue();
        assertThat(world.client.told(ClientView.Lapsed.class)).isEmpty();
        assertThat(world.member.told(MemberView.Expired.class)).isEmpty();
        assertThat(world.client.sent.size() - before)
                .as("one heartbeat per half lease")
                .isBetween(195, 205);
    }

    @Test
    void aCutLinkEndsNothing() {
        World world = new World();
        Peer peer = world.held(TTL);
        world.cut(1);
        world.sendFromClient(2);
        world.sendFromMember(peer, 3);
        world.pass(TTL / 2);
        assertThat(world.clientSide().session()).isEqualTo(peer);
        assertThat(world.member.heard()).containsExactly(1L, 2L);
        assertThat(world.client.heard()).containsExactly(3L);
        assertThat(world.goals).contains("RESUMED");
        assertThat(World.believes(world, TTL)).isTrue();
    }

    @Test
    void beliefEndsBeforeTheGrant() {
        World world = new World();
        Peer peer = world.held(TTL);
        world.deaf = true;
        world.pass(TTL * 3 / 4 - 1);
        assertThat(World.believes(world, TTL)).isTrue();
        world.pass(1);
        assertThat(world.client.told(ClientView.Lapsed.class)).containsExactly(new ClientView.Lapsed(TTL));
        assertThat(world.member.told(MemberView.Expired.class)).isEmpty();
        world.pass(TTL / 4 + MS);
        assertThat(world.member.told(MemberView.Expired.class)).containsExactly(new MemberView.Expired(peer, 5));
        assertThat(world.member.told(MemberView.SessionEnded.class)).isEmpty();
    }

    @Test
    void aHalfOpenLinkIsReplacedBeforeBeliefEnds() {
        World world = new World();
        world.held(TTL);
        world.client.work(turn -> turn.client().unawait(Numbered.KEY, TTL));
        world.keep = frame -> !(frame instanceof Data) || world.open.last() > 1;
        world.pass(TTL * 2);
        assertThat(world.client.told(ClientView.Lapsed.class)).isEmpty();
        assertThat(world.goals).contains("SILENT_LINK", "RESUMED");
    }

    @Test
    void lostFramesAreSentAgain() {
        World world = new World();
        Peer peer = world.connect(TTL);
        int[] count = {0};
        world.keep = frame -> !(frame instanceof Data data && !data.messages().isEmpty()) || ++count[0] % 3 == 0;
        for (int i = 1; i <= 30; i++) {
            world.sendFromClient(i);
            world.sendFromMember(peer, i);
            world.pass(300 * MS);
        }
        world.pass(20 * TTL);
        assertThat(world.member.heard()).hasSize(30).isSorted();
        assertThat(world.client.heard()).hasSize(30).isSorted();
        assertThat(world.goals).contains("RESENT", "GAP_DROPPED");
    }

    @Test
    void anUnknownSessionIsDroppedBeforeAFreshOneIsOpened() {
        World world = new World();
        Peer first = world.held(TTL);
        world.member.work(turn -> turn.member().await(first, Numbered.KEY, TTL));
        world.reachable = false;
        world.cut(1);
        world.pass(World.MAX_TTL + TTL);
        assertThat(world.member.told(MemberView.SessionEnded.class))
                .containsExactly(new MemberView.SessionEnded(first));
        world.reachable = true;
        world.keep = frame -> !(frame instanceof SessionFrame.Data); // no echo of its own either
        world.pass(2_000 * MS);
        assertThat(world.client.told(ClientView.SessionGone.class))
                .allSatisfy(gone ->
                        assertThat(gone.restarted()).as("nothing is frozen").isFalse())
                .hasSize(1);
        assertThat(world.client.told(ClientView.SessionOpen.class)).hasSize(2);
        assertThat(world.clientSide().session()).isNotEqualTo(first);
        assertThat(world.clientSide().belief(TTL).holds(world.now)).isFalse();
    }

    @Test
    void anotherIncarnationOfTheMemberFreezesBelief() {
        World world = new World();
        world.held(TTL);
        var belief = world.clientSide().belief(TTL);
        long deadline = belief.deadline();
        world.restartMember(new Incarnation(0xA, 2), 8, World.MAX_TTL);
        world.pass(1_000 * MS);
        assertThat(world.client.told(ClientView.SessionGone.class))
                .allSatisfy(gone -> assertThat(gone.restarted()).isTrue())
                .hasSize(1);
        assertThat(world.client.told(ClientView.SessionOpen.class))
                .last()
                .satisfies(opened -> assertThat(opened.reasserting()).isTrue());
        world.pass(TTL);
        assertThat(belief.deadline()).isEqualTo(deadline);
    }

    @Test
    void aGoodbyeEndsTheSessionBehindEverythingThatWasSaid() {
        World world = new World();
        Peer peer = world.connect(TTL);
        world.member.work(turn -> turn.member().await(peer, Numbered.KEY, TTL));
        world.sendFromClient(1);
        world.sendFromMember(peer, 2);
        world.client.input(new Input.Closing());
        assertThat(world.client.told(ClientView.SessionGone.class)).hasSize(1);
        assertThat(world.clientSide().exists()).isFalse();
        world.settle();
        assertThat(world.client.heard()).as("behind the goodbye").isEmpty();
        assertThat(world.member.heard()).containsExactly(1L);
        assertThat(world.member.told(MemberView.SessionEnded.class)).containsExactly(new MemberView.SessionEnded(peer));
        assertThat(world.clientSide().closed()).isTrue();
        assertThat(world.open).isEmpty();
    }
}
