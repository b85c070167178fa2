// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Stored;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The write of one row of PostgreSQL, which is nearly all of them: a statement without a WITH takes the server a third
 * of the time. It says whether the row was written; what stands in its way is read then, or, where others are likely to
 * be faster, by a second statement of the same round trip. One for each client, since it remembers rows.
 */
final class PostgresOneRow {

    private static final String NOW = PostgresDialect.NOW;

    private static final String COLUMNS = "(free, state, mode, holders, held_since, held_until, waiting, waiters, over";

    /** The values of these columns, in the order of {@link #bind}. */
    private static final String VALUES = "(?::boolean, ?::text, ?::text, ?::text,"
            + " CASE WHEN ?::boolean THEN to_timestamp(coalesce(?::bigint, " + NOW + ") / 1e6) END,"
            + " CASE WHEN ?::boolean THEN to_timestamp(greatest(?::bigint, " + NOW + " + ?::bigint) / 1e6) END,"
            + " ?::int, ?::text, greatest(?::bigint, " + NOW + " + ?::bigint)";

    private static final int[] TYPES = {
        Types.BOOLEAN,
        Types.VARCHAR,
        Types.VARCHAR,
        Types.VARCHAR,
        Types.BOOLEAN,
        Types.BIGINT,
        Types.BOOLEAN,
        Types.BIGINT,
        Types.BIGINT,
        Types.INTEGER,
        Types.VARCHAR,
        Types.BIGINT,
        Types.BIGINT
    };

    private static final String RETURNING = " RETURNING l.version, l.written, ";

    /**
     * For what leaves the row free, which nobody has to wait for the disk of: a crash that takes it back leaves the
     * lock to the holder that gave it up, until its lease ends. Whatever is committed later is on disk after it.
     */
    private static final String WITHOUT_DISK = "set_config('synchronous_commit', 'off', true)";

    /** Of the row, so that nobody is told of a write that was not done. */
    private static final String TELLING = ", (SELECT count(pg_notify(n.channel, n.text)) FROM"
            + " unnest(?::text[], ?::text[]) AS n(channel, text) WHERE l.id IS NOT NULL)";

    /** How many rows are remembered at most. */
    private static final int REMEMBERED = 4096;

    /** How a row is written. */
    private enum Way {
        /** For a key that nobody has, or that is free. */
        CLAIM,
        /** For one that is free, whose row is likely to be there: less work, since no insertion is tried in vain. */
        CLAIM_AGAIN,
        /** For a row whose version is known. */
        CHANGE,
        /** For such a row that becomes free, where nobody is to be told: most of its values are none. */
        FREE
    }

    /** Made once: the driver finds a statement by its text, whose hash a string keeps. */
    private record Texts(
            Map<Way, String> alone, Map<Way, String> withRead, Map<Way, String> last, String read, String lock) {
        static Texts of(TableName table, String telling) {
            String end = RETURNING + PostgresDialect.ON_DISK + telling;
            String change = changing(table);
            Map<Way, String> alone = new EnumMap<>(Map.of(
                    Way.CLAIM, claiming(table) + end,
                    Way.CLAIM_AGAIN, change + "l.free" + end,
                    Way.CHANGE, change + "l.version = ?" + end,
                    Way.FREE, freeing(table) + "l.version = ?" + RETURNING + WITHOUT_DISK + telling));
            String read = "SELECT " + SqlText.ROW + ", " + NOW + " FROM " + table.locks()
                    + " WHERE id = ? UNION ALL SELECT NULL, " + PostgresDialect.STANDBY + ", NULL, NULL, " + NOW;
            Map<Way, String> withRead = new EnumMap<>(alone);
            withRead.replaceAll((way, text) -> text + "; " + read);
            Map<Way, String> last = new EnumMap<>(alone);
            last.replaceAll((way, text) -> text + "; COMMIT");
            String lock =
                    "SELECT " + SqlText.ROW + ", " + NOW + ", set_config('idle_in_transaction_session_timeout', ?,"
                            + " true) FROM " + table.locks() + " WHERE id = ? FOR UPDATE";
            return new Texts(alone, withRead, last, read, lock);
        }

        String of(Way way, boolean reads) {
            return Objects.requireNonNull((reads ? withRead : alone).get(way));
        }
    }

    private final Map<TableName, Texts> plain = new ConcurrentHashMap<>();
    private final Map<TableName, Texts> telling = new ConcurrentHashMap<>();

    /**
     * A row that this client has written, and that is likely to be there still.
     *
     * @param contended whether it was not as it was expected, and has not been free since: then what stands is asked
     *     for in the same round trip
     */
    private record Known(String id, boolean contended) {}

    private final Map<LockKey, Known> known = new ConcurrentHashMap<>();

    Written write(Connection connection, TableName table, Write write, List<Notice> notices) throws SQLException {
        LockKey key = write.key();
        Known row = known.get(key);
        String id = row == null ? RowId.of(key) : row.id;
        boolean contended = row != null && row.contended;
        Way way = way(write, row == null, !notices.isEmpty());
        Texts texts = notices.isEmpty() ? plain(table) : telling(table);
        Stored stands;
        try (PreparedStatement statement = connection.prepareStatement(texts.of(way, contended))) {
            int at = bind(statement, way, write, id, notices);
            if (contended) {
                statement.setString(++at, id);
            }
            statement.execute();
            try (ResultSet result = statement.getResultSet()) {
                if (result.next()) {
                    remember(key, new Known(id, contended && !write.row().isFree()));
                    return done(write, result);
                }
            }
            if (contended) {
                statement.getMoreResults();
                try (ResultSet result = statement.getResultSet()) {
                    stands = SqlText.read(result, List.of(key)).get(0);
                }
            } else {
                stands = read(connection, table, key, id);
            }
        }
        if (stands.version() == 0) {
            known.remove(key);
        } else {
            remember(key, new Known(id, true));
        }
        return new Written(false, stands);
    }

