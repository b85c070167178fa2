// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTimeoutException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Reads and writes of rows that are under way. A call that finds a connection free goes at once, alone; while none is,
 * calls gather, and the first of them that gets one takes the others along in its statement. So renewals of thousands
 * of grants, heartbeats of waiters and bursts of requests cost few statements, and nobody waits for others to come.
 */
final class Batches {

    private static final int ROWS = 8000;

    /** With no more time left, in nanoseconds, a call is not sent; or with a quarter of its time, if that is less. */
    private static final long LEAST = TimeUnit.MILLISECONDS.toNanos(25);

    private final Connections connections;
    private final Dialect dialect;
    private final TableName table;
    private final Deque<Call> calls = new ArrayDeque<>();

    Batches(Connections connections, Dialect dialect, TableName table) {
        this.connections = connections;
        this.dialect = dialect;
        this.table = table;
    }

    /** One call: what it reads, or what it writes. */
    private static final class Call {
        final Purpose purpose;
        final Deadline deadline;
        final long least;
        final List<LockKey> keys;
        final List<Write> writes;
        final List<List<Notice>> notices;
        List<Stored> read = List.of();
        List<Written> written = List.of();

        @Nullable
        Exception failure;

        boolean taken;
        boolean done;

        /** Whether an answer may come in time: a statement that is cut off costs its connection, and all in it. */
        boolean hasTime() {
            return deadline.nanos() > least;
        }

        /** One of several rows that cannot be read was not written, and will be asked for alone. */
        void failIfUnreadable(Stored stored, TableName table) {
            if (keys.size() == 1 && stored.version() == SqlText.UNREADABLE) {
                failure = new NotExecutedException(SqlText.unreadable(keys.get(0), table));
            }
        }

        /** What may go in one statement: only then has a refusal changed nothing of all of them. */
        int kind() {
            return writes.isEmpty() ? 0 : writes.get(0).expected() == RowStore.IF_FREE ? 1 : 2;
        }

        Call(Purpose purpose, Deadline deadline, List<LockKey> keys, List<Write> writes, List<List<Notice>> notices) {
            this.purpose = purpose;
            this.deadline = deadline;
            this.least = Math.min(LEAST, deadline.nanos() / 4);
            this.keys = keys;
            this.writes = writes;
            this.notices = notices;
        }
    }

    List<Stored> read(List<LockKey> keys, Deadline deadline) throws Exception {
        return make(new Call(Purpose.ASKING, deadline, keys, List.of(), List.of())).read;
    }

    /** All of them expect a version, or none; {@code notices} of each write are for clients elsewhere. */
    List<Written> write(Purpose purpose, List<Write> writes, List<List<Notice>> notices, Deadline deadline)
            throws Exception {
        List<LockKey> keys = writes.stream().map(Write::key).toList();
        return make(new Call(purpose, deadline, keys, writes, notices)).written;
    }

    private Call make(Call call) throws Exception {
        Lanes lanes = connections.lanes();
        lanes.lock.lockInterruptibly();
        try {
            calls.add(call);
            long left = call.deadline.nanos();
            while (!call.done) {
                Purpose lane = call.taken || !call.hasTime() ? null : lanes.tryTake(call.purpose);
                if (lane != null) {
                    lead(call, lane, lanes);
                } else if (left <= 0) {
                    throw late(call);
                } else {
                    left = Math.min(lanes.change.awaitNanos(left), call.deadline.nanos());
                }
            }
        } finally {
            calls.remove(call);
            lanes.lock.unlock();
        }
        if (call.failure != null) {
            throw call.failure;
        }
        return call;
    }

    private Exception late(Call call) {
        return call.taken
                ? new SQLTimeoutException("no answer of " + connections.place() + " came in time")
                : connections.busy();
    }

    /** Carries out that call and those that go with it; the lock is left meanwhile. */
    private void lead(Call first, Purpose lane, Lanes lanes) {
        List<Call> batch = gather(first, lane, lanes);
        lanes.lock.unlock();
        try {
            carryOut(batch, lane);
        } finally {
            lanes.lock.lock();
            batch.forEach(call -> call.done = true);
            lanes.give(lane);
        }
    }

    /** That call, and the others that may go along, the oldest first; of one key no more than one. */
    private List<Call> gather(Call first, Purpose lane, Lanes lanes) {
        List<Call> batch = new ArrayList<>();
        Set<LockKey> keys = new HashSet<>(first.keys);
        batch.add(first);
        first.taken = true;
        calls.remove(first);
        int rows = first.keys.size();
        for (Iterator<Call> others = calls.iterator(); dialect.writesAtOnce() && others.hasNext(); ) {
            Call other = others.next();
            boolean fits = lanes.serves(lane, other.purpose)
                    && other.kind() == first.kind()
                    && other.hasTime()
                    && rows + other.keys.size() <= ROWS
                    && other.keys.stream().noneMatch(keys::contains);
            if (fits) {
                batch.add(other);
                keys.addAll(other.keys);
                rows += other.keys.size();
                other.taken = true;
                others.remove();
            }
        }
        return batch;
    }

    private void carryOut(List<Call> batch, Purpose lane) {
        // Of the one whose thread this is: a caller with less time leaves by itself, and costs the others nothing.
        Deadline deadline = batch.get(0).deadline;
        try {
            connections.on(lane, deadline, connection -> {
                statement(connection, batch);
                return true;
            });
        } catch (NotExecutedException e) {
            if (batch.size() > 1 && e.getCause() instanceof SQLException) {
                // What one of them is refused for is not the fault of the others.
                batch.forEach(call -> carryOut(List.of(call), lane));
            } else {
                batch.forEach(call -> call.failure = e);
            }
        } catch (Exception e) {
            batch.forEach(call -> call.failure = e);
        }
    }

    private void statement(Connection connection, List<Call> batch) throws SQLException {
        List<LockKey> keys = new ArrayList<>();
        List<Write> writes = new ArrayList<>();
        List<List<Notice>> notices = new ArrayList<>();
        for (Call call : batch) {
            keys.addAll(call.keys);
            writes.addAll(call.writes);
            notices.addAll(call.notices);
        }
        if (writes.isEmpty()) {
            List<Stored> read = dialect.read(connection, table, keys);
            int at = 0;
            for (Call call : batch) {
                call.read = read.subList(at, at += call.keys.size());
                call.failIfUnreadable(call.read.get(0), table);
            }
        } else {
            List<Written> written = dialect.write(connection, table, writes, notices);
            int at = 0;
            for (Call call : batch) {
                call.written = written.subList(at, at += call.keys.size());
                call.failIfUnreadable(call.written.get(0).stored(), table);
            }
        }
    }
}
