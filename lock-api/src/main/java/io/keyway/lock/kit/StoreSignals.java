// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Attempt;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/** The part of a {@link StoreMachine} that hears what a store says unasked. */
final class StoreSignals {

    private final StoreMachine machine;
    private final StoreAttempts attempts;
    private final StoreLeases leases;
    private final Map<Long, StoreEntry> entries;

    /** {@code entries} of the machine. */
    StoreSignals(StoreMachine machine, StoreAttempts attempts, StoreLeases leases, Map<Long, StoreEntry> entries) {
        this.machine = machine;
        this.attempts = attempts;
        this.leases = leases;
        this.entries = entries;
    }

    /** It can be reached again: whoever backs off tries now. */
    void reconnected(long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (entry.failures > 0) {
                entry.failures = 0;
                if (entry.armed) {
                    machine.call(entry);
                } else if (entry.phase == StoreEntry.Phase.HELD) {
                    entry.renewDue = now;
                }
            }
        }
        leases.scanAll(now);
    }

    /** A hint that something of that key is free. */
    void recheck(LockKey key) {
        attempts.recheck(key);
    }

    /** Hints may have been missed. */
    void recheckAll() {
        attempts.recheckAll();
    }

    /** A hint that the turn of that request has come. */
    void recheck(long id) {
        StoreEntry entry = entries.get(id);
        if (entry != null && entry.phase == StoreEntry.Phase.WANTED) {
            attempts.ask(entry);
        }
    }

    /** The turn of a waiter has come. */
    void granted(long id, Supplier<Optional<Attempt.Granted>> word, long now) {
        StoreEntry entry = entries.get(id);
        if (entry == null || entry.phase != StoreEntry.Phase.WANTED) {
            return;
        }
        Optional<Attempt.Granted> granted = entry.inFlight || entry.voided ? Optional.empty() : word.get();
        if (granted.isEmpty()) {
            attempts.ask(entry);
            return;
        }
        entry.armed = false;
        entry.mayStand = true;
        attempts.granted(entry, granted.get().grant(), now - granted.get().age().toNanos(), now);
    }

    void doubt(String why, long now) {
        for (StoreEntry entry : entries.values()) {
            entry.stale |= entry.inFlight || entry.renewing;
            if (entry.phase == StoreEntry.Phase.HELD) {
                entry.renewDue = now;
                leases.doubt(entry, why);
            } else {
                // What was granted to it may be what is in doubt: it has to be asked.
                entry.voided = true;
            }
        }
        leases.scanAll(now);
    }

    void ended(LockKey key, long token, Cause cause, String detail, long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (!entry.request.key().equals(key)) {
                continue;
            }
            if (StoreMachine.granted(entry) && entry.held().token() == token) {
                if (cause != Cause.BROKEN) {
                    leases.end(entry, cause, detail, now);
                } else if (entry.phase == StoreEntry.Phase.HELD) {
                    // Nobody believes in it from here on: the store may wait for that word.
                    machine.tell(new StoreEffect.Ended(entry.id(), cause, detail));
                    machine.startRelease(entry, now);
                }
                return;
            }
            // Its grant may be on the way, and older than this.
            entry.voided = true;
        }
    }

    void endedAll(Cause cause, long now) {
        for (StoreEntry entry : List.copyOf(entries.values())) {
            if (StoreMachine.granted(entry)) {
                leases.end(entry, cause, "the store ended all leases of this client", now);
            } else {
                entry.voided = true;
            }
        }
    }
}
