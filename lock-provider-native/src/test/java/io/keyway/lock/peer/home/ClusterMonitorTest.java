// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import static io.keyway.lock.LockEvent.Type.CLUSTER_DOWN;
import static io.keyway.lock.LockEvent.Type.CLUSTER_UP;
import static io.keyway.lock.LockEvent.Type.LOCK_READY;
import static io.keyway.lock.LockEvent.Type.NO_LOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A member's word on its cluster, at member a of five. */
class ClusterMonitorTest {
    private static final Key CLUSTER = new Key(3, "cluster");
    private static final List<String> FIVE = List.of("a", "b", "c", "d", "e");
    private static final Peer ONE = new Peer(1);
    private static final Peer OTHER = new Peer(2);

    private final List<LockEvent.Type> told = new ArrayList<>();
    private final List<Peer> answered = new ArrayList<>();
    private final Set<String> silent = new HashSet<>();
    private final Set<Peer> over = new HashSet<>();
    private boolean quarantined;
    private boolean confirmed = true;
    private long now;
    private long timer = Turn.NEVER;

    private final MemberTurn turn = new MemberTurn() {
        @Override
        public void tell(Notice notice) {
            told.add(((LockNotice.ClusterChanged) notice).type());
        }

        @Override
        public long send(Peer to, Message message) {
            answered.add(to);
            return 1;
        }

        @Override
        public void timer(int slot, long at) {
            timer = at;
        }

        @Override
        public boolean suspected(String member) {
            return silent.contains(member);
        }

        @Override
        public boolean live(Peer peer) {
            return !over.contains(peer);
        }

        @Override
        public boolean quarantined() {
            return quarantined;
        }

        @Override
        public boolean confirmed() {
            return confirmed;
        }

        @Override
        public long now() {
            return now;
        }

        @Override
        public String self() {
            return "a";
        }

        @Override
        public List<String> members() {
            return FIVE;
        }

        @Override
        public String member(Peer from) {
            return "";
        }

        @Override
        public void call(Key to, Call call) {
            throw new AssertionError("it only tells");
        }

        @Override
        public long send(String member, Message message) {
            throw new AssertionError("it asks nobody");
        }

        @Override
        public long force(DurableRecord record) {
            throw new AssertionError("it keeps nothing");
        }

        @Override
        public long epoch() {
            return 1;
        }
    };

    private void silence(ClusterMonitor monitor, String... members) {
        silent.clear();
        silent.addAll(List.of(members));
        monitor.called(new PeerView.PeerSuspected("b"), turn);
    }

    @Test
    void aMajorityOfTheMembersAndOfThoseWhoDecideMustAnswer() {
        ClusterMonitor monitor = ClusterMonitor.ofMajority(CLUSTER);
        silent.addAll(FIVE.subList(1, 5));
        monitor.called(new MemberView.Started(), turn);
        assertThat(told).isEmpty();
        silence(monitor, "b", "c", "d");
        assertThat(told).isEmpty();
        silence(monitor, "b", "c");
        assertThat(told).containsExactly(CLUSTER_UP);
        monitor.called(new HomeCall.Deciding(List.of("b", "c", "d"), 10), turn);
        assertThat(told).containsExactly(CLUSTER_UP);
        silence(monitor, "b", "e");
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY);
        silence(monitor, "b", "d");
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY, NO_LOCK);
        silence(monitor);
        silence(monitor, "c", "d", "e");
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY, NO_LOCK, LOCK_READY, NO_LOCK, CLUSTER_DOWN);
    }

    @Test
    void whoDecidesMayDoSoForATime() {
        ClusterMonitor monitor = ClusterMonitor.ofMajority(CLUSTER);
        monitor.called(new MemberView.Started(), turn);
        monitor.called(new HomeCall.Deciding(List.of("a"), 10), turn);
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY);
        assertThat(timer).isEqualTo(10);
        now = 10;
        monitor.due(0, turn);
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY, NO_LOCK);
        monitor.called(new HomeCall.Deciding(List.of("a"), 20), turn);
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY, NO_LOCK, LOCK_READY);
    }

    @Test
    void whereAllDecideAllMustAnswerAndAgree() {
        ClusterMonitor monitor = ClusterMonitor.ofAll(CLUSTER);
        quarantined = true;
        confirmed = false;
        silent.add("e");
        monitor.called(new MemberView.Started(), turn);
        assertThat(told).isEmpty();
        silence(monitor);
        assertThat(told).containsExactly(CLUSTER_UP);
        confirmed = true;
        monitor.called(new PeerView.ListConfirmed(), turn);
        assertThat(told).containsExactly(CLUSTER_UP);
        quarantined = false;
        monitor.called(new MemberView.Opening(), turn);
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY);
        silence(monitor, "c");
        assertThat(told).containsExactly(CLUSTER_UP, LOCK_READY, NO_LOCK, CLUSTER_DOWN);
    }

    @Test
    void followersAreAnsweredAtOnceAndToldWhileTheirSessionsLive() {
        ClusterMonitor monitor = ClusterMonitor.ofAll(CLUSTER);
        monitor.called(new MemberView.Started(), turn);
        monitor.received(ONE, new LockMessage.Follow(CLUSTER), turn);
        monitor.received(OTHER, new LockMessage.Follow(CLUSTER), turn);
        assertThat(answered).containsExactly(ONE, OTHER);
        over.add(ONE);
        silence(monitor, "b");
        assertThat(answered).containsExactly(ONE, OTHER, OTHER);
        silence(monitor, "b", "c");
        assertThat(answered).as("who is silent is no event").containsExactly(ONE, OTHER, OTHER);
    }
}
