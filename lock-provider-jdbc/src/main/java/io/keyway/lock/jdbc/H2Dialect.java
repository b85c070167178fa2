// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Listed;
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
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Properties;
import org.jspecify.annotations.Nullable;

/**
 * H2 from 2.0 on, in this process or as a server. A row is made free first, and changed then, so that its version is
 * always taken while it is locked.
 */
final class H2Dialect implements Dialect {

    /** The time of the machine on which the database runs, when the statement began. */
    static final String CLOCK = "CURRENT_TIMESTAMP(6)";

    private static final int DUPLICATE_KEY = 23505;
    private static final int LOCK_TIMEOUT = 50200;
    private static final int CONCURRENT_UPDATE = 90131;

    private static final String NOW = "CAST(EXTRACT(EPOCH FROM " + CLOCK + ") * 1000000 AS BIGINT)";

    @Override
    public String name() {
        return "H2";
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

    @Override
    public List<String> dangers(Connection connection) {
        return List.of();
    }

    @Override
    public Optional<String> obstacle(Connection connection) throws SQLException {
        return connection.isReadOnly()
                ? Optional.of("was opened for reading only. Locks are written.")
                : Optional.empty();
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
    public List<Listed> list(Connection connection, TableName table, String prefix, String after, int max)
            throws SQLException {
        return SqlText.list(connection, SqlText.list(table, NOW), prefix, after, max);
    }

    @Override
    public int sweep(Connection connection, TableName table, Duration kept, int max) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            return statement.executeUpdate("DELETE FROM " + table.locks() + " WHERE over < " + NOW + " - "
                    + kept.toNanos() / 1000 + " FETCH FIRST " + max + " ROWS ONLY");
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
