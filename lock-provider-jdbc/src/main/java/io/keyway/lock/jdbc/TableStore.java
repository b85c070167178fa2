// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/** The rows of all locks in a table of a database. Each call is one statement, where the dialect can. */
final class TableStore implements RowStore {

    /** The clients of this JVM, which need no database to hear of each other. */
    private static final Map<String, TableStore> HERE = new ConcurrentHashMap<>();

    private final JdbcSettings settings;
    private final Dialect dialect;
    private final TableName table;
    private final Connections connections;
    private final Batches batches;
    private final WakeUps wakeUps;
    private final Sweeper sweeper;
    private final AtomicBoolean connected = new AtomicBoolean();
    private String client = "";
    private volatile @Nullable Listener listener;

    TableStore(JdbcSettings settings, Dialect dialect) {
        this.settings = settings;
        this.dialect = dialect;
        this.table = settings.table();
        this.connections = new Connections(settings, dialect);
        this.batches = new Batches(connections, dialect, table);
        this.wakeUps = new WakeUps(this, connections, dialect, table);
        this.sweeper = new Sweeper(settings, connections, dialect);
    }

    @Override
    public void start(Listener heard, Incarnation incarnation) throws Exception {
        listener = heard;
        client = incarnation.toString();
        Deadline deadline = Deadline.after(settings.connectTimeout());
        TransactionPoolers.heed(settings, dialect, connections, deadline);
        new Schema(settings, dialect, table, (connection, floor) -> dialect.raise(connection, table, floor))
                .prepare(connections, deadline);
        reached();
        HERE.put(client, this);
        wakeUps.start(client, heard);
        sweeper.start(heard.signals());
    }

    @Override
    public Stored read(LockKey key, Deadline deadline) throws Exception {
        return told(() -> batches.read(List.of(key), deadline)).get(0);
    }

    @Override
    public void waits(LockKey key, boolean waits) {
        wakeUps.waits(key, waits);
    }

    /** A crash may take back what left it free ({@link PostgresOneRow}). */
    @Override
    public long expected(Stored stands) {
        return stands.row().isFree() ? IF_FREE : stands.version();
    }

    @Override
    public Written write(Write write, Deadline deadline) throws Exception {
        return writeAtOnce(List.of(write), deadline).get(0);
    }

    @Override
    public List<Written> writeAll(List<Write> writes, Deadline deadline) throws Exception {
        long claims =
                writes.stream().filter(write -> write.expected() == IF_FREE).count();
        boolean alike = claims == 0 || claims == writes.size();
        return alike && dialect.writesAtOnce()
                ? writeAtOnce(writes, deadline)
                : RowStore.super.writeAll(writes, deadline);
    }

    private List<Written> writeAtOnce(List<Write> writes, Deadline deadline) throws Exception {
        List<List<Notice>> elsewhere = new ArrayList<>(writes.size());
        for (Write write : writes) {
            elsewhere.add(
                    write.notices().isEmpty()
                            ? List.of()
                            : write.notices().stream()
                                    .filter(notice -> !HERE.containsKey(notice.client()))
                                    .toList());
        }
        Purpose purpose = writes.stream().allMatch(TableStore::keeps) ? Purpose.KEEPING : Purpose.ASKING;
        List<Written> all = told(() -> batches.write(purpose, writes, elsewhere, deadline));
        for (int i = 0; i < all.size(); i++) {
            if (all.get(i).done()) {
                writes.get(i).notices().forEach(TableStore::tellHere);
            }
        }
        return all;
    }

    /** Whether it renews or ends something, and asks for nothing. */
    private static boolean keeps(Write write) {
        return write.heard().stream().allMatch(entry -> entry.holds() && entry.token() != Entry.STAMP);
    }

    private static void tellHere(Notice notice) {
        TableStore store = HERE.get(notice.client());
        Listener heard = store == null ? null : store.listener;
        if (heard != null) {
            heard.told(notice);
        }
    }

    @Override
    public Page list(String prefix, Optional<String> after, int max, Deadline deadline) throws Exception {
        List<Listed> rows = call(
                Purpose.ASKING, deadline, connection -> dialect.list(connection, table, prefix, after.orElse(""), max));
        return new Page(
                rows,
                rows.size() < max
                        ? Optional.empty()
                        : Optional.of(RowId.of(rows.get(max - 1).key())));
    }

    /** As the connections do it, and tells when the database is there, and when it is not. */
    <T> T call(Purpose purpose, Deadline deadline, Connections.Work<T> work) throws Exception {
        return told(() -> connections.call(purpose, deadline, work));
    }

    private <T> T told(Callable<T> call) throws Exception {
        try {
            T answer = call.call();
            reached();
            return answer;
        } catch (SQLException e) {
            missed(e);
            throw e;
        } catch (NotExecutedException e) {
            if (e.getCause() != null && connections.isUnreachable(e.getCause())) {
                missed(e);
            }
            throw e;
        }
    }

    private void reached() {
        Listener heard = listener;
        if (heard != null && !connected.get() && connected.compareAndSet(false, true)) {
            heard.signals().connected(server());
        }
    }

    private void missed(Exception e) {
        Listener heard = listener;
        if (heard != null && connected.compareAndSet(true, false)) {
            heard.signals().disconnected(server(), Masked.message(e));
        }
    }

    private String server() {
        return settings.place();
    }

    @Override
    public Set<Feature> features() {
        return JdbcGuarantees.features(dialect);
    }

    @Override
    public Guarantees guarantees() {
        return JdbcGuarantees.table(dialect);
    }

    @Override
    public boolean prompt() {
        return connections.prompt();
    }

    /** Whoever waits is told, or its client looks for all of its own at once: no waiter asks by itself for long. */
    @Override
    public RowRules rules() {
        return new RowRules() {
            @Override
            protected Duration recheckWithin(Row row, @Nullable Entry waiter, Request request, Look look) {
                return super.recheckWithin(row, waiter, request, new Look(look.now(), true));
            }
        };
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return connections.unwrap(type);
    }

    @Override
    public void close() {
        HERE.remove(client);
        wakeUps.close();
        connections.close();
    }
}
