// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Algorithm;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.Turn;
import java.util.function.Consumer;
import java.util.function.Function;

/** The smallest algorithm that shows what a session does: its messages are numbers, it tells everything that it hears, and it does what it is told. */
final class Numbered implements Algorithm {
    static final int ID = 9;
    static final Key KEY = new Key(ID, "k");

    record Item(Key key, long value) implements Message {}

    /** Runs in a turn of the machine. */
    record Do(Consumer<Turn> work) implements Call {}

    record Heard(Peer from, long value) implements Notice {}

    record Told(Call call) implements Notice {}

    /** A member with this reaction answers messages; null answers none. */
    private final Function<Item, Consumer<Turn>> reaction;

    Numbered() {
        this(number -> turn -> {});
    }

    Numbered(Function<Item, Consumer<Turn>> reaction) {
        this.reaction = reaction;
    }

    @Override
    public int id() {
        return ID;
    }

    @Override
    public Machine create(Key key) {
        return new Machine() {
            @Override
            public void received(Peer from, Message message, Turn turn) {
                Item number = (Item) message;
                turn.tell(new Heard(from, number.value()));
                reaction.apply(number).accept(turn);
            }

            @Override
            public void called(Call call, Turn turn) {
                if (call instanceof Do todo) {
                    todo.work().accept(turn);
                } else {
                    turn.tell(new Told(call));
                    if (call instanceof MemberView.Expired || call instanceof ClientView.Lapsed) {
                        turn.goal(() -> "TOLD");
                    }
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
            public void encode(Canon out) {}
        };
    }
}
