// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** LISTEN and NOTIFY, on a channel for each client. */
final class PostgresChannel implements Dialect.Channel {

    private final Connection connection;
    private final PostgresDriver driver;

    private PostgresChannel(Connection connection, PostgresDriver driver) {
        this.connection = connection;
        this.driver = driver;
    }

    /** Empty if the connection is not one of PostgreSQL's own driver. */
    static Optional<Dialect.Channel> over(Connection connection) {
        return PostgresDriver.of(connection).map(driver -> new PostgresChannel(connection, driver));
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
        return driver.notifications((int) Math.max(1, limit.toMillis()));
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
