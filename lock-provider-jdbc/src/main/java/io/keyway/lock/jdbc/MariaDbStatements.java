// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.kit.table.RowStore.Write;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import org.jspecify.annotations.Nullable;

/**
 * The statements of {@link MariaDbDialect}. Of what is written one row comes as variables, several as a text of JSON:
 * a table of which costs the server half a millisecond.
 */
final class MariaDbStatements {

    /** The time when it is asked, not of the statement, and whatever the session says by {@code SET timestamp}. */
    static final String CLOCK = "SYSDATE(6)";

    private static final String UTF8 = " CHARACTER SET utf8mb4";

    /** The columns of what is wanted, in the order of {@link #row}. */
    private static final String[] WANTED = {
        "id CHAR(64) CHARACTER SET ascii COLLATE ascii_bin",
        "name VARCHAR(512)" + UTF8,
        "kind VARCHAR(9)" + UTF8,
        "expected BIGINT",
        "writer BIGINT",
        "is_free BOOLEAN",
        "state LONGTEXT" + UTF8,
        "mode VARCHAR(9)" + UTF8,
        "holders VARCHAR(1000)" + UTF8,
        "since_at BIGINT",
        "until_at BIGINT",
        "until_after BIGINT",
        "waiting INT",
        "waiters VARCHAR(1000)" + UTF8,
        "ends_at BIGINT",
        "ends_after BIGINT"
    };

    private static final String EPOCH = "TIMESTAMP'1970-01-01 00:00:00'";

    /** A clock of a zone whose clocks go back would stand for two times in that hour. */
    static final String IN_UTC = "SET STATEMENT time_zone = '+00:00' FOR ";

    private static final String W = "JSON_TABLE(wanted, '$[*]' COLUMNS (" + columns() + ")) AS w";

    private static final String ONE = variables();
    private static final String MANY = "DECLARE wanted LONGTEXT" + UTF8 + " DEFAULT ?;";

    /** 1 where a replica, or one that was a primary, takes writes of administrators alone; a number or a word. */
    private static final String READ_ONLY = "IF(CONCAT(@@global.read_only) IN ('0', 'OFF'), 0, 1)";

    static final String NOW = "TIMESTAMPDIFF(MICROSECOND, " + EPOCH + ", " + CLOCK + ")";

    private MariaDbStatements() {}

    static List<String> ddl(TableName table) {
        return List.of(
                "CREATE SEQUENCE IF NOT EXISTS " + table.tokens() + " ENGINE=InnoDB",
                """
                CREATE TABLE IF NOT EXISTS %s (
                    id         CHAR(64) CHARACTER SET ascii COLLATE ascii_bin PRIMARY KEY, -- SHA-256 of kind and name
                    name       VARCHAR(512) NOT NULL,
                    kind       VARCHAR(9)   NOT NULL, -- LOCK or SEMAPHORE
                    mode       VARCHAR(9),            -- of those that hold: EXCLUSIVE, SHARED or PERMITS
                    holders    VARCHAR(1000),         -- the clients that hold, the first twenty
                    held_since DATETIME(6),           -- when the first of them was granted, in UTC
                    held_until DATETIME(6),           -- when the last of them ends unless it is renewed, in UTC
                    waiting    INT          NOT NULL, -- how many wait
                    waiters    VARCHAR(1000),         -- the clients that wait, the first twenty
                    version    BIGINT       NOT NULL, -- of the last write; a grant's is its fencing token
                    writer     BIGINT       NOT NULL, -- a random number, by which whoever wrote last knows it
                    written    BIGINT       NOT NULL, -- when, in microseconds since 1970, by this database
                    ends       BIGINT       NOT NULL, -- when all in the row has ended, likewise
                    free       BOOLEAN      NOT NULL, -- whether nothing is in it
                    state      LONGTEXT     NOT NULL  -- all of it, for Keyway
                ) ENGINE=InnoDB CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin\
                """.formatted(table.locks()),
                """
                CREATE TABLE IF NOT EXISTS %s (
                    name    VARCHAR(40) PRIMARY KEY,
                    setting BIGINT      NOT NULL
                ) ENGINE=InnoDB CHARACTER SET ascii COLLATE ascii_bin\
                """.formatted(table.settings()));
    }

    static String read(TableName table, int keys) {
        return IN_UTC + "SELECT " + SqlText.ROW + ", " + NOW + " FROM " + table.locks() + " WHERE id IN (" + marks(keys)
                + ") UNION ALL SELECT NULL, " + READ_ONLY + ", NULL, NULL, " + NOW;
    }

