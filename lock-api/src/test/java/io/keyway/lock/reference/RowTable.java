// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a {@link ReferenceStore}, in the order of their names, as simple as it goes: one table, one lock over it,
 * one clock. What a change makes known goes out when the lock is free again.
 *
 * <p>Whoever's turn may have come because somebody before it has died is told by an alarm on the clock of a client that
 * waits, so that no thread of the store's own is needed.
 */
final class RowTable {

    private final ReferenceStore store;
    private final LongSupplier clock;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<String, Kept> rows = new TreeMap<>();
    private final Map<String, Session> sessions = new LinkedHashMap<>();
    private final Closure closure = new Closure();
    private long version;
    private String swept = "";

    RowTable(ReferenceStore store, LongSupplier clock) {
        this.store = store;
        this.clock = clock;
    }

    /** A row, and the alarm that rings when somebody who stands before others in it may be over. */
    private static final class Kept {
        final String slot;
        final LockKey key;
        Row row = Row.FREE;
        long version;
        TimeSource.@Nullable Scheduled alarm;
        long alarmAt;

        @Nullable
        Session alarmOf;

        Kept(String slot, LockKey key) {
            this.slot = slot;
            this.key = key;
        }
    }

    RowStore.Stored read(LockKey key) {
        lock.lock();
        try {
            return stored(rows.get(store.slot(key)));
        } finally {
            lock.unlock();
        }
    }

    private RowStore.Stored stored(@Nullable Kept kept) {
        long now = clock.getAsLong();
        return kept == null ? new RowStore.Stored(Row.FREE, 0, now) : new RowStore.Stored(kept.row, kept.version, now);
    }

    RowStore.Written write(@Nullable Session session, RowStore.Write write) throws NotExecutedException {
        List<Notice> notices = List.of();
        lock.lock();
        try {
            String slot = store.slot(write.key());
            Kept kept = rows.get(slot);
            long now = clock.getAsLong();
            if ((kept == null ? RowStore.IF_FREE : kept.version) != write.expected()) {
                return new RowStore.Written(false, stored(kept));
            }
            long token = 0;
            if (session != null && write.row().grants()) {
                closure.refuseWhileClosed(now);
                token = store.nextToken(session, write.key());
            }
            Kept changed = kept == null ? new Kept(slot, write.key()) : kept;
            put(changed, write.row().stamped(token, now));
            notices = write.notices();
            return new RowStore.Written(true, stored(changed));
        } finally {
            lock.unlock();
            tell(notices);
        }
    }

    private void put(Kept kept, Row row) {
        kept.row = row;
        kept.version = ++version;
        setAlarm(kept);
        if (row.isFree()) {
            rows.remove(kept.slot, kept);
        } else {
            rows.put(kept.slot, kept);
        }
    }

    private void tell(List<Notice> notices) {
        for (Notice notice : notices) {
            Session session;
            lock.lock();
            try {
                session = sessions.get(notice.client());
            } finally {
                lock.unlock();
            }
            if (session != null) {
                session.told(notice);
            }
        }
    }

    /** One page of what lives. The cursor is the slot shown last. */
    RowStore.Page page(String prefix, Optional<String> after, int max) {
        lock.lock();
        try {
            List<RowStore.Listed> page = new ArrayList<>();
            String last = "";
            for (Kept kept : rows.tailMap(after.orElse(prefix), after.isEmpty()).values()) {
                if (!kept.slot.startsWith(prefix)) {
                    break;
                }
                RowStore.Stored stored = stored(kept);
                if (store.status(kept.key, kept.row, stored.now()).isEmpty()) {
                    continue;
                }
                if (page.size() == max) {
                    return new RowStore.Page(page, Optional.of(last));
                }
                page.add(new RowStore.Listed(kept.key, stored));
                last = kept.slot;
            }
            return new RowStore.Page(page, Optional.empty());
        } finally {
            lock.unlock();
        }
    }

