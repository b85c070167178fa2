// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.TokenFloor;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the verbs of a {@link ReferenceStore} take turns: its lock, its entries, and who is to be told of what has changed. What
 * somebody is told goes out when the lock is free again.
 */
abstract class StoreTurns extends StoreRules {

    final LongSupplier clock;
    final ReentrantLock lock = new ReentrantLock();
    final Table entries = new Table();
    private final Alarms alarms = new Alarms(this::ring);
    final Set<Session> sessions = new LinkedHashSet<>();

    StoreTurns(LongSupplier clock, long tokensAbove) {
        super(tokensAbove);
        this.clock = clock;
    }

    /** A client begins its life; it may give a floor of tokens. */
    public void join(Session session, Optional<TokenFloor> floor) {
        lock.lock();
        try {
            floor.ifPresent(asked -> raise(session, asked));
            sessions.add(session);
        } finally {
            lock.unlock();
        }
    }

    /** A client has gone: what it left ends in its time, and alarms ring on the clocks of others. */
    public void leave(Session session) {
        lock.lock();
        try {
            sessions.remove(session);
            alarms.closed(session);
        } finally {
            lock.unlock();
        }
    }

    /** Returns the clients that are there. */
    public List<Session> sessions() {
        lock.lock();
        try {
            return List.copyOf(sessions);
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all grants and queues, tells nobody, and goes on: what no store may do. */
    public void forgetAll() {
        lock.lock();
        try {
            entries.forEach(alarms::drop);
            entries.clear();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether nothing is held or queued, not even something that has expired. */
    public boolean isEmpty() {
        lock.lock();
        try {
            return entries.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Returns whether nobody who lives holds anything or waits. */
    boolean isAtRest() {
        lock.lock();
        try {
            return entries.isAtRest(clock.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    /** A verb begins: nobody else has the store until its {@link #end}. */
    final Turn begin() {
        lock.lock();
        return new Turn(clock.getAsLong());
    }

    final void end(Turn turn) {
        lock.unlock();
        turn.send();
    }

    /** The entry of that key as it is now; null if there is none. */
    final @Nullable LockEntry look(Turn turn, LockKey key) {
        LockEntry entry = entries.find(slot(key));
        if (entry != null) {
            expire(turn, entry);
            settle(entry);
        }
        return entry;
    }

    /** Ends what is over in it, and wakes whoever that helps. */
    final void expire(Turn turn, LockEntry entry) {
        if (entry.expire(turn.now)) {
            wake(turn, entry, null);
        }
    }

    /** Tells who is next that its turn may have come. */
    final void wake(Turn turn, LockEntry entry, @Nullable Place left) {
        Place next = next(entry, left);
        if (next != null) {
            turn.recheck(next);
        }
    }

    /** A verb is done with the entry. */
    final void settle(LockEntry entry) {
        alarms.set(entry);
        if (entry.isEmpty()) {
            entries.remove(entry);
        }
    }

    /** What dead clients left goes away although nobody asks for it: each attempt looks at two more entries. */
    final void sweep(Turn turn) {
        for (int i = 0; i < 2; i++) {
            LockEntry entry = entries.nextToSweep();
            if (entry != null) {
                expire(turn, entry);
                settle(entry);
            }
        }
    }

    private void ring(LockEntry entry) {
        Turn turn = begin();
        try {
            alarms.drop(entry);
            expire(turn, entry);
            settle(entry);
        } finally {
            end(turn);
        }
    }
}
