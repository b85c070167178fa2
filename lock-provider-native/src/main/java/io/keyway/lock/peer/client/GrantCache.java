// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.Set;

/**
 * Bounds the grants that a client may keep after their release: beyond the bound the one kept longest goes back as soon
 * as it is idle.
 */
public final class GrantCache implements Machine {
    private final int bound;
    private final Set<LockCall.Kept> kept = new LinkedHashSet<>();

    public GrantCache(int bound) {
        this.bound = bound;
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall.Kept added) {
            kept.add(added);
            while (kept.size() > bound) {
                Iterator<LockCall.Kept> all = kept.iterator();
                LockCall.Kept oldest = all.next();
                all.remove();
                turn.goal(LockGoal.CACHE_FULL);
                turn.call(oldest.key(), new LockCall.Evict(oldest.token()));
            }
        } else if (call instanceof LockCall.Dropped dropped) {
            kept.remove(new LockCall.Kept(dropped.key(), dropped.token()));
        }
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {}

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return kept.isEmpty();
    }

    @Override
    public GrantCache copy() {
        GrantCache copy = new GrantCache(bound);
        copy.kept.addAll(kept);
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(kept.size());
        kept.forEach(out::value);
    }
}
