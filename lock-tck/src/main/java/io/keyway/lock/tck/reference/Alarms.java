// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import java.util.List;
import java.util.function.Consumer;

/**
 * Rings when somebody who stands before a waiter dies, though nobody asks: each alarm is set on the clock of a client that
 * waits, so that the store needs no thread. Used under the lock of the store; rings without it.
 */
final class Alarms {

    private final Consumer<LockEntry> ring;

    Alarms(Consumer<LockEntry> ring) {
        this.ring = ring;
    }

    /** Sees to it that the entry is looked at no later than its next expiry, while anybody waits. */
    void set(LockEntry entry) {
        if (!entry.isWaitedFor()) {
            drop(entry);
            return;
        }
        long due = entry.nextExpiry();
        if (entry.alarm != null && entry.alarmAt - due <= 0) {
            return;
        }
        drop(entry);
        for (Place waiter : entry.waiters()) {
            Session session = waiter.session;
            if (!session.closed) {
                entry.alarmAt = due;
                entry.alarmOf = session;
                session.alarms.add(entry);
                entry.alarm = session.time.at(due, () -> ring.accept(entry));
                return;
            }
        }
    }

    void drop(LockEntry entry) {
        if (entry.alarm != null) {
            entry.alarm.cancel();
        }
        if (entry.alarmOf != null) {
            entry.alarmOf.alarms.remove(entry);
        }
        entry.alarm = null;
        entry.alarmOf = null;
    }

    /** The clock of that client stands still from now on. */
    void closed(Session session) {
        session.closed = true;
        for (LockEntry entry : List.copyOf(session.alarms)) {
            drop(entry);
            set(entry);
        }
    }
}
