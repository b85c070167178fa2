// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;

/** A machine in the place of another one, which it lets do its work: to be watched at that. */
abstract class ForwardingMachine implements Machine {
    private final Machine machine;

    ForwardingMachine(Machine machine) {
        this.machine = machine;
    }

    /** The one that does the work. */
    final Machine machine() {
        return machine;
    }

    /** The machine that is watched, by however many; that one itself if it is not. */
    static Machine watched(Machine machine) {
        Machine watched = machine;
        while (watched instanceof ForwardingMachine watch) {
            watched = watch.machine;
        }
        return watched;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        machine.received(from, message, turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        machine.called(call, turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        machine.due(slot, turn);
    }

    @Override
    public void forced(long ticket, Turn turn) {
        machine.forced(ticket, turn);
    }

    @Override
    public boolean atRest() {
        return machine.atRest();
    }

    @Override
    public void dropped(Turn turn) {
        machine.dropped(turn);
    }

    /** Nobody watches a copy. */
    @Override
    public Machine copy() {
        return machine.copy();
    }

    @Override
    public void rebind(SessionLayer sessions) {
        machine.rebind(sessions);
    }

    @Override
    public void encode(StateEncoder out) {
        machine.encode(out);
    }
}
