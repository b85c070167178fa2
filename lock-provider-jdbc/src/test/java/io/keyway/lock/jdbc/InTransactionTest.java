// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Locks of the application's own transactions. */
class InTransactionTest {

    private PostgresServer server;
    private String url;

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        url = server.url("transactions").substring("lock:".length());
    }

    private Connection connect() throws SQLException {
        Connection connection = DriverManager.getConnection(url);
        connection.setAutoCommit(false);
        return connection;
    }

    // transaction begins
    /** Numbers without gaps: the next one, taken in the transaction of that connection. */
    static int nextInvoice(Connection database, int year) throws SQLException {
        // Whoever makes an invoice of that year waits until this transaction has ended.
        JdbcLocks.inTransaction(database, "invoices/" + year);
        try (PreparedStatement insert = database.prepareStatement("INSERT INTO invoice (year, number)"
                + " SELECT ?, coalesce(max(number), 0) + 1 FROM invoice WHERE year = ? RETURNING number")) {
            insert.setInt(1, year);
            insert.setInt(2, year);
            try (ResultSet result = insert.executeQuery()) {
                result.next();
                return result.getInt(1);
            }
        }
    }
    // transaction ends

    @Test
    void numbersHaveNoGapsThoughManyTransactionsTakeThemAndSomeAreRolledBack() throws Exception {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE invoice (year int, number int)");
            connection.commit();
        }
        List<CompletableFuture<Void>> all = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            all.add(CompletableFuture.runAsync(() -> {
                try (Connection connection = connect()) {
                    for (int j = 1; j <= 30; j++) {
                        nextInvoice(connection, 2026);
                        if (j % 3 == 0) {
                            connection.rollback();
                        } else {
                            connection.commit();
                        }
                    }
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(Patience.seconds(60), TimeUnit.SECONDS);
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet result =
                        statement.executeQuery("SELECT count(*), count(DISTINCT number), max(number) FROM invoice")) {
            result.next();
            assertThat(List.of(result.getInt(1), result.getInt(2), result.getInt(3)))
                    .containsOnly(80);
        }
    }

    @Test
    void itEndsWithTheTransactionAndWithItsBackend() throws Exception {
        try (Connection one = connect();
                Connection other = connect()) {
            JdbcLocks.inTransaction(one, "x");
            JdbcLocks.inTransaction(one, "x");
            assertThat(JdbcLocks.tryInTransaction(other, "x")).isFalse();
            assertThat(JdbcLocks.tryInTransaction(other, "y")).isTrue();
            one.commit();
            assertThat(JdbcLocks.tryInTransaction(other, "x")).isTrue();
            other.rollback();

            JdbcLocks.inTransaction(one, "x");
            long backend;
            try (Statement statement = one.createStatement();
                    ResultSet result = statement.executeQuery("SELECT pg_backend_pid()")) {
                result.next();
                backend = result.getLong(1);
            }
            server.run("SELECT pg_terminate_backend(" + backend + ")");
            JdbcLocks.inTransaction(other, "x");
            assertThatThrownBy(one::commit).isInstanceOf(SQLException.class);
        }
    }

    @Test
    void whoeverWaitsWaitsForTheEndOfTheTransaction() throws Exception {
        try (Connection one = connect();
                Connection other = connect()) {
            JdbcLocks.inTransaction(one, "x");
            CompletableFuture<Void> waits = CompletableFuture.runAsync(() -> {
                try {
                    JdbcLocks.inTransaction(other, "x");
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            await().until(() -> server.number(
                            "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event ="
                                    + " 'advisory'")
                    == 1);
            assertThat(waits).isNotDone();
            one.rollback();
            waits.get(Patience.seconds(20), TimeUnit.SECONDS);
        }
    }

    @Test
    void whatCouldNotHoldIsRefused() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(true);
            assertThatThrownBy(() -> JdbcLocks.inTransaction(connection, "x"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("autocommit")
                    .hasMessageContaining("setAutoCommit(false)");
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> JdbcLocks.inTransaction(connection, "a//b"))
                    .isInstanceOf(IllegalArgumentException.class);
        }
        try (Connection h2 = DriverManager.getConnection("jdbc:h2:mem:transactions")) {
            h2.setAutoCommit(false);
            assertThatThrownBy(() -> JdbcLocks.tryInTransaction(h2, "x"))
                    .isInstanceOf(SQLFeatureNotSupportedException.class)
                    .hasMessageContaining("H2 does not have")
                    .hasMessageContaining("FOR UPDATE");
        }
    }
}
