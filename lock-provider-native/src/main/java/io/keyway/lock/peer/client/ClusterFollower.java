// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LockEvent;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockMessage.ClusterState;
import io.keyway.lock.peer.service.LockNotice;
import org.jspecify.annotations.Nullable;

/**
 * Follows what a client's member says of its cluster, and tells the client's listeners, and those who hold locks.
 *
 * <p><b>States.</b> It follows in a session from the first call of a helper in it on; what it was told last stands
 * until it is told something else, in whichever session.
 */
public final class ClusterFollower implements Machine {
    private final Key key;
    private final boolean doubts;
    /** The session in which it follows; 0 before the first. */
    private long session;

    private @Nullable ClusterState told;

    /**
     * @param key the monitor's
     * @param doubts whether who holds a lock may lose it while the cluster is down
     */
    public ClusterFollower(Key key, boolean doubts) {
        this.key = key;
        this.doubts = doubts;
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall.Follow && turn.client().exists()) {
            Peer member = turn.client().session();
            if (member.session() != session) {
                session = member.session();
                turn.send(member, new LockMessage.Follow(key));
            }
        }
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (!(message instanceof ClusterState now)) {
            return;
        }
        ClusterState before = told;
        told = now;
        for (LockEvent.Type type : now.since(before)) {
            turn.tell(new LockNotice.ClusterChanged(key, type, now.silent()));
        }
        boolean turned = before == null ? !now.up() : before.up() != now.up();
        if (doubts && turned) {
            LockCall call = now.up() ? LockCall.ClusterUp.UP : new LockCall.ClusterDown(why(now));
            for (Key held : turn.client().holders()) {
                turn.call(held, call);
            }
        }
    }

    private static String why(ClusterState now) {
        return "too few members of the cluster answer: not " + String.join(", ", now.silent());
    }

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return session == 0;
    }

    @Override
    public ClusterFollower copy() {
        ClusterFollower copy = new ClusterFollower(key, doubts);
        copy.session = session;
        copy.told = told;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(session).value(told);
    }
}
