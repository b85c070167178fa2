// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.RpcFrame;
import io.keyway.lock.peer.session.RpcMember;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The member of a world of transactions: its cell, and what it has granted and to whom. */
final class AuthorityLocal implements CallDriver {
    /** A frame for a client. */
    record Sent(int client, RpcFrame frame) {}

    private final AgentScope scope;
    final Cell cell;
    /** It moves at the end of a quarantine alone. */
    private final long now;

    final boolean quarantined;

    final List<Sent> sent = new ArrayList<>(2);
    private final ArrayDeque<Long> tickets = new ArrayDeque<>(1);

    @Nullable
    String broken;
    /** By lock, which client holds it by which token, and which requests of whom wait: pairs of numbers. */
    long[][] grants = {};

    long[][] queues = {};

    AuthorityLocal(AgentScope scope, Cell cell, long now, boolean quarantined) {
        this.scope = scope;
        this.cell = cell;
        this.now = now;
        this.quarantined = quarantined;
    }

    AuthorityLocal copy() {
        return new AuthorityLocal(scope, cell.copy(), now, quarantined);
    }

    /** The same when its quarantine is over. */
    AuthorityLocal opened() {
        return new AuthorityLocal(scope, cell.copy(), now + 1, false);
    }

    void input(Input input) {
        cell.input(input, this);
        cell.flush(this);
        for (Long ticket = tickets.poll(); ticket != null; ticket = tickets.poll()) {
            cell.input(new Input.Forced(ticket), this);
            cell.flush(this);
        }
    }

    private int client(long session) {
        return (RpcMember.number(session) - 1) % scope.users.size();
    }

    /** Its turn is over: notes what is asked for often. Returns its fingerprint. */
    long done() {
        grants = new long[scope.locks][];
        queues = new long[scope.locks][];
        for (int lock = 0; lock < scope.locks; lock++) {
            Machine manager = cell.machine(scope.key(lock));
            int held = manager == null ? 0 : LockManagerView.grants(manager);
            grants[lock] = new long[2 * held];
            for (int i = 0; i < held; i++) {
                grants[lock][2 * i] = client(LockManagerView.session(manager, i).session());
                grants[lock][2 * i + 1] = LockManagerView.token(manager, i);
                LockMode mode = LockManagerView.mode(manager, i);
                for (int before = 0; before < i; before++) {
                    if (!AgentScope.together(LockManagerView.mode(manager, before), mode)) {
                        broken = "R1: lock " + lock + " has two holders who keep each other out";
                    }
                }
            }
            List<Long> requests = manager == null ? List.of() : LockManagerView.queued(manager);
            queues[lock] = new long[2 * requests.size()];
            for (int i = 0; i < requests.size(); i++) {
                queues[lock][2 * i] =
                        client(LockManagerView.waiting(manager).get(i).session());
                queues[lock][2 * i + 1] = requests.get(i);
            }
        }
        StateEncoder out = new StateEncoder(now, Scope.TTL);
        cell.encode(out);
        return out.put(-1).put(quarantined).fingerprint();
    }

    @Override
    public long clock() {
        return now;
    }

    @Override
    public void transmit(long link, Frame frame) {
        sent.add(new Sent(client(link), (RpcFrame) frame));
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        tickets.add(ticket);
    }

    @Override
    public void deliver(Notice notice) {
        if (notice instanceof LockNotice.Alarm alarm) {
            broken = "alarm: " + alarm.text();
        }
    }
}
