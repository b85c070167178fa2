// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.jdbc.Watched.Work;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore.Listed;
import io.keyway.lock.kit.table.RowStore.Page;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What all dialects say and do alike. Times in columns of numbers are microseconds since 1970, rows have nanoseconds.
 */
final class SqlText {

    /** The columns of a row as they are read, in the order of {@link #stored}. */
    static final String ROW = "id, version, written, state";

    private static final Logger LOG = LoggerFactory.getLogger(SqlText.class);

    /** The version of a row that cannot be read. */
    static final long UNREADABLE = -1;

    /** Does that work in a transaction, and rolls back what the work has not committed. */
    static <T> T inTransaction(Connection connection, Work<T> work) throws SQLException {
        connection.setAutoCommit(false);
        Throwable failure = null;
        try {
            return work.on(connection);
        } catch (Throwable e) {
            failure = e;
            throw e;
        } finally {
            end(connection, failure);
        }
    }

    /** If that fails nobody knows what is open still, whatever the failure says: it has no state. */
    private static void end(Connection connection, @Nullable Throwable failure) throws SQLException {
        try {
            connection.rollback(); // a driver sends nothing when no transaction is open
            connection.setAutoCommit(true);
        } catch (SQLException e) {
            SQLException unknown = new SQLException(
                    "a transaction could not be ended (" + e.getMessage() + ")"
                            + (failure == null ? "" : " after: " + failure.getMessage()),
                    e);
            if (failure != null) {
                unknown.addSuppressed(failure);
            }
            throw unknown;
        }
    }

    /** The rows of which it was said that they cannot be read. */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private static final int MOST_TOLD = 1000;

    private static final String DATA_EXCEPTION = "22000";

    /** The state of a failure that says that a server takes no writes. */
    static final String READ_ONLY = "25006";

    /** What MariaDB calls it. */
    static final int OPTION_PREVENTS = 1290;

    /** The name under which the floor of tokens is kept. */
    static final String FLOOR = "tokenFloor";

    /** The name under which is kept when a sweep began last. */
    private static final String SWEPT_AT = "sweptAt";

    private static final char ESCAPE = '!';

    private SqlText() {}

    /** The row in a result that begins with {@link #ROW} and the clock. */
    static Stored stored(LockKey key, ResultSet result) throws SQLException {
        long version = result.getLong(2);
        long written = result.getLong(3) * 1000;
        long now = result.getLong(5) * 1000;
        try {
            return new Stored(Row.parse(key, result.getString(4)).stamped(version, written), version, now);
        } catch (IllegalArgumentException e) {
            warn(key + " of version " + version, e);
            return new Stored(Row.FREE, UNREADABLE, now);
        }
    }

    /** A row that is to be written has to be one of ours. */
    static void refuseUnreadable(Stored stands, LockKey key, TableName table) throws SQLException {
        if (stands.version() == UNREADABLE) {
            throw new SQLException(unreadable(key, table), DATA_EXCEPTION);
        }
    }

    /** Says once that a row is none of ours, or of a newer version: it must not cost more than its own lock. */
    private static void warn(String row, IllegalArgumentException e) {
        if (TOLD.size() < MOST_TOLD && TOLD.add(row)) {
            LOG.warn(
                    "The row of {} cannot be read ({}). Another program, or a newer version of Keyway, has written it."
                            + " Nobody gets that lock by this client; all others go on.",
                    row,
                    e.getMessage());
        }
    }

    /** Why nothing can be done with the row of that key. */
    static String unreadable(LockKey key, TableName table) {
        return "the row of the " + key + " in " + table.locks()
                + " cannot be read. Another program, or a newer version of"
                + " Keyway, has written it: update this client, or delete the row if nobody holds the lock";
    }

    /**
     * Reads a result of {@link #ROW}, the clock, and, in a row without an id, the clock alone, with a version that is
     * not 0 if the rows are those of a server that follows another, and may be old.
     */
    static List<Stored> read(ResultSet result, List<LockKey> keys) throws SQLException {
        Map<String, LockKey> ids = new HashMap<>();
        for (LockKey key : keys) {
            ids.put(RowId.of(key), key);
        }
        Map<LockKey, Stored> found = new HashMap<>();
        long now = 0;
        while (result.next()) {
            now = result.getLong(5) * 1000;
            LockKey key = ids.get(result.getString(1));
            if (key == null) {
                refuseStandby(result.getLong(2) != 0);
            } else {
                found.put(key, stored(key, result));
            }
        }
        Stored none = new Stored(Row.FREE, 0, now);
        return keys.stream().map(key -> found.getOrDefault(key, none)).toList();
    }

    /** What a standby shows is no answer. */
    static void refuseStandby(boolean isStandby) throws SQLException {
        if (isStandby) {
            throw new SQLException("a standby, which knows of late what is held", READ_ONLY, OPTION_PREVENTS);
        }
    }

