// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore.Listed;
import io.keyway.lock.kit.table.RowStore.Stored;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** What all dialects say alike. Times in columns of numbers are microseconds since 1970, rows have nanoseconds. */
final class SqlText {

    /** The columns of a row as they are read, in the order of {@link #stored}. */
    static final String ROW = "id, version, written, state";

    /** The name under which the floor of tokens is kept. */
    static final String FLOOR = "tokenFloor";

    private static final char ESCAPE = '!';

    private SqlText() {}

    /** The row in a result that begins with {@link #ROW} and the clock. */
    static Stored stored(LockKey key, ResultSet result) throws SQLException {
        long version = result.getLong(2);
        long written = result.getLong(3) * 1000;
        Row row = Row.parse(key, result.getString(4)).stamped(version, written);
        return new Stored(row, version, result.getLong(5) * 1000);
    }

    /** Reads a result of {@link #ROW}, the clock, and, in a row without an id, the clock alone. */
    static List<Stored> read(PreparedStatement statement, List<LockKey> keys) throws SQLException {
        Map<String, LockKey> ids = new HashMap<>();
        for (LockKey key : keys) {
            ids.put(RowId.of(key), key);
        }
        Map<LockKey, Stored> found = new HashMap<>();
        long now = 0;
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                now = result.getLong(5) * 1000;
                LockKey key = ids.get(result.getString(1));
                if (key != null) {
                    found.put(key, stored(key, result));
                }
            }
        }
        Stored none = new Stored(Row.FREE, 0, now);
        return keys.stream().map(key -> found.getOrDefault(key, none)).toList();
    }

    /** Reads a result of {@link #ROW}, the clock, kind and name. */
    static List<Listed> listed(PreparedStatement statement) throws SQLException {
        List<Listed> rows = new ArrayList<>();
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                LockKey key = new LockKey(LockKey.Kind.valueOf(result.getString(6)), LockName.of(result.getString(7)));
                rows.add(new Listed(key, stored(key, result)));
            }
        }
        return rows;
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
