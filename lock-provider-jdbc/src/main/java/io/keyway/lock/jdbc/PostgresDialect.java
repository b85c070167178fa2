// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL from 12 on. Each call is one statement: it writes the rows whose version is the one expected, tells who is
 * to be told, and returns what stands then. Of several rows one that could not be written is returned as it was when
 * the statement began, which is late enough: the answer to a call is about some moment within it; of one it is read.
 */
final class PostgresDialect implements Dialect {

    /**
     * The time of the clock, not of the transaction. Without a schema, so that a search path decides whose it is: that
     * is how a test moves it. Of {@code float8}, which has 53 bits for these 51 and takes less time than
     * {@code numeric}.
     */
    static final String NOW = "(date_part('epoch', clock_timestamp()) * 1000000)::bigint";

    /**
     * Has the transaction of a grant be on disk before it is answered, whatever the session says: one that a crash
     * takes back would be given twice.
     */
    static final String ON_DISK = "CASE current_setting('synchronous_commit') WHEN 'off' THEN"
            + " set_config('synchronous_commit', 'local', true) END";

    /** The state of a statement that notifies while a listener that stands still has filled the server's queue. */
    static final String QUEUE_IS_FULL = "54000";

    /** 1 where rows may be old: who reads there must not take what it reads for what is. */
    static final String STANDBY = "pg_is_in_recovery()::int";

    private static final String WANTED = "w(id, name, kind, expected, free, state, mode, holders, since, until,"
            + " until_after, waiting, waiters, over, over_after)";

    private static final String MANY = "WITH w0 AS (SELECT * FROM unnest(?::text[], ?::text[], ?::text[], ?::bigint[],"
            + " ?::boolean[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::bigint[], ?::bigint[], ?::int[],"
            + " ?::text[], ?::bigint[], ?::bigint[]) AS " + WANTED + " ORDER BY id)";

    private static final String[] TYPES = {
        "text", "text", "text", "int8", "bool", "text", "text", "text", "int8", "int8", "int8", "int4", "text", "int8",
        "int8"
    };

    private static final String TELLING = ", told AS (SELECT count(pg_notify(n.channel, n.text)) AS messages"
            + " FROM unnest(?::text[], ?::text[], ?::text[]) AS n(id, channel, text) JOIN done ON done.id = n.id)";

    /** The first version that reads some pages of a table without the others. */
    private static final int RANGES_OF_PAGES = 14;

    /** How many pages of 8 KiB a sweep looks at by one statement, and for how many milliseconds at most. */
    private static final int PAGES = 1000;

    /** The same by ranges of ids, about. */
    private static final int SCATTERED_PAGES = 100;

    private static final int LOOKED_FOR = 2000;

    private static final int FOUND_AT_ONCE = 2000;

    /** How many rows go while nobody writes. */
    private static final int SWEPT_AT_ONCE = 200;

    /** More tokens than all sessions take while one statement follows another. */
    private static final int STEPS = 100_000;

    /** The parts of a table of an earlier version, by the first four digits of the ids, which are evenly spread. */
    private static final int PREFIXES = 0x10000;

    private final PostgresOneRow oneRow = new PostgresOneRow();

    @Override
    public String name() {
        return "PostgreSQL";
    }

    @Override
    public List<String> ddl(TableName table) {
        return List.of("CREATE SEQUENCE IF NOT EXISTS " + table.tokens(), """
            CREATE TABLE IF NOT EXISTS %s (
                id         text COLLATE "C" PRIMARY KEY, -- SHA-256 of kind and name
                name       text    NOT NULL,
                kind       text    NOT NULL,             -- LOCK or SEMAPHORE
                mode       text,                         -- of those that hold: EXCLUSIVE, SHARED or PERMITS
                holders    text,                         -- the clients that hold, the first twenty
                held_since timestamptz,                  -- when the first of them was granted
                held_until timestamptz,                  -- when the last of them ends unless it is renewed
                waiting    integer NOT NULL,             -- how many wait
                waiters    text,                         -- the clients that wait, the first twenty
                version    bigint  NOT NULL,             -- of the last write; a grant's is its fencing token
                written    bigint  NOT NULL,             -- when, in microseconds since 1970, by this database
                over       bigint  NOT NULL,             -- when all in the row has ended, likewise
                free       boolean NOT NULL,             -- whether nothing is in it
                state      text    NOT NULL              -- all of it, for Keyway
            ) WITH (fillfactor = 50)\
            """.formatted(table.locks()), """
                CREATE TABLE IF NOT EXISTS %s (
                    name    text   PRIMARY KEY,
                    setting bigint NOT NULL
                )\
                """.formatted(
                        table.settings()));
    }

