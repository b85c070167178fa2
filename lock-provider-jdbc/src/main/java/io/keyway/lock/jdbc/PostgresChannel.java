// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * LISTEN and NOTIFY, on a channel for each client. Of the driver two methods are needed that JDBC does not have; they
 * are looked up where its connection comes from, since drivers are the application's.
 */
final class PostgresChannel implements Dialect.Channel {

    private static final String CONNECTION = "org.postgresql.PGConnection";
    private static final String NOTIFICATION = "org.postgresql.PGNotification";

    private final Connection connection;
    private final Object driver;
    private final Method notifications;
    private final Method text;

    private PostgresChannel(Connection connection, Object driver, Method notifications, Method text) {
        this.connection = connection;
        this.driver = driver;
        this.notifications = notifications;
        this.text = text;
    }

    /** Empty if the connection is not one of PostgreSQL's own driver. */
    static Optional<Dialect.Channel> over(Connection connection) {
        try {
            Connection innermost = connection.unwrap(Connection.class);
            ClassLoader loader = innermost.getClass().getClassLoader();
            Class<?> type = Class.forName(CONNECTION, false, loader);
            return Optional.of(new PostgresChannel(
                    connection,
                    connection.unwrap(type),
                    type.getMethod("getNotifications", int.class),
                    Class.forName(NOTIFICATION, false, loader).getMethod("getParameter")));
        } catch (SQLException | ReflectiveOperationException e) {
            return Optional.empty();
        }
    }

    /** The name of a client's channel: an identifier without quotes. */
    static String name(String client) {
        return "keyway_" + client;
    }

    @Override
    public void listen(String client) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("LISTEN " + name(client));
        }
    }

    @Override
    public List<String> next(Duration limit) throws SQLException {
        try {
            Object[] told = (Object[]) notifications.invoke(driver, (int) Math.max(1, limit.toMillis()));
            List<String> texts = new ArrayList<>();
            if (told != null) {
                for (Object each : told) {
                    texts.add((String) text.invoke(each));
                }
            }
            return texts;
        } catch (InvocationTargetException e) {
            throw e.getCause() instanceof SQLException failure ? failure : new SQLException(e.getCause());
        } catch (IllegalAccessException e) {
            throw new IllegalStateException("the driver's interfaces are public", e);
        }
    }

    @Override
    public void tell(String client, String word) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_notify(?, ?)")) {
            statement.setString(1, name(client));
            statement.setString(2, word);
            statement.execute();
        }
    }
}