    private static Written done(Write write, ResultSet returned) throws SQLException {
        long version = returned.getLong(1);
        long written = returned.getLong(2) * 1000;
        return new Written(true, new Stored(write.row().stamped(version, written), version, written));
    }

    /** Reads the row and locks it, in a transaction that the server ends if this client is silent for so long. */
    Stored lock(Connection connection, TableName table, LockKey key, int millis) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(plain(table).lock)) {
            statement.setString(1, Integer.toString(millis));
            statement.setString(2, RowId.of(key));
            try (ResultSet result = statement.executeQuery()) {
                if (result.next()) {
                    Stored stands = SqlText.stored(key, result);
                    SqlText.refuseUnreadable(stands, key, table);
                    return stands;
                }
            }
        }
        return read(connection, table, key);
    }

    /** Writes a row that is locked, and ends the transaction. */
    Written writeAndCommit(Connection connection, TableName table, Dialect.Locked locked) throws SQLException {
        Write write = locked.write();
        List<Notice> notices = locked.notices();
        Way way = way(write, false, !notices.isEmpty());
        Texts texts = notices.isEmpty() ? plain(table) : telling(table);
        try (PreparedStatement statement = connection.prepareStatement(Objects.requireNonNull(texts.last.get(way)))) {
            bind(statement, way, write, RowId.of(write.key()), notices);
            statement.execute();
            try (ResultSet result = statement.getResultSet()) {
                if (!result.next()) {
                    throw new SQLException("a row that was locked has changed");
                }
                return done(write, result);
            }
        }
    }

    private static Way way(Write write, boolean unknown, boolean tells) {
        if (write.expected() == RowStore.IF_FREE) {
            return unknown ? Way.CLAIM : Way.CLAIM_AGAIN;
        }
        return write.row().isFree() && !tells ? Way.FREE : Way.CHANGE;
    }

    Stored read(Connection connection, TableName table, LockKey key) throws SQLException {
        Known row = known.get(key);
        return read(connection, table, key, row == null ? RowId.of(key) : row.id);
    }

    private Stored read(Connection connection, TableName table, LockKey key, String id) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(plain(table).read)) {
            statement.setString(1, id);
            try (ResultSet result = statement.executeQuery()) {
                return SqlText.read(result, List.of(key)).get(0);
            }
        }
    }

    private void remember(LockKey key, Known row) {
        if (known.size() >= REMEMBERED && !known.containsKey(key)) {
            known.clear();
        }
        known.put(key, row);
    }

    private Texts plain(TableName table) {
        return plain.computeIfAbsent(table, of -> Texts.of(of, ""));
    }

    private Texts telling(TableName table) {
        return telling.computeIfAbsent(table, of -> Texts.of(of, TELLING));
    }

    private static int bind(PreparedStatement statement, Way way, Write write, String id, List<Notice> notices)
            throws SQLException {
        int at = way == Way.FREE ? 0 : bind(statement, write);
        if (way == Way.FREE) {
            statement.setString(++at, write.row().text());
        }
        statement.setString(++at, id);
        if (way == Way.CLAIM) {
            statement.setString(++at, write.key().name().value());
            statement.setString(++at, write.key().kind().name());
        } else if (way != Way.CLAIM_AGAIN) {
            statement.setLong(++at, write.expected());
        }
        if (!notices.isEmpty()) {
            statement.setArray(
                    ++at,
                    statement
                            .getConnection()
                            .createArrayOf(
                                    "text",
                                    notices.stream()
                                            .map(notice -> PostgresChannel.name(notice.client()))
                                            .toArray()));
            statement.setArray(
                    ++at,
                    statement
                            .getConnection()
                            .createArrayOf(
                                    "text",
                                    notices.stream().map(NoticeText::write).toArray()));
        }
        return at;
    }

    private static int bind(PreparedStatement statement, Write write) throws SQLException {
        RowColumns columns = RowColumns.of(write.row());
        boolean held = columns.mode() != null;
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
            columns.overAfter()
        };
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i], TYPES[i]);
        }
        return values.length;
    }

    private static String version(TableName table) {
        return "greatest(l.version + 1, nextval('" + table.tokens() + "'))";
    }

    private static String claiming(TableName table) {
        return "INSERT INTO " + table.locks() + " AS l " + COLUMNS + ", id, name, kind, version, written) VALUES "
                + VALUES + ", ?, ?, ?, nextval('" + table.tokens() + "'), " + NOW
                + ") ON CONFLICT (id) DO UPDATE SET version = " + version(table) + ", written = " + NOW + ", " + COLUMNS
                + ") = (EXCLUDED.free, EXCLUDED.state, EXCLUDED.mode, EXCLUDED.holders, EXCLUDED.held_since,"
                + " EXCLUDED.held_until, EXCLUDED.waiting, EXCLUDED.waiters, EXCLUDED.over) WHERE l.free";
    }

    private static String changing(TableName table) {
        return "UPDATE " + table.locks() + " AS l SET " + COLUMNS + ") = " + VALUES + "), version = " + version(table)
                + ", written = " + NOW + " WHERE l.id = ? AND ";
    }

    private static String freeing(TableName table) {
        return "UPDATE " + table.locks() + " AS l SET " + COLUMNS + ") = (true, ?::text, NULL, NULL, NULL, NULL, 0,"
                + " NULL, " + NOW + "), version = " + version(table) + ", written = " + NOW + " WHERE l.id = ? AND ";
    }
}