    @Override
    public Properties driver(String client, Duration connectTimeout, Duration requestTimeout) {
        String seconds = Long.toString(connectTimeout.plusMillis(999).toSeconds());
        Properties driver = new Properties();
        driver.setProperty("ApplicationName", "keyway " + client);
        driver.setProperty("connectTimeout", seconds);
        // While a connection is made; each call sets its own.
        driver.setProperty("socketTimeout", seconds);
        driver.setProperty("tcpKeepAlive", "true");
        return driver;
    }

    @Override
    public void begin(Connection connection, Duration requestTimeout) throws SQLException {
        PostgresDriver.begin(connection, requestTimeout);
    }

    @Override
    public boolean isPooled(Connection connection) throws SQLException {
        return PostgresDriver.isPooled(connection);
    }

    @Override
    public Optional<Undo> leaveNothing(Connection connection) throws SQLException {
        return PostgresDriver.leaveNothing(connection);
    }

    @Override
    public Failure failure(SQLException e) {
        String state = e.getSQLState();
        if (state == null || state.length() != 5) {
            return Failure.UNKNOWN;
        }
        return switch (state.substring(0, 2)) {
            case "40" -> state.equals("40003") ? Failure.UNKNOWN : Failure.REPEAT;
            // No connection; the server ends; what it calls impossible; what the driver did not expect.
            case "08", "XX", "58", "99" -> Failure.UNKNOWN;
            case "57" -> state.equals("57014") ? Failure.REFUSED : Failure.UNKNOWN;
            case "25" -> state.equals(SqlText.READ_ONLY) ? Failure.READ_ONLY : Failure.REFUSED;
            case "28" -> Failure.UNWELCOME;
            default -> state.equals("42501") || state.equals("3D000") ? Failure.UNWELCOME : Failure.REFUSED;
        };
    }

    @Override
    public List<String> dangers(Connection connection) throws SQLException {
        return PostgresFitness.dangers(connection);
    }

    @Override
    public Optional<String> obstacle(Connection connection) throws SQLException {
        return PostgresFitness.obstacle(connection);
    }

