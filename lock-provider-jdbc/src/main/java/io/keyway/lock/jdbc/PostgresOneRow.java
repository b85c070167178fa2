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

    private static final String RETURNING = " RETURNING l.version, l.written";

    /** Of the row, so that nobody is told of a write that was not done. */
    private static final String TELLING = ", (SELECT count(pg_notify(n.channel, n.text)) FROM"
            + " unnest(?::text[], ?::text[]) AS n(channel, text) WHERE l.id IS NOT NULL)";

    /** So many rows are remembered at most. */
    private static final int REMEMBERED = 4096;

    /** How a row is written. */
    private enum Way {
        /** For a key that nobody has, or that is free. */
        CLAIM,
        /** For one that is free, whose row is likely to be there: less work, since no insertion is tried in vain. */
        CLAIM_AGAIN,
        /** For a row whose version is known. */
        CHANGE
    }

    private record Texts(String claim, String claimAgain, String change) {
        static Texts of(TableName table, String end) {
            String change = changing(table);
            return new Texts(claiming(table) + end, change + "l.free" + end, change + "l.version = ?" + end);
        }
    }

    /** The texts of each table, made once: the driver finds a statement by its text, whose hash a string keeps. */
    private final Map<TableName, Texts> texts = new ConcurrentHashMap<>();

    private final Map<TableName, Texts> tellingTexts = new ConcurrentHashMap<>();

    /** The ids of rows that this client has written: they are likely to be there still. */
    private final Map<LockKey, String> ids = new ConcurrentHashMap<>();

    /** {@return what was written; empty if the row was not as it is expected} */
    Optional<Written> write(Connection connection, TableName table, Write write, List<Notice> notices)
            throws SQLException {
        String known = ids.get(write.key());
        String id = known == null ? RowId.of(write.key()) : known;
        Way way = write.expected() != RowStore.IF_FREE ? Way.CHANGE : known == null ? Way.CLAIM : Way.CLAIM_AGAIN;
        try (PreparedStatement statement = connection.prepareStatement(text(table, way, !notices.isEmpty()))) {
            int at = bind(statement, write);
            statement.setString(++at, id);
            if (way == Way.CLAIM) {
                statement.setString(++at, write.key().name().value());
                statement.setString(++at, write.key().kind().name());
            } else if (way == Way.CHANGE) {
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
                if (!result.next()) {
                    return Optional.empty();
                }
                remember(write.key(), id);
                long version = result.getLong(1);
                long written = result.getLong(2) * 1000;
                return Optional.of(
                        new Written(true, new Stored(write.row().stamped(version, written), version, written)));
            }
        }
    }

    private void remember(LockKey key, String id) {
        if (ids.size() >= REMEMBERED && !ids.containsKey(key)) {
            ids.clear();
        }
        ids.put(key, id);
    }

    /** Its row is gone. */
    void forget(LockKey key) {
        ids.remove(key);
    }

    private String text(TableName table, Way way, boolean tells) {
        Texts all = (tells ? tellingTexts : texts)
                .computeIfAbsent(table, of -> Texts.of(of, tells ? RETURNING + TELLING : RETURNING));
        return switch (way) {
            case CLAIM -> all.claim;
            case CLAIM_AGAIN -> all.claimAgain;
            case CHANGE -> all.change;
        };
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
}
