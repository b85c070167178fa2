// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.counter;

import io.keyway.lock.peer.counter.CounterMessage.Add;
import io.keyway.lock.peer.counter.CounterMessage.Count;
import io.keyway.lock.peer.counter.CounterMessage.Counted;
import io.keyway.lock.peer.counter.CounterMessage.Counts;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView.SessionOpen;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.TreeSet;

/** One counter at one client: says each increment until it hears that it counts, once in each session. */
final class CounterClient implements Machine {
    private static final long TTL = 1_000_000_000L;

    private final Key key;
    private final TreeSet<Long> open = new TreeSet<>();

    CounterClient(Key key) {
        this.key = key;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof Counts counts && open.remove(counts.increment())) {
            turn.tell(new Counted(key, counts.increment(), counts.value()));
            if (open.isEmpty()) {
                turn.client().unawait(key, TTL);
            }
        }
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof Count count) {
            if (open.isEmpty()) {
                turn.client().await(key, TTL);
            }
            open.add(count.increment());
            if (turn.client().exists()) {
                turn.send(turn.client().session(), new Add(key, count.increment()));
            }
        } else if (call instanceof SessionOpen session) {
            for (long increment : open) {
                turn.send(session.session(), new Add(key, increment));
            }
        }
    }

    @Override
    public void due(int slot, Turn turn) {}

    @Override
    public boolean atRest() {
        return open.isEmpty();
    }

    @Override
    public CounterClient copy() {
        CounterClient copy = new CounterClient(key);
        copy.open.addAll(open);
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.value(open);
    }
}
