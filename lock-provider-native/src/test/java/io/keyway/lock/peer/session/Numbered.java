// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.function.Consumer;

/**
 * The smallest algorithm that shows what a session does: its messages are numbers, it tells everything that it hears,
 * and it does what it is told.
 */
class Numbered implements MachineFactory {
    static final int ID = 9;
    static final Key KEY = new Key(ID, "k");

    record Item(Key key, long value) implements Message {}

    /** Runs in a turn of the machine. */
    record Do(Consumer<Turn> work) implements Call {}

    record Heard(Peer from, long value) implements Notice {}

    record Told(Call call) implements Notice {}

    /** What a machine does beside telling what it heard. */
    void received(Peer from, Item item, Turn turn) {}

    /** What a machine does beside telling what it was called with. */
    void told(Call call, Turn turn) {}

    @Override
    public Machine create(Key key) {
        return new Machine() {
            @Override
            public void received(Peer from, Message message, Turn turn) {
                Item number = (Item) message;
                turn.tell(new Heard(from, number.value()));
                Numbered.this.received(from, number, turn);
            }

            @Override
            public void called(Call call, Turn turn) {
                if (call instanceof Do todo) {
                    todo.work().accept(turn);
                } else {
                    turn.tell(new Told(call));
                    told(call, turn);
                }
            }

            @Override
            public void due(int slot, Turn turn) {}

            @Override
            public boolean atRest() {
                return true;
            }

            @Override
            public Machine copy() {
                return create(key);
            }

            @Override
            public void encode(StateEncoder out) {}
        };
    }
}
