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
import java.util.function.Function;
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
        this.connections = new Connections(settings, dialect, true);
        this.batches = new Batches(connections, dialect, table);
        this.wakeUps = new WakeUps(this, connections, dialect, table);
        this.sweeper = new Sweeper(settings, connections, dialect);
    }

    @Override
    public void start(Listener heard, Incarnation incarnation) throws Exception {
        listener = heard;
        client = incarnation.toString();
        Deadline deadline = Deadline.after(settings.connectTimeout());
        heedPoolers(deadline);
        new Schema(settings, dialect, table, (connection, floor) -> dialect.raise(connection, table, floor))
                .prepare(connections, deadline);
        reached();
        HERE.put(client, this);
        wakeUps.start(client, heard);
        sweeper.start(heard.signals());
    }

    /** Finds out whether a pool stands before the database, and goes by that from then on. */
    void heedPoolers(Deadline deadline) throws Exception {
        TransactionPoolers.heed(settings, dialect, connections, deadline);
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

    @Override
    public Optional<Written> writeLocked(Write missed, Function<Stored, Optional<Write>> decision, Deadline deadline)
            throws Exception {
        if (!dialect.locksRows()) {
            return Optional.empty();
        }
        Purpose purpose = keeps(missed) ? Purpose.KEEPING : Purpose.ASKING;
        List<Notice> notices = new ArrayList<>();
        Written written = call(purpose, deadline, connection -> {
            notices.clear();
            return dialect.writeLocked(connection, table, missed.key(), deadline, stands -> {
                Optional<Write> write = decision.apply(stands);
                write.ifPresent(its -> notices.addAll(its.notices()));
                return write.map(its -> new Dialect.Locked(its, elsewhere(its)));
            });
        });
        if (written.done()) {
            notices.forEach(TableStore::tellHere);
        }
        return Optional.of(written);
    }

    /** Whom only the database can notify. */
    private static List<Notice> elsewhere(Write write) {
        return write.notices().isEmpty()
                ? List.of()
                : write.notices().stream()
                        .filter(notice -> !HERE.containsKey(notice.client()))
                        .toList();
    }

    private List<Written> writeAtOnce(List<Write> writes, Deadline deadline) throws Exception {
        List<List<Notice>> elsewhere =
                writes.stream().map(TableStore::elsewhere).toList();
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
        return call(
                Purpose.ASKING, deadline, connection -> dialect.list(connection, table, prefix, after.orElse(""), max));
    }

    /** As the connections do it, and tells when the database is there, and when it is not. */
    <T> T call(Purpose purpose, Deadline deadline, Watched.Work<T> work) throws Exception {
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
        return Schema.unwrap(type, connections, table);
    }

    @Override
    public void close() {
        HERE.remove(client);
        wakeUps.close();
        connections.close();
    }
}