    static String list(TableName table) {
        return IN_UTC + "(" + SqlText.list(table, NOW) + ") UNION ALL SELECT NULL, " + READ_ONLY + ", NULL, NULL, "
                + NOW + ", NULL, NULL";
    }

    static String over(TableName table, Duration kept, int max) {
        return IN_UTC + "SELECT id FROM " + table.locks() + " WHERE " + isOver(kept) + " LIMIT " + max;
    }

    static String delete(TableName table, Duration kept, int ids) {
        return IN_UTC + "DELETE FROM " + table.locks() + " WHERE id IN (" + marks(ids) + ") AND " + isOver(kept);
    }

    private static String isOver(Duration kept) {
        return "ends < " + NOW + " - " + kept.toNanos() / 1000;
    }

    private static String marks(int count) {
        return String.join(", ", Collections.nCopies(count, "?"));
    }

    /**
     * For keys that nobody has, or that are free. Rows that are missing are made first, free, and written then, so
     * that their versions are taken while they are locked.
     */
    static String claim(TableName table, int rows) {
        String w = w(rows);
        return transaction(
                table,
                rows,
                "written: LOOP " + update(table, rows, "l.free") + "; IF tried OR ROW_COUNT() = " + rows
                        + " THEN LEAVE written; END IF; INSERT INTO " + table.locks()
                        + " (id, name, kind, waiting, version, writer, written, ends, free, state) SELECT " + w
                        + "id, " + w + "name, " + w + "kind, 0, 0, 0, 0, 0, TRUE, '' FROM "
                        + (rows == 1 ? "DUAL" : W) + " WHERE NOT EXISTS (SELECT 1 FROM " + table.locks()
                        + " AS l WHERE l.id = " + w + "id) ON DUPLICATE KEY UPDATE version = " + table.locks()
                        + ".version; SET tried = TRUE; END LOOP");
    }

    /** For rows whose version is known. */
    static String change(TableName table, int rows) {
        return transaction(table, rows, update(table, rows, "l.version = " + w(rows) + "expected"));
    }

    /**
     * Locks a row until the transaction ends, as it does if the session is idle for so many seconds. Says whether this
     * is a replica, too, and how long a transaction might be idle before.
     */
    static String lock(TableName table) {
        return "BEGIN NOT ATOMIC DECLARE seconds BIGINT DEFAULT ?;"
                + " DECLARE before_that BIGINT DEFAULT @@SESSION.idle_transaction_timeout;"
                + " DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN " + idle("before_that") + "; RESIGNAL; END; "
                + idle("seconds") + "; " + IN_UTC + "SELECT l.id, l.version, l.written, l.state, " + NOW + ", "
                + READ_ONLY + ", before_that FROM (SELECT 1 AS one) AS nothing LEFT JOIN " + table.locks()
                + " AS l ON l.id = ? FOR UPDATE; END";
    }

    /** Has the server end a session whose transaction is idle for so many seconds. */
    static String idle(String seconds) {
        return "SET SESSION idle_transaction_timeout = " + seconds;
    }

    /** For one row that is locked, in the transaction that has locked it. */
    static String changeLocked(TableName table) {
        return guarded(table, 1, update(table, 1, "(l.version = w_expected OR (w_expected = 0 AND l.free))"), "");
    }

    /** What stands before the name of a column of what is wanted: one row is variables, several are a table. */
    private static String w(int rows) {
        return rows == 1 ? "w_" : "w.";
    }

    private static String transaction(TableName table, int rows, String work) {
        return guarded(
                table, rows, "SET TRANSACTION ISOLATION LEVEL READ COMMITTED; START TRANSACTION; " + work, " COMMIT;");
    }

    /**
     * A failure within it leaves no transaction behind; one that ends it from outside does. A server that is read-only
     * refuses the writes of most users by itself, but not those of administrators.
     */
    private static String guarded(TableName table, int rows, String work, String end) {
        String w = w(rows);
        return "BEGIN NOT ATOMIC " + (rows == 1 ? ONE : MANY) + " DECLARE tried BOOLEAN DEFAULT FALSE;"
                + " DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END; " + work + "; IF " + READ_ONLY
                + " THEN SIGNAL SQLSTATE '" + SqlText.READ_ONLY + "' SET MYSQL_ERRNO = " + SqlText.OPTION_PREVENTS
                + ", MESSAGE_TEXT = 'the server is read-only (read_only), as a replica is'; END IF; " + IN_UTC
                + "SELECT l.id, l.version, l.written, IF(l.writer = " + w + "writer, NULL, l.state), " + NOW + " FROM "
                + rowsOf(table, rows) + (rows == 1 ? " WHERE" : " ON") + " l.id = " + w + "id"
                + " UNION ALL SELECT NULL, 0, NULL, NULL, " + NOW + ";" + end + " END";
    }