    /** What dead clients left goes away although nobody asks for it: each attempt looks at two more rows. */
    void sweep() {
        List<Notice> notices = new ArrayList<>(0);
        lock.lock();
        try {
            for (int i = 0; i < 2; i++) {
                Map.Entry<String, Kept> next = rows.higherEntry(swept);
                swept = next == null ? "" : next.getKey();
                if (next != null) {
                    expire(next.getValue(), notices);
                }
            }
        } finally {
            lock.unlock();
        }
        tell(notices);
    }

    private void expire(Kept kept, List<Notice> notices) {
        Row left = store.expired(kept.row, clock.getAsLong());
        if (!left.entries().equals(kept.row.entries())) {
            notices.addAll(store.noticesOfExpiry(kept.row, left));
            put(kept, left);
        }
    }

    /** Sees to it that the row is looked at no later than its next expiry, while anybody waits. */
    private void setAlarm(Kept kept) {
        OptionalLong due = store.nextExpiry(kept.row);
        if (due.isPresent() && kept.alarm != null && kept.alarmAt - due.getAsLong() <= 0) {
            return;
        }
        dropAlarm(kept);
        if (due.isEmpty()) {
            return;
        }
        for (Entry waiter : kept.row.entries()) {
            Session session = waiter.waits() ? sessions.get(waiter.client()) : null;
            if (session != null) {
                kept.alarmAt = due.getAsLong();
                kept.alarmOf = session;
                kept.alarm = session.time().at(kept.alarmAt, () -> ring(kept));
                return;
            }
        }
    }

    private static void dropAlarm(Kept kept) {
        if (kept.alarm != null) {
            kept.alarm.cancel();
        }
        kept.alarm = null;
        kept.alarmOf = null;
    }

    private void ring(Kept kept) {
        List<Notice> notices = new ArrayList<>(1);
        lock.lock();
        try {
            dropAlarm(kept);
            if (rows.get(kept.slot) == kept) {
                expire(kept, notices);
                setAlarm(kept);
            }
        } finally {
            lock.unlock();
        }
        tell(notices);
    }

    void join(Session session, Runnable first) {
        lock.lock();
        try {
            first.run();
            sessions.put(session.client(), session);
        } finally {
            lock.unlock();
        }
    }

    /** The clock of that client stands still from now on. */
    void leave(Session session) {
        lock.lock();
        try {
            sessions.remove(session.client());
            for (Kept kept : rows.values()) {
                if (kept.alarmOf == session) {
                    dropAlarm(kept);
                    setAlarm(kept);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    List<Session> sessions() {
        lock.lock();
        try {
            return List.copyOf(sessions.values());
        } finally {
            lock.unlock();
        }
    }

    void refuseWhileClosed() throws NotExecutedException {
        lock.lock();
        try {
            closure.refuseWhileClosed(clock.getAsLong());
        } finally {
            lock.unlock();
        }
    }

    /** Forgets all rows; grants nothing until the last of what was held is over, which is returned. */
    long close(Runnable restarted) {
        lock.lock();
        try {
            long last = clock.getAsLong();
            for (Kept kept : rows.values()) {
                for (Entry holder : kept.row.holders()) {
                    long leaves = store.leaves(holder);
                    last = leaves - last > 0 ? leaves : last;
                }
            }
            long opensAt = closure.begin(last);
            forgetAll();
            restarted.run();
            return opensAt;
        } finally {
            lock.unlock();
        }
    }

    void forgetAll() {
        lock.lock();
        try {
            rows.values().forEach(RowTable::dropAlarm);
            rows.clear();
        } finally {
            lock.unlock();
        }
    }

    boolean isEmpty() {
        lock.lock();
        try {
            return rows.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    boolean isAtRest() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            return rows.values().stream()
                    .allMatch(kept -> store.status(kept.key, kept.row, now).isEmpty());
        } finally {
            lock.unlock();
        }
    }

    long kept() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            return rows.values().stream()
                    .mapToLong(kept -> kept.row.entries().stream()
                            .filter(entry -> now - store.leaves(entry) < 0)
                            .count())
                    .sum();
        } finally {
            lock.unlock();
        }
    }
}
