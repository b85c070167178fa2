// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Deadlock;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.agent.AgentEffects;
import io.keyway.lock.spi.Probe;
import java.util.Objects;

/** What the agent of a transaction wants done, and what comes for it: probes, and its time. Guarded by its lock. */
final class TransactionEffects implements AgentEffects, Transactions.Prober {
    private final TransactionSteps transaction;
    private final ClientContext client;
    private final AgentAlarm alarm;

    TransactionEffects(TransactionSteps transaction, ClientContext client) {
        this.transaction = transaction;
        this.client = client;
        this.alarm = new AgentAlarm(client.alarms(), this::wake);
    }

    @Override
    public void probed(LockName name, long token, long ahead, Probe probe) {
        transaction.decide(() -> transaction.agent().probed(name, token, ahead, probe, now()));
    }

    @Override
    public long nextRequest() {
        return client.nextRequestId();
    }

    @Override
    public void ask(LockName name, LockMode mode, long request) {
        transaction.ask(name, mode, request);
    }

    @Override
    public void release(LockName name, long token) {
        TransactionSlot slot = Objects.requireNonNull(transaction.slot(name));
        Releasable held = Objects.requireNonNull(slot.held());
        client.transactions().usesNoMore(name, token);
        slot.lease = null;
        slot.weakening = null;
        transaction.then(held::sendRelease);
    }

    @Override
    public void withdraw(LockName name, long request) {
        TransactionSlot slot = Objects.requireNonNull(transaction.slot(name));
        PendingAcquire pending = Objects.requireNonNull(slot.pending);
        client.transactions().asksNoMore(request);
        slot.pending = null;
        pending.withdraw(transaction::then);
    }

    @Override
    public boolean passOver(LockName name) {
        return transaction.passOver(name);
    }

    @Override
    public void probe(LockName name, long request, Probe probe) {
        transaction.then(() -> {
            if (!client.closed()) {
                client.engine().probe(LockKey.lock(name), request, probe);
            }
        });
    }

    @Override
    public void abort(Deadlock deadlock) {
        transaction.aborted(deadlock);
    }

    @Override
    public void wakeAt(long nanos) {
        if (!transaction.isClosed()) {
            alarm.setBy(nanos).ifPresent(transaction::then);
        }
    }

    private void wake() {
        transaction.decide(() -> {
            alarm.rang();
            if (!client.closed()) {
                transaction.agent().due(now());
            }
        });
    }

    void cancelAlarm() {
        alarm.cancel();
    }

    private long now() {
        return client.time().nanoTime();
    }
}
