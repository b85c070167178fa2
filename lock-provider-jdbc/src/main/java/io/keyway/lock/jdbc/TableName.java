// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.util.Locale;
import java.util.regex.Pattern;

/**
 * The names of what is kept in the database. They need no quotes, and are the same in every case of letters except the
 * schema, which is somebody else's: to MariaDB on Linux, names of another case are others.
 *
 * @param locks the table of the locks, perhaps after its schema and a dot
 */
record TableName(String locks) {

    private static final Pattern SYNTAX =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_]{0,62}\\.)?[A-Za-z_][A-Za-z0-9_]{0,39}");

    TableName {
        int table = locks.indexOf('.') + 1;
        locks = locks.substring(0, table) + locks.substring(table).toLowerCase(Locale.ROOT);
    }

    static String check(String text) {
        if (!SYNTAX.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "not the name of a table: it has 1 to 40 letters, digits and _, the first"
                            + " no digit, perhaps after a schema and a dot");
        }
        return text;
    }

    /** Returns the sequence of the tokens. */
    String tokens() {
        return locks + "_token";
    }

    /** Returns the table of what is said of all locks. */
    String settings() {
        return locks + "_setting";
    }
}