    @Override
    public boolean hasTables(Connection connection, TableName table) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT to_regclass(?), to_regclass(?), to_regclass(?)")) {
            statement.setString(1, table.locks());
            statement.setString(2, table.settings());
            statement.setString(3, table.tokens());
            try (ResultSet result = statement.executeQuery()) {
                result.next();
                return result.getString(1) != null && result.getString(2) != null && result.getString(3) != null;
            }
        }
    }

    @Override
    public List<Stored> read(Connection connection, TableName table, List<LockKey> keys) throws SQLException {
        if (keys.size() == 1) {
            return List.of(oneRow.read(connection, table, keys.get(0)));
        }
        String sql = "SELECT " + SqlText.ROW + ", " + NOW + " FROM " + table.locks()
                + " WHERE id = ANY (?) UNION ALL SELECT NULL, " + STANDBY + ", NULL, NULL, " + NOW;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", keys.stream().map(RowId::of).toArray()));
            try (ResultSet result = statement.executeQuery()) {
                return SqlText.read(result, keys);
            }
        }
    }

    @Override
    public List<Written> write(Connection connection, TableName table, List<Write> writes, List<List<Notice>> notices)
            throws SQLException {
        try {
            return writeAndTell(connection, table, writes, notices);
        } catch (SQLException e) {
            if (!QUEUE_IS_FULL.equals(e.getSQLState()) || notices.stream().allMatch(List::isEmpty)) {
                throw e;
            }
            // A notice is a hint: what is written does not depend on it.
            List<List<Notice>> none = new ArrayList<>(writes.size());
            writes.forEach(write -> none.add(List.of()));
            return writeAndTell(connection, table, writes, none);
        }
    }

    @Override
    public boolean locksRows() {
        return true;
    }

    @Override
    public Written writeLocked(
            Connection connection,
            TableName table,
            LockKey key,
            Deadline deadline,
            Function<Stored, Optional<Locked>> decision)
            throws SQLException {
        try {
            return lockAndWrite(connection, table, key, deadline, decision);
        } catch (SQLException e) {
            if (!QUEUE_IS_FULL.equals(e.getSQLState())) {
                throw e;
            }
            return lockAndWrite(
                    connection,
                    table,
                    key,
                    deadline,
                    stands -> decision.apply(stands).map(locked -> new Locked(locked.write(), List.of())));
        }
    }

    /** The row is locked for one round trip: its write and the end of the transaction go together. */
    private Written lockAndWrite(
            Connection connection,
            TableName table,
            LockKey key,
            Deadline deadline,
            Function<Stored, Optional<Locked>> decision)
            throws SQLException {
        return SqlText.inTransaction(connection, locking -> {
            Stored stands = oneRow.lock(connection, table, key, deadline.millis());
            Optional<Locked> locked = stands.version() == 0 ? Optional.empty() : decision.apply(stands);
            return locked.isEmpty()
                    ? new Written(false, stands)
                    : oneRow.writeAndCommit(connection, table, locked.get());
        });
    }

    private List<Written> writeAndTell(
            Connection connection, TableName table, List<Write> writes, List<List<Notice>> notices)
            throws SQLException {
        if (writes.size() == 1) {
            Write write = writes.get(0);
            return List.of(oneRow.write(connection, table, write, notices.get(0)));
        }
        boolean claims = writes.get(0).expected() == RowStore.IF_FREE;
        List<Object[]> messages = new ArrayList<>();
        @Nullable Object[][] rows = new Object[writes.size()][];
        for (int i = 0; i < rows.length; i++) {
            Write write = writes.get(i);
            String id = RowId.of(write.key());
            rows[i] = row(id, write);
            for (Notice notice : notices.get(i)) {
                messages.add(new Object[] {id, PostgresChannel.name(notice.client()), NoticeText.write(notice)});
            }
        }
        String sql = MANY
                + (claims ? claiming(table) : changing(table))
                + (messages.isEmpty() ? "" : TELLING)
                + standing(table, !messages.isEmpty());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int at = 1;
            for (int column = 0; column < TYPES.length; column++) {
                statement.setArray(at++, connection.createArrayOf(TYPES[column], column(rows, column)));
            }
            for (int column = 0; column < 3 && !messages.isEmpty(); column++) {
                statement.setArray(
                        at++, connection.createArrayOf("text", column(messages.toArray(Object[][]::new), column)));
            }
            try (ResultSet result = statement.executeQuery()) {
                return SqlText.written(result, writes);
            }
        }
    }

    private static @Nullable Object[] row(String id, Write write) {
        RowColumns columns = RowColumns.of(write.row());
        return new @Nullable Object[] {
            id,
            write.key().name().value(),
            write.key().kind().name(),
            write.expected(),
            write.row().isFree(),
            write.row().text(),
            columns.mode(),
            columns.holders(),
            columns.since(),
            columns.until(),
            columns.untilAfter(),
            columns.waiting(),
            columns.waiters(),
            columns.over(),
            columns.overAfter()
        };
    }

    private static @Nullable Object[] column(@Nullable Object[][] rows, int column) {
        @Nullable Object[] values = new Object[rows.length];
        for (int i = 0; i < rows.length; i++) {
            values[i] = rows[i][column];
        }
        return values;
    }

    /** What the columns of people become of one row that is wanted, and when all is over. */
    private static final String COMPUTED = ", w AS (SELECT w0.*, "
            + "CASE WHEN mode IS NOT NULL THEN to_timestamp(coalesce(since, now) / 1e6) END AS held_since, "
            + "CASE WHEN mode IS NOT NULL THEN to_timestamp(greatest(until, now + until_after) / 1e6) END"
            + " AS held_until, greatest(over, now + over_after) AS ends FROM w0, (SELECT " + NOW + " AS now) AS clock)";

    /** For keys that nobody has, or that are free. */
    private static String claiming(TableName table) {
        return COMPUTED + ", done AS (INSERT INTO " + table.locks() + " AS l (id, name, kind, version, written, free,"
                + " state, mode, holders, held_since, held_until, waiting, waiters, over) SELECT id, name, kind,"
                + " nextval('" + table.tokens() + "'), " + NOW + ", free, state, mode, holders, held_since, held_until,"
                + " waiting, waiters, ends FROM w ON CONFLICT (id) DO UPDATE SET version = greatest(l.version + 1,"
                + " nextval('" + table.tokens() + "')), written = " + NOW + ", free = EXCLUDED.free,"
                + " state = EXCLUDED.state, mode = EXCLUDED.mode, holders = EXCLUDED.holders,"
                + " held_since = EXCLUDED.held_since, held_until = EXCLUDED.held_until, waiting = EXCLUDED.waiting,"
                + " waiters = EXCLUDED.waiters, over = EXCLUDED.over WHERE l.free"
                + " RETURNING l.id, l.version, l.written)";
    }

    /** For rows whose version is known. */
    private static String changing(TableName table) {
        return COMPUTED + ", done AS (UPDATE " + table.locks() + " AS l SET version = greatest(l.version + 1,"
                + " nextval('" + table.tokens() + "')), written = " + NOW + ", free = w.free, state = w.state,"
                + " mode = w.mode, holders = w.holders, held_since = w.held_since, held_until = w.held_until,"
                + " waiting = w.waiting, waiters = w.waiters, over = w.ends FROM w"
                + " WHERE l.id = w.id AND l.version = w.expected RETURNING l.id, l.version, l.written)";
    }

    /** What stands then: of what was written without its state, which is known. */
    private static String standing(TableName table, boolean tells) {
        return " SELECT id, version, written, NULL::text, " + NOW + " FROM done UNION ALL SELECT " + SqlText.ROW + ", "
                + NOW + " FROM " + table.locks()
                + " WHERE id IN (SELECT id FROM w0) AND id NOT IN (SELECT id FROM done)"
                + " UNION ALL SELECT NULL, " + (tells ? "messages" : "0") + ", NULL, " + ON_DISK + ", " + NOW
                + (tells ? " FROM told" : "");
    }

    @Override
    public Page list(Connection connection, TableName table, String prefix, String after, int max) throws SQLException {
        String sql = "(" + SqlText.list(table, NOW) + ") UNION ALL SELECT NULL, " + STANDBY + ", NULL, NULL, " + NOW
                + ", NULL, NULL";
        return SqlText.list(connection, sql, prefix, after, max);
    }

    @Override
    public boolean beginsSweep(Connection connection, TableName table, Duration lately) throws SQLException {
        return SqlText.beginsSweep(connection, table, "", NOW, lately);
    }

    /**
     * Looks at some of the table's pages, before PostgreSQL 14 at a range of ids, while others write, and takes away
     * what it has found while nobody does: a new row takes its version before it is there, and must not bring one that
     * is lower than that of the row that went in between. No index would help: with one on what changes by each write,
     * the server could not write in place.
     */
    @Override
    public Swept sweep(Connection connection, TableName table, Duration kept, long from) throws SQLException {
        String over = "over < " + NOW + " - " + kept.toNanos() / 1000;
        Part part = SqlText.inTransaction(connection, open -> look(open, table, over, from));
        List<String> ids = part.ids;
        int gone = 0;
        for (int at = 0; at < ids.size(); at += SWEPT_AT_ONCE) {
            List<String> some = ids.subList(at, Math.min(ids.size(), at + SWEPT_AT_ONCE));
            gone += alone(
                    connection,
                    table,
                    statement -> statement.executeUpdate("DELETE FROM " + table.locks() + " WHERE id IN ('"
                            + String.join("', '", some) + "') AND " + over));
        }
        long next = ids.size() == FOUND_AT_ONCE ? from : part.next;
        return new Swept(gone, next < Math.max(part.end, from + 1) ? OptionalLong.of(next) : OptionalLong.empty());
    }

    /** What is over in a part of the table, where the next part begins, and where the last one ends. */
    private record Part(List<String> ids, long next, long end) {}

    private static Part look(Connection connection, TableName table, String over, long from) throws SQLException {
        boolean byPages = connection.getMetaData().getDatabaseMajorVersion() >= RANGES_OF_PAGES;
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCAL statement_timeout = " + LOOKED_FOR);
            long pages;
            try (ResultSet result = statement.executeQuery(
                    "SELECT pg_relation_size('" + table.locks() + "') / current_setting('block_size')::bigint")) {
                result.next();
                pages = result.getLong(1);
            }
            // The rows of one range of ids are on as many pages, each of which may have to be read for it alone.
            long step = byPages ? PAGES : Math.max(1, PREFIXES / (pages / SCATTERED_PAGES + 1));
            String range = byPages
                    ? " AND ctid >= '(%d,0)'::tid AND ctid < '(%d,0)'::tid".formatted(from, from + step)
                    : " AND id >= '%04x'".formatted(from)
                            + (from + step < PREFIXES ? " AND id < '%04x'".formatted(from + step) : "");
            List<String> ids = new ArrayList<>();
            try (ResultSet result = statement.executeQuery(
                    "SELECT id FROM " + table.locks() + " WHERE " + over + range + " LIMIT " + FOUND_AT_ONCE)) {
                while (result.next()) {
                    ids.add(result.getString(1));
                }
            }
            return new Part(ids, from + step, byPages ? pages : PREFIXES);
        }
    }

    @Override
    public OptionalLong floor(Connection connection, TableName table) throws SQLException {
        return SqlText.floor(connection, table);
    }

    @Override
    public String nextToken(TableName table) {
        return "nextval('" + table.tokens() + "')";
    }

    @Override
    public void raise(Connection connection, TableName table, long floor) throws SQLException {
        alone(connection, table, statement -> {
            statement.executeUpdate("INSERT INTO " + table.settings() + " AS s (name, setting) VALUES ('"
                    + SqlText.FLOOR + "', " + floor
                    + ") ON CONFLICT (name) DO UPDATE SET setting = greatest(s.setting, EXCLUDED.setting)");
            raise(statement, table, floor);
            return 0;
        });
    }

    /**
     * Sessions take tokens meanwhile, which no lock of the table keeps out, and which must not come again: the sequence
     * is set only if they cannot have come that far since it was asked; else it takes the steps that are left.
     */
    private static void raise(Statement statement, TableName table, long floor) throws SQLException {
        long missing;
        try (ResultSet result = statement.executeQuery("SELECT " + floor + " - nextval('" + table.tokens() + "')")) {
            result.next();
            missing = result.getLong(1);
        }
        if (missing > STEPS) {
            statement.execute("SELECT setval('" + table.tokens() + "', " + floor + ")");
        } else if (missing > 0) {
            statement.execute("SELECT max(nextval('" + table.tokens() + "')) FROM generate_series(1, " + missing + ")");
        }
    }

    private interface Work {
        int on(Statement statement) throws SQLException;
    }

    /** While nobody else writes. */
    private static int alone(Connection connection, TableName table, Work work) throws SQLException {
        return SqlText.inTransaction(connection, locking -> {
            try (Statement statement = connection.createStatement()) {
                // A client that waits for the table stands in the way of all that come after.
                statement.execute("SET LOCAL lock_timeout = 200");
                statement.execute("SELECT " + ON_DISK);
                statement.execute("LOCK TABLE " + table.locks() + " IN SHARE ROW EXCLUSIVE MODE");
                int done = work.on(statement);
                connection.commit();
                return done;
            }
        });
    }

    @Override
    public boolean writesAtOnce() {
        return true;
    }

    @Override
    public boolean endsAtAbort() {
        return true;
    }

    @Override
    public boolean hasSessionLocks() {
        return true;
    }

    @Override
    public boolean tells() {
        return true;
    }

    @Override
    public Optional<Channel> channel(Connection connection) {
        return PostgresChannel.over(connection);
    }
}
