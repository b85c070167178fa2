// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.TokenFloor;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Looks whether a database is fit for locks, and makes the tables if they are missing. */
final class Schema {

    private static final Logger LOG = LoggerFactory.getLogger(Schema.class);

    /** One more than there are things to make, each of which another client may be about to make. */
    private static final int TRIES = 4;

    /** The name in what {@code keyway providers --ddl} prints of a database. */
    private static final String DEFAULT = JdbcOptions.TABLE.defaultValue().orElseThrow();

    /** How many rows are compared with the sequence. */
    private static final int LOOKED_AT = 10_000;

    /** What was said already: once in the life of a process is enough. */
    private static final Set<String> TOLD = ConcurrentHashMap.newKeySet();

    private final JdbcSettings settings;
    private final Dialect dialect;
    private final TableName table;
    private final Raise raise;

    /** How a floor is given. */
    @FunctionalInterface
    interface Raise {
        void to(Connection connection, long floor) throws SQLException;
    }

    Schema(JdbcSettings settings, Dialect dialect, TableName table, Raise raise) {
        this.settings = settings;
        this.dialect = dialect;
        this.table = table;
        this.raise = raise;
    }

    /**
     * Returns when the tables are there, and the floor of tokens is what the client asks for.
     *
     * @throws InvalidLockUrlException if that cannot be
     */
    void prepare(Connections connections, Deadline deadline) throws Exception {
        connections.call(Purpose.ASKING, deadline, connection -> {
            dialect.prepare(connection);
            dialect.obstacle(connection).ifPresent(why -> {
                throw new InvalidLockUrlException(settings.url() + ": this database " + why);
            });
            warn(settings, dialect.dangers(connection));
            if (!dialect.hasTables(connection, table)) {
                create(connection);
            }
            return true;
        });
        raiseToRows(connections, deadline);
        TokenFloor floor = settings.floor().orElse(null);
        if (floor != null) {
            connections.call(Purpose.ASKING, deadline, connection -> {
                if (floor.isAbove(dialect.floor(connection, table).orElse(0))) {
                    raise.to(connection, floor.wanted());
                }
                return true;
            });
        }
    }

    /** {@return what removes the tables and the sequence, or what the driver gives} */
    static <T> Optional<T> unwrap(Class<T> type, Connections connections, TableName table) {
        if (type != Leftovers.class) {
            return connections.unwrap(type);
        }
        Leftovers tables = limit -> remove(connections, table, Deadline.after(limit));
        return Optional.of(type.cast(tables));
    }

    private static void remove(Connections connections, TableName table, Deadline deadline) throws Exception {
        connections.call(Purpose.ASKING, deadline, connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("DROP TABLE IF EXISTS " + table.locks());
                statement.execute("DROP TABLE IF EXISTS " + table.settings());
                statement.execute("DROP SEQUENCE IF EXISTS " + table.tokens());
            }
            return true;
        });
    }

    /** A sequence that was made again, or was not copied with the table, begins below the versions that are out. */
    private void raiseToRows(Connections connections, Deadline deadline) throws Exception {
        connections.call(Purpose.ASKING, deadline, connection -> {
            while (isBehind(connection)) {
                long highest = number(connection, "SELECT coalesce(max(version), 0) FROM " + table.locks());
                highest = Math.max(highest, dialect.floor(connection, table).orElse(0));
                Schema.warn(
                        settings,
                        List.of("had versions of locks, or a floor of tokens, above its sequence " + table.tokens()
                                + ", as after a copy of the tables alone: the sequence was set to " + highest + "."));
                try {
                    raise.to(connection, highest);
                } catch (SQLException e) {
                    if (dialect.failure(e) != Dialect.Failure.UNWELCOME) {
                        throw e;
                    }
                    throw new InvalidLockUrlException(
                            settings.url() + ": the sequence " + table.tokens()
                                    + " is behind the versions of the table "
                                    + table.locks() + ", so that tokens would fall, and this user may not raise it ("
                                    + Masked.message(e) + "). Have it set to " + highest
                                    + " by a user with that right.",
                            e);
                }
            }
            return true;
        });
    }

    /** By some rows, and the floor that was kept: those of before a copy are all above it. */
    private boolean isBehind(Connection connection) throws SQLException {
        String highest = "SELECT max(version) FROM (SELECT version FROM " + table.locks() + " LIMIT " + LOOKED_AT
                + ") AS some_rows";
        long floor = dialect.floor(connection, table).orElse(0);
        return number(
                        connection,
                        "SELECT greatest(coalesce((" + highest + "), 0), " + floor + ") - " + dialect.nextToken(table))
                > 0;
    }

    private static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }

    /** Says each of them once. */
    static void warn(JdbcSettings settings, List<String> dangers) {
        for (String danger : dangers) {
            String warning = settings.place() + " " + danger;
            if (TOLD.add(warning)) {
                LOG.warn(warning);
            }
        }
    }

    private void create(Connection connection) throws SQLException {
        String what =
                table.locks().equals(DEFAULT) ? dialect.name().toLowerCase(Locale.ROOT) : "'" + settings.url() + "'";
        String how = "print its statements by \"keyway providers --ddl " + what
                + "\" and have them carried out by a user with that right";
        if (!settings.get(JdbcOptions.CREATE)) {
            throw new InvalidLockUrlException(settings.url() + ": there is no table " + table.locks()
                    + ", and lock.create=false says not to make it; " + how + ".");
        }
        @Nullable SQLException failure = null;
        for (int i = 0; i < TRIES; i++) {
            try (Statement statement = connection.createStatement()) {
                for (String each : dialect.ddl(table)) {
                    statement.execute(each);
                }
                return;
            } catch (SQLException e) {
                if (dialect.failure(e) == Dialect.Failure.UNKNOWN || dialect.hasTables(connection, table)) {
                    // Several clients may make the tables at once, and one of them is too late.
                    LOG.debug("{} was being made by another client", table.locks(), e);
                    return;
                }
                // The other one may have made the first of them only.
                failure = e;
            }
        }
        throw new InvalidLockUrlException(
                settings.url() + ": the table " + table.locks() + " could not be made: "
                        + Masked.message(Objects.requireNonNull(failure)) + ". If this user must not make tables, "
                        + how + ".",
                failure);
    }
}
