// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The turns of one machine, of which somebody is told what it sends to other members before it leaves. */
final class WatchedTurn implements Turn, PeerView {
    private final Consumer<Message> sent;
    private @Nullable Turn turn;

    WatchedTurn(Consumer<Message> sent) {
        this.sent = sent;
    }

    /** This, for that turn. */
    WatchedTurn of(Turn now) {
        turn = now;
        return this;
    }

    private Turn turn() {
        return Objects.requireNonNull(turn, "a turn");
    }

    @Override
    public PeerView peers() {
        return this;
    }

    @Override
    public long send(String member, Message message) {
        sent.accept(message);
        return turn().peers().send(member, message);
    }

    @Override
    public long now() {
        return turn().now();
    }

    @Override
    public long send(Peer to, Message message) {
        return turn().send(to, message);
    }

    @Override
    public void call(Key to, Call call) {
        turn().call(to, call);
    }

    @Override
    public void timer(int slot, long at) {
        turn().timer(slot, at);
    }

    @Override
    public List<Key> residents(Key from, boolean inclusive, int most) {
        return turn().residents(from, inclusive, most);
    }

    @Override
    public long force(DurableRecord record) {
        return turn().force(record);
    }

    @Override
    public void tell(Notice notice) {
        turn().tell(notice);
    }

    @Override
    public long frameClock() {
        return turn().frameClock();
    }

    @Override
    public void showClock(long logicalClock) {
        turn().showClock(logicalClock);
    }

    @Override
    public void goal(CoverageGoal goal) {
        turn().goal(goal);
    }

    @Override
    public long draw(int bits) {
        return turn().draw(bits);
    }

    @Override
    public MemberView member() {
        return turn().member();
    }

    @Override
    public ClientView client() {
        return turn().client();
    }

    @Override
    public String self() {
        return turn().peers().self();
    }

    @Override
    public List<String> members() {
        return turn().peers().members();
    }

    @Override
    public boolean confirmed() {
        return turn().peers().confirmed();
    }

    @Override
    public String member(Peer from) {
        return turn().peers().member(from);
    }

    @Override
    public boolean up(String member) {
        return turn().peers().up(member);
    }

    @Override
    public boolean suspected(String member) {
        return turn().peers().suspected(member);
    }

    @Override
    public void watch(Key key) {
        turn().peers().watch(key);
    }

    @Override
    public void unwatch(Key key) {
        turn().peers().unwatch(key);
    }
}
