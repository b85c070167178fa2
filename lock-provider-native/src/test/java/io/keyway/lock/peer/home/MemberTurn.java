// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;

/** The turns of a member in a world of machines alone: nobody is silent, and nothing is kept of sessions. */
public abstract class MemberTurn implements Turn, MemberView, PeerView {
    /** The longest lease. */
    public static final long LEASE = 1_000_000_000L;

    @Override
    public MemberView member() {
        return this;
    }

    @Override
    public PeerView peers() {
        return this;
    }

    @Override
    public boolean up(String member) {
        return true;
    }

    @Override
    public long echo(String member) {
        return now();
    }

    @Override
    public boolean suspected(String member) {
        return false;
    }

    @Override
    public void watch(Key key) {}

    @Override
    public void unwatch(Key key) {}

    @Override
    public void awaitOpening(Key key) {}

    @Override
    public void timer(int slot, long at) {}

    @Override
    public void tell(Notice notice) {}

    @Override
    public void goal(CoverageGoal goal) {}

    @Override
    public long send(Peer to, Message message) {
        return 0;
    }

    @Override
    public long draw(int bits) {
        return 0;
    }

    @Override
    public List<Key> residents(Key from, boolean inclusive, int most) {
        return List.of();
    }

    @Override
    public ClientView client() {
        throw new IllegalStateException("a member has no client's side");
    }

    @Override
    public long floor() {
        return 0;
    }

    @Override
    public void raiseFloor(long counter) {}

    @Override
    public void raiseEpoch(long higher, Turn turn) {}

    @Override
    public boolean live(Peer peer) {
        return true;
    }

    @Override
    public long silence(Peer peer) {
        return 0;
    }

    @Override
    public void grant(Peer peer, Key key, long token, long ttl) {}

    @Override
    public void ungrant(Peer peer, Key key, long token, long ttl) {}

    @Override
    public void keep(long until) {}

    @Override
    public void await(Peer peer, Key key, long ttl) {}

    @Override
    public void unawait(Peer peer, Key key, long ttl) {}

    @Override
    public void listen(Peer peer, Key key) {}

    @Override
    public long maxTtl() {
        return LEASE;
    }

    @Override
    public long quarantine() {
        return LEASE;
    }

    @Override
    public List<Grant> grants() {
        return List.of();
    }
}
