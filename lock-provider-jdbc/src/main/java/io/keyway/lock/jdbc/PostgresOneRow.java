// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The write of one row of PostgreSQL, which is nearly all of them: a statement without a WITH takes the server a third
 * of the time. It says whether the row was written; what stands in its way has to be read.
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

    private static final String RETURNING = " RETURNING l.id, l.version, l.written, NULL::text, " + NOW;

    /** Of the row, so that nobody is told of a write that was not done. */
    private static final String TELLING = "(SELECT count(pg_notify(n.channel, n.text)) FROM"
            + " unnest(?::text[], ?::text[]) AS n(channel, text) WHERE l.id IS NOT NULL)";

    /** The texts of each table, made once: the driver finds a statement by its text, whose hash a string keeps. */
    private static final Map<TableName, Texts> TEXTS = new ConcurrentHashMap<>();

    private record Texts(String claim, String claimAndTell, String change, String changeAndTell) {
        static Texts of(TableName table) {
            String claim = claiming(table) + RETURNING;
            String change = changing(table) + RETURNING;
            return new Texts(claim, claim + ", " + TELLING, change, change + ", " + TELLING);
        }

        String of(boolean claims, boolean tells) {
            return claims ? (tells ? claimAndTell : claim) : (tells ? changeAndTell : change);
        }
    }

    private PostgresOneRow() {}

    /** {@return what was written; empty if the row was not as it is expected} */
    static Optional<Written> write(Connection connection, TableName table, Write write, List<Notice> notices)
            throws SQLException {
        boolean claims = write.expected() == RowStore.IF_FREE;
        String sql = TEXTS.computeIfAbsent(table, Texts::of).of(claims, !notices.isEmpty());
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            int at = bind(statement, write);
            statement.setString(++at, RowId.of(write.key()));
            if (claims) {
                statement.setString(++at, write.key().name().value());
                statement.setString(++at, write.key().kind().name());
            } else {
                statement.setLong(++at, write.expected());
            }
            if (!notices.isEmpty()) {
                statement.setArray(
                        ++at,
                        connection.createArrayOf(
                                "text",
                                notices.stream()
                                        .map(notice -> PostgresChannel.name(notice.client()))
                                        .toArray()));
                statement.setArray(
                        ++at,
                        connection.createArrayOf(
                                "text", notices.stream().map(NoticeText::write).toArray()));
            }
            try (ResultSet result = statement.executeQuery()) {
                return Optional.of(SqlText.written(result, List.of(write)).get(0))
                        .filter(Written::done);
            }
        }
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

    /** For a key that nobody has, or that is free. */
    private static String claiming(TableName table) {
        return "INSERT INTO " + table.locks() + " AS l " + COLUMNS + ", id, name, kind, version, written) VALUES "
                + VALUES + ", ?, ?, ?, nextval('" + table.tokens() + "'), " + NOW
                + ") ON CONFLICT (id) DO UPDATE SET version = " + version(table) + ", written = " + NOW + ", " + COLUMNS
                + ") = (EXCLUDED.free, EXCLUDED.state, EXCLUDED.mode, EXCLUDED.holders, EXCLUDED.held_since,"
                + " EXCLUDED.held_until, EXCLUDED.waiting, EXCLUDED.waiters, EXCLUDED.over) WHERE l.free";
    }

    /** For a row whose version is known. */
    private static String changing(TableName table) {
        return "UPDATE " + table.locks() + " AS l SET " + COLUMNS + ") = " + VALUES + "), version = " + version(table)
                + ", written = " + NOW + " WHERE l.id = ? AND l.version = ?";
    }
}
