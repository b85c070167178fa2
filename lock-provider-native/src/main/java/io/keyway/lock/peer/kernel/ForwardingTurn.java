// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A turn that passes on to another one what it does not change itself.
 *
 * @param <T> the kind of that turn
 */
public abstract class ForwardingTurn<T extends Turn> implements Turn {
    private @Nullable T turn;

    /** Passes on to that turn from now on. */
    protected final void passTo(T now) {
        turn = now;
    }

    /** {@return the turn that has begun} */
    protected final T turn() {
        return Objects.requireNonNull(turn, "no turn has begun");
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
    public PeerView peers() {
        return turn().peers();
    }

    @Override
    public ClientView client() {
        return turn().client();
    }
}
