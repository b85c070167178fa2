// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;

/**
 * Stands where the manager of a name would, at a cell that does not decide on it: whoever asks has another list of
 * members, or an old one. Grants nothing, knows nothing.
 */
public final class WrongMember implements Machine {
    private final Key key;

    public WrongMember(Key key) {
        this.key = key;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Acquire acquire) {
            refuse(from, acquire.request(), turn);
        } else if (message instanceof LockMessage.Show show) {
            refuse(from, show.request(), turn);
        } else if (message instanceof LockMessage.Watch watch) {
            refuse(from, watch.request(), turn);
        } else if (message instanceof LockMessage.Break broken) {
            refuse(from, broken.request(), turn);
        } else if (message instanceof LockMessage.Raise raise) {
            refuse(from, raise.request(), turn);
        } else if (message instanceof LockMessage.Reassert claim) {
            turn.goal(LockGoal.REASSERTION_REFUSED);
            turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
        }
    }

    private void refuse(Peer from, long request, Turn turn) {
        turn.goal(LockGoal.WRONG_MEMBER);
        turn.send(from, new LockMessage.Misdirected(key, request));
    }

    @Override
    public void called(Call call, Turn turn) {}

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return true;
    }

    @Override
    public WrongMember copy() {
        return new WrongMember(key);
    }

    @Override
    public void encode(StateEncoder out) {}
}
