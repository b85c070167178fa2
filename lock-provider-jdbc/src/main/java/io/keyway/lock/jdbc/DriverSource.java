// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** New connections of our own, each made ready by the dialect, which a pool cannot do by one text for all. */
final class DriverSource implements DataSource {

    private final Dialect dialect;
    private final String url;
    private final Properties driver;
    private final Duration requestTimeout;

    DriverSource(Dialect dialect, String url, Properties driver, Duration requestTimeout) {
        this.dialect = dialect;
        this.url = url;
        this.driver = driver;
        this.requestTimeout = requestTimeout;
    }

    @Override
    public Connection getConnection() throws SQLException {
        Connection connection = DriverManager.getConnection(url, driver);
        boolean ready = false;
        try {
            dialect.begin(connection, requestTimeout);
            ready = true;
            return connection;
        } finally {
            if (!ready) {
                connection.close();
            }
        }
    }

    @Override
    public Connection getConnection(String user, String password) throws SQLException {
        throw new SQLException("the URL names the user");
    }

    @Override
    public @Nullable PrintWriter getLogWriter() {
        return null;
    }

    @Override
    public void setLogWriter(@Nullable PrintWriter out) {}

    /** The driver has its limits from its properties. */
    @Override
    public void setLoginTimeout(int seconds) {}

    @Override
    public int getLoginTimeout() {
        return 0;
    }

    @Override
    public Logger getParentLogger() {
        return Logger.getGlobal();
    }

    @Override
    public <T> T unwrap(Class<T> type) throws SQLException {
        throw new SQLException("it stands for itself");
    }

    @Override
    public boolean isWrapperFor(Class<?> type) {
        return false;
    }
}
