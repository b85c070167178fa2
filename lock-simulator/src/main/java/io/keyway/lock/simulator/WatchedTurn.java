// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.ForwardingTurn;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import java.util.Collection;
import java.util.List;
import java.util.function.Consumer;

/** The turns of one machine, of which somebody is told what it sends to other members before it leaves. */
final class WatchedTurn extends ForwardingTurn<Turn> implements PeerView {
    private final Consumer<Message> sent;

    WatchedTurn(Consumer<Message> sent) {
        this.sent = sent;
    }

    /** This, for that turn. */
    WatchedTurn of(Turn now) {
        passTo(now);
        return this;
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
    public String self() {
        return turn().peers().self();
    }

    @Override
    public List<String> members() {
        return turn().peers().members();
    }

    @Override
    public void follow(List<String> members, Collection<String> others) {
        turn().peers().follow(members, others);
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
    public long echo(String member) {
        return turn().peers().echo(member);
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
