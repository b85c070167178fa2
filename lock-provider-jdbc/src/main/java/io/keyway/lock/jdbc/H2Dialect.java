// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * H2 from 2.0 on, in this process or as a server, with files or in memory. A row is made free first, and changed then,
 * so that its version is always taken while it is locked.
 *
 * <p>By itself H2 forgets what it has answered: it writes half a second later, which not even its own process may
 * outlive, and drops what it has in memory when the last connection closes. Both are settings of the database, which
 * {@link #prepare} changes where it may.
 */
final class H2Dialect implements Dialect {

    /** The time of the machine on which the database runs, when the statement began. */
    static final String CLOCK = "CURRENT_TIMESTAMP(6)";

    private static final int DUPLICATE_KEY = 23505;
    private static final int LOCK_TIMEOUT = 50200;
    private static final int CONCURRENT_UPDATE = 90131;
    private static final int SWEPT_AT_ONCE = 1000;
    private static final int NO_ADMINISTRATOR = 90040;
    private static final int READ_ONLY = 90097;

    private static final String WRITES_AFTER = "WRITE_DELAY";
    private static final String CLOSES_AFTER = "DB_CLOSE_DELAY";

    private static final Pattern IN_MEMORY_OF_A_SERVER = Pattern.compile("jdbc:h2:(?:tcp|ssl)://[^/;]*/mem:.*");

    private static final String NOW = "CAST(EXTRACT(EPOCH FROM " + CLOCK + ") * 1000000 AS BIGINT)";

    private final String driverUrl;

    /**
     * Makes one.
     *
     * @param driverUrl of the driver, which says where the database is and what of it the user has set
     */
    H2Dialect(String driverUrl) {
        this.driverUrl = driverUrl.toLowerCase(Locale.ROOT);
    }

    @Override
    public String name() {
        return "H2";
    }

    @Override
    public String keeps() {
        return IN_MEMORY_OF_A_SERVER.matcher(driverUrl).matches()
                ? "as long as the process of the database lives, which has it in memory"
                : "as long as the database keeps what it has committed: its WRITE_DELAY is 0, and its machine does not"
                        + " fail";
    }

    @Override
    public String failover() {
        return "nothing takes over from a database of H2: without it nobody gets a lock";
    }

    @Override
    public List<String> ddl(TableName table) {
        return List.of(
                "CREATE SEQUENCE IF NOT EXISTS " + table.tokens() + " NO CACHE",
                """
                CREATE TABLE IF NOT EXISTS %s (
                    id         CHAR(64)      PRIMARY KEY, -- SHA-256 of kind and name
                    name       VARCHAR(512)  NOT NULL,
                    kind       VARCHAR(9)    NOT NULL,    -- LOCK or SEMAPHORE
                    mode       VARCHAR(9),                -- of those that hold: EXCLUSIVE, SHARED or PERMITS
                    holders    VARCHAR(1000),             -- the clients that hold, the first twenty
                    held_since TIMESTAMP(6) WITH TIME ZONE, -- when the first of them was granted
                    held_until TIMESTAMP(6) WITH TIME ZONE, -- when the last of them ends unless it is renewed
                    waiting    INTEGER       NOT NULL,    -- how many wait
                    waiters    VARCHAR(1000),             -- the clients that wait, the first twenty
                    version    BIGINT        NOT NULL,    -- of the last write; a grant's is its fencing token
                    written    BIGINT        NOT NULL,    -- when, in microseconds since 1970, by this database
                    over       BIGINT        NOT NULL,    -- when all in the row has ended, likewise
                    free       BOOLEAN       NOT NULL,    -- whether nothing is in it
                    state      VARCHAR       NOT NULL     -- all of it, for Keyway
                )\
                """.formatted(table.locks()),
                """
                CREATE TABLE IF NOT EXISTS %s (
                    name    VARCHAR(40) PRIMARY KEY,
                    setting BIGINT      NOT NULL
                )\
                """.formatted(table.settings()));
    }

    @Override
    public Properties driver(String client, Duration connectTimeout, Duration requestTimeout) {
        // Its connections take no network timeout, and say nothing of it.
        Properties driver = new Properties();
        driver.setProperty("NETWORK_TIMEOUT", Long.toString(Math.max(1, requestTimeout.toMillis())));
        return driver;
    }

    @Override
    public void begin(Connection connection, Duration requestTimeout) throws SQLException {
        connection.setTransactionIsolation(Connection.TRANSACTION_READ_COMMITTED);
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET LOCK_TIMEOUT " + Math.max(1, requestTimeout.toMillis()));
        }
    }

    @Override
    public Failure failure(SQLException e) {
        String state = e.getSQLState() == null ? "" : e.getSQLState();
        int code = e.getErrorCode();
        if (state.startsWith("40") || code == LOCK_TIMEOUT || code == CONCURRENT_UPDATE || code == DUPLICATE_KEY) {
            return Failure.REPEAT;
        }
        if (state.startsWith("28")) {
            return Failure.UNWELCOME;
        }
        boolean known = state.length() == 5
                && !state.startsWith("08")
                && !state.startsWith("90")
                && !state.startsWith("50")
                && !state.startsWith("HY");
        return known ? Failure.REFUSED : Failure.UNKNOWN;
    }

    /**
     * How a database keeps what is written to it.
     *
     * @param inMemory whether it has no files
     * @param named whether another connection can reach it, if it is in memory
     * @param stays whether it stays when nobody is connected
     * @param delay how many milliseconds after a commit it writes
     */
    private record Storage(boolean inMemory, boolean named, boolean stays, long delay) {
        static Storage of(Connection connection) throws SQLException {
            Map<String, Long> settings = new HashMap<>();
            try (Statement statement = connection.createStatement()) {
                try (ResultSet result = statement.executeQuery("SELECT setting_name, setting_value FROM"
                        + " INFORMATION_SCHEMA.SETTINGS WHERE setting_name IN ('" + WRITES_AFTER + "', '"
                        + CLOSES_AFTER + "')")) {
                    while (result.next()) {
                        settings.put(result.getString(1), result.getLong(2));
                    }
                }
                try (ResultSet result = statement.executeQuery("SELECT DATABASE_PATH(), CURRENT_CATALOG")) {
                    result.next();
                    boolean inMemory = result.getString(1) == null;
                    return new Storage(
                            inMemory,
                            !"UNNAMED".equalsIgnoreCase(result.getString(2)),
                            !inMemory || settings.getOrDefault(CLOSES_AFTER, 0L) == -1,
                            inMemory ? 0 : settings.getOrDefault(WRITES_AFTER, 0L));
                }
            }
        }
    }

    /** Sets for all connections, and for good, what the URL leaves open and the user may. */
    @Override
    public void prepare(Connection connection) throws SQLException {
        Storage storage = Storage.of(connection);
        if (!storage.stays) {
            set(connection, CLOSES_AFTER, -1);
        }
        if (storage.delay > 0) {
            set(connection, WRITES_AFTER, 0);
        }
    }

    private void set(Connection connection, String setting, int value) throws SQLException {
        if (driverUrl.contains(";" + setting.toLowerCase(Locale.ROOT) + "=")) {
            return;
        }
        try (Statement statement = connection.createStatement()) {
            statement.execute("SET " + setting + " " + value);
        } catch (SQLException e) {
            if (e.getErrorCode() != NO_ADMINISTRATOR && e.getErrorCode() != READ_ONLY) {
                throw e;
            }
        }
    }

    @Override
    public List<String> dangers(Connection connection) throws SQLException {
        long delay = Storage.of(connection).delay;
        return delay == 0
                ? List.of()
                : List.of("answers up to " + delay + " ms before it writes what it did (WRITE_DELAY): when its process"
                        + " ends, locks of the last moments are lost, and given to others with the same tokens. Have an"
                        + " administrator of the database carry out SET WRITE_DELAY 0, and leave it out of all URLs.");
    }

    @Override
    public Optional<String> obstacle(Connection connection) throws SQLException {
        if (connection.isReadOnly()) {
            return Optional.of("was opened for reading only. Locks are written.");
        }
        Storage storage = Storage.of(connection);
        if (!storage.named) {
            return Optional.of("is in memory and has no name, so that each connection has another one. Give it a name"
                    + " after mem: (unnamed is none).");
        }
        return storage.stays
                ? Optional.empty()
                : Optional.of("is in memory and is dropped when its last connection closes, with all locks. Put"
                        + " ;DB_CLOSE_DELAY=-1 into the URL of a user who is an administrator of the database.");
    }

    @Override
    public boolean hasTables(Connection connection, TableName table) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeQuery("SELECT COUNT(*) FROM " + table.settings()).close();
            statement
                    .executeQuery("SELECT 1 FROM " + table.locks() + " WHERE id IS NULL")
                    .close();
            return true;
        } catch (SQLException e) {
            if (e.getErrorCode() == 42102 || e.getErrorCode() == 42104) {
                return false;
            }
            throw e;
        }
    }

    @Override
    public List<Stored> read(Connection connection, TableName table, List<LockKey> keys) throws SQLException {
        String sql = "SELECT " + SqlText.ROW + ", " + NOW + " FROM " + table.locks() + " WHERE id "
                + (keys.size() == 1 ? "= ?" : "= ANY(?)") + " UNION ALL SELECT NULL, NULL, NULL, NULL, " + NOW;
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            if (keys.size() == 1) {
                statement.setString(1, RowId.of(keys.get(0)));
            } else {
                statement.setObject(1, keys.stream().map(RowId::of).toArray());
            }
            try (ResultSet result = statement.executeQuery()) {
                return SqlText.read(result, keys);
            }
        }
    }

    @Override
    public List<Written> write(Connection connection, TableName table, List<Write> writes, List<List<Notice>> notices)
            throws SQLException {
        List<Written> all = new ArrayList<>(writes.size());
        for (Write write : writes) {
            all.add(write(connection, table, write));
        }
        return all;
    }

    private Written write(Connection connection, TableName table, Write write) throws SQLException {
        Written changed = change(connection, table, write);
        if (changed != null) {
            return changed;
        }
        Stored stands = read(connection, table, List.of(write.key())).get(0);
        if (stands.version() == 0 && write.expected() == RowStore.IF_FREE) {
            insert(connection, table, write.key());
            changed = change(connection, table, write);
            if (changed != null) {
                return changed;
            }
            stands = read(connection, table, List.of(write.key())).get(0);
        }
        return new Written(false, stands);
    }

    private @Nullable Written change(Connection connection, TableName table, Write write) throws SQLException {
        boolean claims = write.expected() == RowStore.IF_FREE;
        RowColumns columns = RowColumns.of(write.row());
        String sql = "SELECT version, written, " + NOW + " FROM FINAL TABLE (UPDATE " + table.locks()
                + " SET version = GREATEST(version + 1, NEXT VALUE FOR " + table.tokens() + "), written = " + NOW
                + ", free = ?, state = ?, mode = ?, holders = ?,"
                + " held_since = " + time("CAST(? AS BIGINT)", "COALESCE(CAST(? AS BIGINT), " + NOW + ")")
                + ", held_until = "
                + time("CAST(? AS BIGINT)", "GREATEST(CAST(? AS BIGINT), " + NOW + " + CAST(? AS BIGINT))")
                + ", waiting = ?, waiters = ?, over = GREATEST(CAST(? AS BIGINT), " + NOW + " + CAST(? AS BIGINT))"
                + " WHERE id = ? AND " + (claims ? "free" : "version = ?") + ")";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            @Nullable Object held = columns.mode() == null ? null : 1L;
            @Nullable
            Object[] values = {
                write.row().isFree(),
                write.row().text(),
                columns.mode(),
                columns.holders(),
                held,
                columns.since(),
                held,
                columns.until(),
                columns.untilAfter(),
                columns.waiting(),
                columns.waiters(),
                columns.over(),
                columns.overAfter(),
                RowId.of(write.key())
            };
            for (int i = 0; i < values.length; i++) {
                Object value = values[i];
                if (value == null) {
                    statement.setNull(i + 1, i == 2 || i == 3 || i == 10 ? Types.VARCHAR : Types.BIGINT);
                } else {
                    statement.setObject(i + 1, value);
                }
            }
            if (!claims) {
                statement.setLong(values.length + 1, write.expected());
            }
            try (ResultSet result = statement.executeQuery()) {
                if (!result.next()) {
                    return null;
                }
                long version = result.getLong(1);
                Row row = write.row().stamped(version, result.getLong(2) * 1000);
                return new Written(true, new Stored(row, version, result.getLong(3) * 1000));
            }
        }
    }

    private static String time(String unlessNull, String micros) {
        return "CASE WHEN " + unlessNull + " IS NULL THEN NULL ELSE DATEADD(MICROSECOND, " + micros
                + ", TIMESTAMP WITH TIME ZONE '1970-01-01 00:00:00+00') END";
    }

    private void insert(Connection connection, TableName table, LockKey key) throws SQLException {
        String sql = "INSERT INTO " + table.locks() + " (id, name, kind, waiting, version, written, over, free, state)"
                + " VALUES (?, ?, ?, 0, 0, " + NOW + ", " + NOW + ", TRUE, ?)";
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, RowId.of(key));
            statement.setString(2, key.name().value());
            statement.setString(3, key.kind().name());
            statement.setString(4, Row.FREE.text());
            statement.executeUpdate();
        } catch (SQLException e) {
            if (e.getErrorCode() != DUPLICATE_KEY) {
                throw e;
            }
        }
    }

    @Override
    public Page list(Connection connection, TableName table, String prefix, String after, int max) throws SQLException {
        return SqlText.list(connection, SqlText.list(table, NOW), prefix, after, max);
    }

    @Override
    public boolean beginsSweep(Connection connection, TableName table, Duration lately) throws SQLException {
        return SqlText.beginsSweep(connection, table, "", NOW, lately);
    }

    @Override
    public Swept sweep(Connection connection, TableName table, Duration kept, long from) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            int gone = statement.executeUpdate("DELETE FROM " + table.locks() + " WHERE over < " + NOW + " - "
                    + kept.toNanos() / 1000 + " FETCH FIRST " + SWEPT_AT_ONCE + " ROWS ONLY");
            return new Swept(gone, gone == SWEPT_AT_ONCE ? OptionalLong.of(from) : OptionalLong.empty());
        }
    }

    @Override
    public OptionalLong floor(Connection connection, TableName table) throws SQLException {
        return SqlText.floor(connection, table);
    }

    @Override
    public void raise(Connection connection, TableName table, long floor) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("MERGE INTO " + table.settings() + " AS s USING (VALUES ('" + SqlText.FLOOR + "', "
                    + floor + ")) AS v(name, setting) ON s.name = v.name WHEN MATCHED AND s.setting < v.setting THEN"
                    + " UPDATE SET setting = v.setting WHEN NOT MATCHED THEN INSERT (name, setting) VALUES (v.name,"
                    + " v.setting)");
            long next = 0;
            try (ResultSet result = statement.executeQuery("SELECT NEXT VALUE FOR " + table.tokens())) {
                result.next();
                next = result.getLong(1);
            }
            if (next <= floor) {
                statement.execute("ALTER SEQUENCE " + table.tokens() + " RESTART WITH " + (floor + 1));
            }
        }
    }

    @Override
    public boolean writesAtOnce() {
        return false;
    }

    @Override
    public boolean tells() {
        return false;
    }

    @Override
    public Optional<Channel> channel(Connection connection) {
        return Optional.empty();
    }
}
