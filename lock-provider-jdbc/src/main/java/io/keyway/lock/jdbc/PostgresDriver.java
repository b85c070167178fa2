// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What PostgreSQL's driver offers beside JDBC, by its public interfaces. They are looked up where a connection comes
 * from, since drivers are the application's.
 */
final class PostgresDriver {

    private static final String CONNECTION = "org.postgresql.PGConnection";
    private static final String NOTIFICATION = "org.postgresql.PGNotification";

    private final Class<?> type;
    private final Object connection;

    private PostgresDriver(Class<?> type, Object connection) {
        this.type = type;
        this.connection = connection;
    }

    /** {@return the driver's side of a connection; empty if it is not PostgreSQL's, or hidden by a wrapper} */
    static Optional<PostgresDriver> of(Connection connection) {
        try {
            ClassLoader loader = connection.unwrap(Connection.class).getClass().getClassLoader();
            Class<?> type = Class.forName(CONNECTION, false, loader);
            return Optional.of(new PostgresDriver(type, connection.unwrap(type)));
        } catch (SQLException | ReflectiveOperationException e) {
            return Optional.empty();
        }
    }

    /** In a session that is ours alone; one of a pool is left as it is. */
    static void begin(Connection connection, Duration requestTimeout) throws SQLException {
        PostgresDriver driver = of(connection).orElse(null);
        if (driver == null) {
            return;
        }
        long millis = Math.max(1, requestTimeout.toMillis());
        boolean ours;
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT CASE WHEN pg_backend_pid() = " + driver.backend()
                        + " THEN concat(set_config('statement_timeout', '" + millis + "', false),"
                        + " set_config('idle_in_transaction_session_timeout', '" + millis + "', false),"
                        + " set_config('default_transaction_isolation', 'read committed', false)) END")) {
            result.next();
            ours = result.getString(1) != null;
        }
        if (!ours) {
            driver.prepareThreshold(0);
        }
    }

    /** A pool makes up the number by which its client cancels a statement; the server says its process. */
    static boolean isPooled(Connection connection) throws SQLException {
        PostgresDriver driver = of(connection).orElse(null);
        return driver == null || driver.backend() != AdvisorySql.backend(connection);
    }

    /** Has the driver give statements no names from now on; empty if it is hidden. */
    static Optional<Dialect.Undo> leaveNothing(Connection connection) throws SQLException {
        PostgresDriver driver = of(connection).orElse(null);
        if (driver == null) {
            return Optional.empty();
        }
        int before = driver.prepareThreshold();
        driver.prepareThreshold(0);
        return Optional.of(() -> driver.prepareThreshold(before));
    }

    /** {@return the number of the server process, as the other end of the connection has said} */
    private int backend() throws SQLException {
        return number("getBackendPID");
    }

    /** {@return from which use on the driver gives a statement a name at the server; 0 for never} */
    private int prepareThreshold() throws SQLException {
        return number("getPrepareThreshold");
    }

    /** Says from which use on it does; 0 for never. It holds for statements that are made from now on. */
    private void prepareThreshold(int uses) throws SQLException {
        call("setPrepareThreshold", new Class<?>[] {int.class}, uses);
    }

    /** {@return the texts of the notifications that have come, waiting for the first at most so many milliseconds} */
    List<String> notifications(int millis) throws SQLException {
        Object[] told = (Object[]) call("getNotifications", new Class<?>[] {int.class}, millis);
        List<String> texts = new ArrayList<>();
        if (told != null) {
            Method text = method(NOTIFICATION, "getParameter");
            for (Object each : told) {
                texts.add((String) invoke(text, each));
            }
        }
        return texts;
    }

    private int number(String getter) throws SQLException {
        return (Integer) Objects.requireNonNull(call(getter, new Class<?>[0]));
    }

    private Method method(String of, String name) {
        try {
            return Class.forName(of, false, type.getClassLoader()).getMethod(name);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("the driver of PostgreSQL lacks " + of + "." + name, e);
        }
    }

    private @Nullable Object call(String name, Class<?>[] takes, Object... arguments) throws SQLException {
        try {
            return invoke(type.getMethod(name, takes), connection, arguments);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException("the driver of PostgreSQL lacks " + CONNECTION + "." + name, e);
        }
    }

    private static @Nullable Object invoke(Method method, Object target, Object... arguments) throws SQLException {
        try {
            return method.invoke(target, arguments);
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof SQLException failure ? failure : new SQLException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("the driver's interfaces are public", e);
        }
    }
}
