// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage.ClusterState;
import io.keyway.lock.peer.service.LockMessage.Follow;
import io.keyway.lock.peer.service.LockNotice;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * What a member sees of its cluster, and says to its clients and in its log: CLUSTER_UP and CLUSTER_DOWN, LOCK_READY
 * and NO_LOCK, as the source of the bakery (snaplock) names them.
 *
 * <p><b>States.</b> <i>Down</i>: too few of the configured members answer. <i>Up</i>: enough do, and locks can be
 * granted by those who decide, or not yet: then it is <i>ready</i>, too. Where all members decide, all must answer;
 * where some do, a majority of the members, and of those whom the coordinator names.
 *
 * <p><b>Messages.</b> FOLLOW of a client is answered by CLUSTER_STATE, at once and after each change, as long as the
 * client's session lives.
 *
 * <p><b>Invariant.</b> It only tells: no grant begins or ends by it.
 */
public final class ClusterMonitor implements Machine {
    private static final int LOOK = 0;
    /** Sessions that are over are forgotten when there are so many, and at each change. */
    private static final int MANY = 64;

    private final Key key;
    private final boolean all;
    private final Set<Peer> followers = new LinkedHashSet<>();
    private List<String> deciding = List.of();
    private long until = Turn.NEVER;
    private boolean started;
    private ClusterState state;
    private int forgetAt = MANY;

    private ClusterMonitor(Key key, boolean all) {
        this.key = key;
        this.all = all;
        this.state = new ClusterState(key, false, false, List.of());
    }

    /** One for an algorithm in which every member must answer. */
    public static ClusterMonitor ofAll(Key key) {
        return new ClusterMonitor(key, true);
    }

    /** One for an algorithm whose coordinator says by {@link HomeCall.Deciding} which members decide. */
    public static ClusterMonitor ofMajority(Key key) {
        return new ClusterMonitor(key, false);
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof Follow && turn.peers().member(from).isEmpty()) {
            if (followers.size() >= forgetAt) {
                forget(turn);
            }
            followers.add(from);
            turn.send(from, state);
        }
    }

    /** Sessions that are over. */
    private void forget(Turn turn) {
        followers.removeIf(peer -> !turn.member().live(peer));
        forgetAt = Math.max(MANY, 2 * followers.size());
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof MemberView.Started) {
            started = true;
            turn.peers().watch(key);
            if (turn.member().quarantined()) {
                turn.member().awaitOpening(key);
            }
        } else if (call instanceof HomeCall.Deciding who) {
            deciding = who.members();
            until = who.until();
        }
        look(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        look(turn);
    }

    private void look(Turn turn) {
        if (!started) {
            return;
        }
        PeerView peers = turn.peers();
        List<String> silent = new ArrayList<>();
        for (String member : peers.members()) {
            if (!member.equals(peers.self()) && peers.suspected(member)) {
                silent.add(member);
            }
        }
        int members = peers.members().size();
        boolean up = all ? silent.isEmpty() : 2 * (members - silent.size()) > members;
        boolean open = up && !turn.member().quarantined();
        boolean ready = open && (all ? peers.confirmed() : isDecided(silent, turn));
        tell(new ClusterState(key, up, ready, List.copyOf(silent)), turn);
        turn.timer(LOOK, ready && !all ? until : Turn.NEVER);
    }

    private boolean isDecided(List<String> silent, Turn turn) {
        int there = 0;
        for (String member : deciding) {
            there += silent.contains(member) ? 0 : 1;
        }
        return until != Turn.NEVER && turn.now() - until < 0 && 2 * there > deciding.size();
    }

    private void tell(ClusterState now, Turn turn) {
        ClusterState before = state;
        if (now.equals(before)) {
            return;
        }
        state = now;
        List<LockEvent.Type> events = now.since(before);
        if (events.isEmpty()) {
            return;
        }
        forget(turn);
        for (Peer follower : followers) {
            turn.send(follower, now);
        }
        for (LockEvent.Type type : events) {
            turn.tell(new LockNotice.ClusterChanged(key, type, now.silent()));
        }
    }

    @Override
    public boolean atRest() {
        return !started;
    }

    @Override
    public ClusterMonitor copy() {
        ClusterMonitor copy = new ClusterMonitor(key, all);
        copy.followers.addAll(followers);
        copy.deciding = deciding;
        copy.until = until;
        copy.started = started;
        copy.state = state;
        copy.forgetAt = forgetAt;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(followers.size());
        followers.forEach(out::put);
        out.value(deciding).time(until).put(started).value(state).put(forgetAt);
    }
}
