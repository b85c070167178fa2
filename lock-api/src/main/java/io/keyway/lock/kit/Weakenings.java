// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.agent.Agent;
import java.time.Duration;

/** Changes the grants that a transaction needs less of to weaker modes, one change of a grant at a time. */
final class Weakenings {
    private static final long AGAIN = Duration.ofMillis(100).toNanos();

    private final TransactionView transaction;
    private final ClientContext client;
    private final Agent agent;

    Weakenings(TransactionView transaction, ClientContext client, Agent agent) {
        this.transaction = transaction;
        this.client = client;
        this.agent = agent;
    }

    /** Begins a change of that level, unless it has no stronger mode or something else goes on there. Guarded. */
    void begin(LockName level, TransactionSlot slot, LockMode mode, ResolvedOptions options) {
        HeldLease from = slot.lease;
        if (from == null || slot.pending != null || slot.weakening != null || !isStronger(from.mode(), mode)) {
            return;
        }
        Weakening weakening = Weakening.of(client, from, mode, options);
        slot.weakening = weakening;
        agent.holdsIn(level, mode);
        transaction.then(() -> weakening
                .send()
                .whenComplete((changed, failure) ->
                        ended(level, weakening, options, failure == null && changed.isPresent())));
    }

    private static boolean isStronger(LockMode mode, LockMode than) {
        return mode != than && Wishes.covers(mode, than);
    }

    private void ended(LockName level, Weakening weakening, ResolvedOptions options, boolean changed) {
        transaction.decide(() -> {
            TransactionSlot slot = transaction.slot(level);
            if (slot == null || !weakening.equals(slot.weakening)) {
                return; // it was released, or is lost
            }
            if (changed) {
                transaction.keep(level, slot, weakening.to());
            } else if (!transaction.isOver()) {
                // The grant has ended, which is about to be told, or its name moves to another member.
                long again = client.time().nanoTime() + AGAIN;
                transaction.then(() -> client.time().at(again, () -> again(level, weakening, options)));
            }
        });
    }

    private void again(LockName level, Weakening failed, ResolvedOptions options) {
        transaction.decide(() -> {
            TransactionSlot slot = transaction.slot(level);
            if (slot != null && failed.equals(slot.weakening) && !transaction.isOver()) {
                slot.weakening = null;
                begin(level, slot, failed.to().mode(), options);
            }
        });
    }
}