    /**
     * Reads a result of {@link #ROW} and the clock after those writes: without a state the row that was written, with
     * one what stood in its way; and, in a row without an id, the clock alone.
     */
    static List<Written> written(ResultSet result, List<Write> writes) throws SQLException {
        Map<String, Integer> byId = new HashMap<>();
        for (int i = 0; i < writes.size(); i++) {
            byId.put(RowId.of(writes.get(i).key()), i);
        }
        @Nullable Written[] found = new Written[writes.size()];
        long now = 0;
        while (result.next()) {
            now = result.getLong(5) * 1000;
            Integer which = byId.get(result.getString(1));
            if (which != null) {
                found[which] = written(writes.get(which), result);
            }
        }
        List<Written> all = new ArrayList<>(found.length);
        for (Written each : found) {
            all.add(each == null ? new Written(false, new Stored(Row.FREE, 0, now)) : each);
        }
        return all;
    }

    private static Written written(Write write, ResultSet result) throws SQLException {
        if (result.getString(4) != null) {
            return new Written(false, stored(write.key(), result));
        }
        long version = result.getLong(2);
        Row row = write.row().stamped(version, result.getLong(3) * 1000);
        return new Written(true, new Stored(row, version, result.getLong(5) * 1000));
    }

    /** The rows that are not free of names that begin with the prefix; in the words of PostgreSQL, H2 and MariaDB. */
    static String list(TableName table, String now) {
        return "SELECT " + ROW + ", " + now + ", kind, name FROM " + table.locks()
                + " WHERE NOT free AND id > ? AND name LIKE ? ESCAPE '!' ORDER BY id LIMIT ?";
    }

    /** What {@link #list} asks for. */
    static void listing(PreparedStatement statement, String prefix, String after, int max) throws SQLException {
        statement.setString(1, after);
        statement.setString(2, startingWith(prefix));
        statement.setInt(3, max);
    }

    /** Carries out {@link #list}. */
    static Page list(Connection connection, String sql, String prefix, String after, int max) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            listing(statement, prefix, after, max);
            try (ResultSet result = statement.executeQuery()) {
                return listed(result, max);
            }
        }
    }

    /**
     * Reads the result of {@link #list}; a row without an id says whether this is a standby. Rows that cannot be read
     * are left out.
     */
    static Page listed(ResultSet result, int max) throws SQLException {
        List<Listed> rows = new ArrayList<>();
        int found = 0;
        String last = "";
        while (result.next()) {
            String id = result.getString(1);
            if (id == null) {
                refuseStandby(result.getLong(2) != 0);
                continue;
            }
            found++;
            last = id;
            try {
                LockKey key = new LockKey(LockKey.Kind.valueOf(result.getString(6)), LockName.of(result.getString(7)));
                Stored stored = stored(key, result);
                if (stored.version() != UNREADABLE) {
                    rows.add(new Listed(key, stored));
                }
            } catch (IllegalArgumentException e) {
                warn("the id " + id, e);
            }
        }
        return new Page(rows, found < max ? Optional.empty() : Optional.of(last));
    }

    /** The versions of those of the keys that have a row. */
    static Map<LockKey, Long> versions(Connection connection, TableName table, List<LockKey> keys) throws SQLException {
        Map<String, LockKey> ids = new HashMap<>();
        keys.forEach(key -> ids.put(RowId.of(key), key));
        String sql = "SELECT id, version FROM " + table.locks() + " WHERE id IN ("
                + String.join(", ", Collections.nCopies(keys.size(), "?")) + ")";
        Map<LockKey, Long> versions = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int at = 0;
            for (String id : ids.keySet()) {
                statement.setString(++at, id);
            }
            try (ResultSet result = statement.executeQuery()) {
                while (result.next()) {
                    versions.put(ids.get(result.getString(1)), result.getLong(2));
                }
            }
        }
        return versions;
    }

    /**
     * Notes that a client begins to sweep, unless one has for so long; in the words of PostgreSQL, H2 and MariaDB. It
     * fails for one of two that do so for the first time.
     *
     * @param first what each statement begins with
     */
    static boolean beginsSweep(Connection connection, TableName table, String first, String now, Duration lately)
            throws SQLException {
        String again = first + "UPDATE " + table.settings() + " SET setting = " + now + " WHERE name = '" + SWEPT_AT
                + "' AND (setting < " + now + " - " + lately.toNanos() / 1000 + " OR setting > " + now + ")";
        String once = first + "INSERT INTO " + table.settings() + " (name, setting) SELECT '" + SWEPT_AT + "', " + now
                + " FROM (SELECT 1 AS one) AS nothing WHERE NOT EXISTS (SELECT 1 FROM " + table.settings()
                + " WHERE name = '" + SWEPT_AT + "')";
        try (Statement statement = connection.createStatement()) {
            for (String each : List.of(again, once)) {
                statement.execute(each);
                if (statement.getUpdateCount() > 0) {
                    return true;
                }
            }
            return false;
        }
    }

    /** The floor of tokens that was given; empty if none was. */
    static OptionalLong floor(Connection connection, TableName table) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement("SELECT setting FROM " + table.settings() + " WHERE name = ?")) {
            statement.setString(1, FLOOR);
            try (ResultSet result = statement.executeQuery()) {
                return result.next() ? OptionalLong.of(result.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /** The pattern of LIKE for what begins with that text; its escape is {@code !}. */
    static String startingWith(String prefix) {
        StringBuilder pattern = new StringBuilder();
        for (int i = 0; i < prefix.length(); i++) {
            char c = prefix.charAt(i);
            if (c == '%' || c == '_' || c == ESCAPE) {
                pattern.append(ESCAPE);
            }
            pattern.append(c);
        }
        return pattern.append('%').toString();
    }
}
