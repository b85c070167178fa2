// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Databases that are not as they should be. */
class FitnessTest {

    private static String schema(String url) {
        return url.substring(url.lastIndexOf('=') + 1);
    }

    /** Names of locks and clients are Unicode; no other try would find letters there. */
    @Test
    void anEncodingThatLacksLettersIsRefusedForGood() throws Exception {
        PostgresServer server = PostgresServer.shared();
        server.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
        String url = "lock:" + server.driverUrl().replace("/postgres?", "/latin?");
        try (LockClient client = Locks.open(url)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofMinutes(1)))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("encoding LATIN1")
                    .hasMessageContaining("UTF8");
        }
    }

    /** As databases do that speak PostgreSQL's protocol and have stubs in place of its locks. */
    @ParameterizedTest
    @ValueSource(strings = {"CockroachDB CCL v23.1", "PostgreSQL 11.2-YB-2.18.0.0-b0 on x86_64-pc-linux-gnu"})
    void whatIsNotPostgreSqlButCallsItselfSoIsRefused(String version) throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("other" + version.length());
        server.run("CREATE FUNCTION " + schema(url) + ".version() RETURNS text LANGUAGE sql AS" + " $$ SELECT '"
                + version + "' $$");
        String first = url + ",pg_catalog";
        try (LockClient client = Locks.open(first + "&lock.mode=session")) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofMinutes(1)))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining(version);
        }
        try (Connection connection = DriverManager.getConnection(first.substring("lock:".length()))) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> JdbcLocks.tryInTransaction(connection, "x"))
                    .isInstanceOf(SQLFeatureNotSupportedException.class)
                    .hasMessageContaining(version);
        }
    }

    /** As after a copy of the table without it. */
    @Test
    void aSequenceThatIsBehindItsRowsIsRaised() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("behind");
        try (LockClient client = Locks.open(url + "&lock.tokenFloor=5000")) {
            client.lock("before").acquire().close();
        }
        server.run("ALTER SEQUENCE " + schema(url) + ".keyway_lock_token RESTART");
        try (LockClient client = Locks.open(url);
                Lease lease = client.lock("never used").acquire()) {
            assertThat(lease.token()).isGreaterThan(5000);
        }
    }

    @Test
    void aSequenceOfH2ThatIsBehindItsRowsIsRaised() throws Exception {
        String url = H2Server.url("behind");
        try (LockClient client = Locks.open(url + ";lock.tokenFloor=5000")) {
            client.lock("before").acquire().close();
            try (Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                    Statement statement = connection.createStatement()) {
                statement.execute("ALTER SEQUENCE keyway_lock_token RESTART WITH 1");
            }
            try (LockClient other = Locks.open(url);
                    Lease lease = other.lock("never used").acquire()) {
                assertThat(lease.token()).isGreaterThan(5000);
            }
        }
    }

    /** Until it ends no version of a row goes, and a lock that is taken often becomes slower and slower. */
    @Test
    void anOldSnapshotIsADanger() throws Exception {
        PostgresServer server = PostgresServer.shared();
        server.run("CREATE TABLE old_snapshot (n int)");
        try (Connection old = DriverManager.getConnection(server.driverUrl());
                Connection connection = DriverManager.getConnection(server.driverUrl());
                Statement reads = old.createStatement();
                Statement writes = connection.createStatement()) {
            assertThat(new PostgresDialect().dangers(connection)).noneMatch(it -> it.contains("far behind"));
            old.setAutoCommit(false);
            old.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            reads.executeQuery("SELECT 1").close();
            // Each of them is a transaction, and nobody has a minute.
            writes.execute("DO $$ BEGIN FOR i IN 1..10100 LOOP INSERT INTO old_snapshot VALUES (i); COMMIT; END LOOP;"
                    + " END $$");
            try (ResultSet result = writes.executeQuery(PostgresFitness.oldSnapshots("1 microsecond"))) {
                result.next();
                assertThat(result.getLong(1)).isPositive();
            }
            old.rollback();
            try (ResultSet result = writes.executeQuery(PostgresFitness.oldSnapshots("1 microsecond"))) {
                result.next();
                assertThat(result.getLong(1)).isZero();
            }
        } finally {
            server.run("DROP TABLE old_snapshot");
        }
    }

    /** As when a listener that stands still has filled the server's queue: a notice is a hint. */
    @Test
    void aReleaseWhoseNotificationFailsIsARelease() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("full");
        try (LockClient client = Locks.open(url)) {
            client.lock("x").acquire().close();
        }
        server.run("CREATE FUNCTION " + schema(url) + ".pg_notify(text, text) RETURNS void LANGUAGE plpgsql AS"
                + " $$ BEGIN RAISE EXCEPTION 'too many notifications in the NOTIFY queue' USING ERRCODE = '54000';"
                + " END $$");
        String first = url.substring("lock:".length()) + ",pg_catalog";
        try (Connection connection = DriverManager.getConnection(first);
                Connection listens = DriverManager.getConnection(first);
                Statement statement = listens.createStatement()) {
            LockKey key = LockKey.lock("x");
            Write write = new Write(key, RowStore.IF_FREE, Row.FREE, List.of(), List.of());
            List<Notice> notices = List.of(new Notice.Turn("0123", key, 1));
            for (int rows = 1; rows <= 2; rows++) {
                List<Write> writes = List.of(
                                write, new Write(LockKey.lock("y"), RowStore.IF_FREE, Row.FREE, List.of(), List.of()))
                        .subList(0, rows);
                assertThat(new PostgresDialect()
                                .write(
                                        connection,
                                        new TableName("keyway_lock"),
                                        writes,
                                        List.of(notices, notices).subList(0, rows)))
                        .hasSize(rows)
                        .allMatch(Written::done);
            }

            AdvisoryKey session = AdvisoryKey.of("full", LockName.of("x"));
            AdvisorySql sql = new AdvisorySql(new TableName("keyway_lock"));
            assertThat(sql.tryLock(connection, session, LockMode.EXCLUSIVE)).isPresent();
            statement.execute("SELECT pg_advisory_lock_shared(" + session.high() + ", " + session.low() + ")");
            AdvisorySql.unlock(connection, session, LockMode.EXCLUSIVE, "keyway_full");
            assertThat(sql.tryLock(listens, session, LockMode.EXCLUSIVE))
                    .as("after the release")
                    .isPresent();
        }
    }

    @Test
    void aTableHasOneNameInEveryCase() {
        assertThat(new TableName("App.My_Locks")).isEqualTo(new TableName("App.my_locks"));
        assertThat(new TableName("App.My_Locks").tokens()).isEqualTo("App.my_locks_token");
    }
}
