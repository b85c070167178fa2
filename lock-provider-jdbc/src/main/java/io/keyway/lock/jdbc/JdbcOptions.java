// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.Option;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;

/** The options of the JDBC provider, beside the common ones; in a URL each is written {@code lock.<option>}. */
public final class JdbcOptions {

    /** What was declared so far, for {@link #ALL}. */
    private static final List<Option<?>> DECLARED = new ArrayList<>();

    /** The application's own connections. */
    public static final Option<DataSource> DATA_SOURCE = declared(Option.object("dataSource", DataSource.class)
            .withDescription("the application's DataSource, in place of connections of this client's own; one of its"
                    + " connections is kept, others are used for one statement each, and it is never closed"));

    /** What a lock is at the database. */
    public enum Mode {
        /** A row, which ends by its time. */
        TABLE,
        /** A lock that a session with PostgreSQL has, and that ends with it. */
        SESSION
    }

    /** Rows or advisory locks. */
    public static final Option<Mode> MODE = declared(Option.choice("mode", Mode.class)
            .withDefault(Mode.TABLE)
            .withDescription("table: each lock is a row; session: each is an advisory lock of PostgreSQL, which ends"
                    + " with its connection"));

    /** How many connections. */
    public static final Option<Integer> CONNECTIONS = declared(Option.number("connections", 3, 1000)
            .withDefault(4)
            .withDescription("how many connections at most; one of them is kept for renewals and releases, and one"
                    + " for messages"));

    /** Where the rows are. */
    public static final Option<String> TABLE = declared(Option.parsed(
                    "table", String.class, TableName::check, "1 to 40 letters, digits and _, perhaps after a schema")
            .withDefault("keyway_lock")
            .withDescription("the table of the locks, perhaps after its schema and a dot; its sequence and the table of"
                    + " its settings have the same name with _token and _setting behind it"));

    /** Whether to create it. */
    public static final Option<Boolean> CREATE = declared(Option.flag("create")
            .withDefault(true)
            .withDescription("whether the table is created if it is missing; else see keyway providers --ddl"));

    static {
        DECLARED.add(CommonOptions.TOKEN_FLOOR);
    }

    /** All of them. */
    public static final List<Option<?>> ALL = List.copyOf(DECLARED);

    private JdbcOptions() {}

    private static <T> Option<T> declared(Option<T> option) {
        DECLARED.add(option);
        return option;
    }
}
