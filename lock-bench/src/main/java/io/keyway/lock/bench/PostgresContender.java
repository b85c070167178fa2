// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * PostgreSQL's advisory locks, as an application takes them: on a connection of a pool, kept while the lock is held.
 */
final class PostgresContender implements Contender {
    private static final int POOL = 64;
    private static final long FNV_OFFSET = 0xcbf29ce484222325L;
    private static final long FNV_PRIME = 0x100000001b3L;

    private final HikariDataSource pool;

    PostgresContender(String url) {
        pool = pool(url);
    }

    static HikariDataSource pool(String url) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(POOL);
        config.setMinimumIdle(1);
        return new HikariDataSource(config);
    }

    @Override
    public String name() {
        return "postgres";
    }

    @Override
    public Hold take(String lock) throws SQLException {
        long key = key(lock);
        Connection connection = pool.getConnection();
        try (PreparedStatement statement = connection.prepareStatement("SELECT pg_advisory_lock(?)")) {
            statement.setLong(1, key);
            statement.execute();
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
        return () -> {
            try (connection;
                    PreparedStatement statement = connection.prepareStatement("SELECT pg_advisory_unlock(?)")) {
                statement.setLong(1, key);
                try (ResultSet result = statement.executeQuery()) {
                    if (!result.next() || !result.getBoolean(1)) {
                        throw new IllegalStateException(lock + " was not held");
                    }
                }
            }
        };
    }

    /** Advisory locks have numbers for names. */
    private static long key(String lock) {
        long hash = FNV_OFFSET;
        for (int i = 0; i < lock.length(); i++) {
            hash = (hash ^ lock.charAt(i)) * FNV_PRIME;
        }
        return hash;
    }

    @Override
    public void close() {
        pool.close();
    }
}