    /** Several in the order in which they come, so that no two statements wait for each other. */
    private static String rowsOf(TableName table, int rows) {
        return rows == 1
                ? table.locks() + " AS l"
                : W + " STRAIGHT_JOIN " + table.locks() + " AS l FORCE INDEX (PRIMARY)";
    }

    private static String update(TableName table, int rows, String condition) {
        String w = w(rows);
        String match = " l.id = " + w + "id AND " + condition;
        return IN_UTC + "UPDATE " + rowsOf(table, rows) + (rows == 1 ? "" : " ON" + match)
                + " SET l.version = GREATEST(l.version + 1, NEXT VALUE FOR " + table.tokens() + "), l.writer = " + w
                + "writer, l.written = " + NOW + ", l.free = " + w + "is_free, l.state = " + w + "state, l.mode = " + w
                + "mode, l.holders = " + w + "holders, l.held_since = "
                + time(w, "COALESCE(" + w + "since_at, " + NOW + ")")
                + ", l.held_until = "
                + time(w, "GREATEST(" + w + "until_at, " + NOW + " + " + w + "until_after)") + ", l.waiting = " + w
                + "waiting, l.waiters = " + w + "waiters, l.ends = GREATEST(" + w + "ends_at, " + NOW + " + " + w
                + "ends_after)" + (rows == 1 ? " WHERE" + match : "");
    }

    private static String time(String w, String micros) {
        return "IF(" + w + "mode IS NULL, NULL, " + EPOCH + " + INTERVAL " + micros + " MICROSECOND)";
    }

    private static String variables() {
        StringBuilder variables = new StringBuilder();
        for (String column : WANTED) {
            variables.append("DECLARE w_").append(column).append(" DEFAULT ?; ");
        }
        return variables.toString().trim();
    }

    private static String columns() {
        StringBuilder columns = new StringBuilder();
        for (int i = 0; i < WANTED.length; i++) {
            columns.append(i == 0 ? "" : ", ")
                    .append(WANTED[i])
                    .append(" PATH '$[")
                    .append(i)
                    .append("]'");
        }
        return columns.toString();
    }

    /** Gives a statement what it writes: one row by its columns, several as JSON, in the order of their ids. */
    static void bind(PreparedStatement statement, List<Write> writes) throws SQLException {
        if (writes.size() == 1) {
            @Nullable Object[] row = row(RowId.of(writes.get(0).key()), writes.get(0));
            for (int i = 0; i < row.length; i++) {
                statement.setObject(i + 1, row[i]);
            }
            return;
        }
        record One(String id, Write write) {}
        StringBuilder json = new StringBuilder("[");
        writes.stream()
                .map(write -> new One(RowId.of(write.key()), write))
                .sorted((one, other) -> one.id.compareTo(other.id))
                .forEach(one -> append(json.append(json.length() == 1 ? "" : ","), row(one.id, one.write)));
        statement.setString(1, json.append(']').toString());
    }

    private static @Nullable Object[] row(String id, Write write) {
        RowColumns columns = RowColumns.of(write.row());
        return new @Nullable Object[] {
            id,
            write.key().name().value(),
            write.key().kind().name(),
            write.expected(),
            ThreadLocalRandom.current().nextLong(),
            write.row().isFree() ? 1 : 0,
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

    private static void append(StringBuilder json, @Nullable Object[] row) {
        char before = '[';
        for (Object value : row) {
            json.append(before);
            if (value instanceof String text) {
                quote(json, text);
            } else {
                json.append(value);
            }
            before = ',';
        }
        json.append(']');
    }

    private static void quote(StringBuilder json, String text) {
        json.append('"');
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                json.append('\\').append(c);
            } else if (c < ' ') {
                json.append("\\u00").append(Character.forDigit(c >> 4, 16)).append(Character.forDigit(c & 15, 16));
            } else {
                json.append(c);
            }
        }
        json.append('"');
    }
}
