// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.kit.table.Notice;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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

    /** As after a copy of the tables without it, when all rows are gone: tokens that are out were above that floor. */
    @Test
    void aSequenceThatIsBehindTheFloorThatWasKeptIsRaised() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("floored");
        try (LockClient client = Locks.open(url + "&lock.tokenFloor=5000")) {
            client.lock("before").acquire().close();
        }
        for (String floor : List.of("", "&lock.tokenFloor=5000")) {
            server.run(
                    "ALTER SEQUENCE " + schema(url) + ".keyway_lock_token RESTART",
                    "DELETE FROM " + schema(url) + ".keyway_lock");
            try (LockClient client = Locks.open(url + floor);
                    Lease lease = client.lock("never used").acquire()) {
                assertThat(lease.token()).isGreaterThan(5000);
            }
        }
    }

    /** Sessions take tokens without the table, while a client in table mode raises them. */
    @Test
    void aRaiseOfTokensTakesNoneBackThatASessionHas() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("raised");
        try (LockClient client = Locks.open(url)) {
            client.lock("before").acquire().close();
        }
        TableName table = new TableName("keyway_lock");
        Set<Long> seen = ConcurrentHashMap.newKeySet();
        AtomicBoolean over = new AtomicBoolean();
        try (Connection raises = DriverManager.getConnection(url.substring("lock:".length()));
                Connection takes = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = takes.createStatement()) {
            CompletableFuture<Void> session = CompletableFuture.runAsync(() -> {
                try {
                    while (!over.get()) {
                        try (ResultSet result = statement.executeQuery(
                                "SELECT nextval('keyway_lock_token') FROM generate_series(1, 1000)")) {
                            while (result.next()) {
                                assertThat(seen.add(result.getLong(1)))
                                        .as("token " + result.getLong(1) + " is new")
                                        .isTrue();
                            }
                        }
                    }
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            long floor = 0;
            for (int i = 0; i < 300 && !session.isDone(); i++) {
                new PostgresDialect().raise(raises, table, floor);
                floor = server.number(
                        "SELECT last_value + " + i % 3 * 100 + " FROM " + schema(url) + ".keyway_lock_token");
            }
            over.set(true);
            session.get(Patience.seconds(60), TimeUnit.SECONDS);
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
        // Of its own: another test's clients may have a snapshot of before for as long as they like.
        try (PostgresServer server = PostgresServer.own();
                Connection old = DriverManager.getConnection(server.driverUrl());
                Connection connection = DriverManager.getConnection(server.driverUrl());
                Statement reads = old.createStatement();
                Statement writes = connection.createStatement()) {
            server.run("CREATE TABLE old_snapshot (n int)");
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
            // The server itself may have a snapshot of before for a moment.
            await().atMost(Patience.of(Duration.ofSeconds(20))).until(() -> {
                try (ResultSet result = writes.executeQuery(PostgresFitness.oldSnapshots("1 microsecond"))) {
                    result.next();
                    return result.getLong(1) == 0;
                }
            });
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

    /** As after another program, or a newer version, has written there. */
    @ParameterizedTest
    @ValueSource(strings = {"PostgreSQL", "H2"})
    void aFreeRowOfAnotherFormatIsTakenOver(String where) throws Exception {
        boolean h2 = where.equals("H2");
        String url = h2 ? H2Server.url("format") : PostgresServer.shared().url("format");
        try (LockClient client = Locks.open(url);
                LockClient other = Locks.open(url);
                Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = connection.createStatement()) {
            client.lock("a").acquire().close();
            for (LockClient each : List.of(client, other)) {
                statement.executeUpdate("UPDATE keyway_lock SET state = 'rows3', version = version + 1");
                assertThat(statement.getUpdateCount()).isEqualTo(1);
                try (Lease lease = each.lock("a").acquire()) {
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"PostgreSQL", "H2"})
    void aRowThatCannotBeReadCostsItsOwnLockAlone(String where) throws Exception {
        boolean h2 = where.equals("H2");
        String url = h2 ? H2Server.url("poem") : PostgresServer.shared().url("poem");
        try (LockClient client = Locks.open(url + (h2 ? ";" : "&") + "lock.ttl=" + Patience.leaseSeconds(5) + "s");
                Connection connection = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = connection.createStatement()) {
            Map<String, Lease> held = new TreeMap<>();
            for (String name : List.of("a", "b", "c", "d")) {
                held.put(name, client.lock(name).acquire());
            }
            statement.executeUpdate("UPDATE keyway_lock SET state = 'a poem', version = version + 1 WHERE name = 'b'");
            statement.executeUpdate("UPDATE keyway_lock SET kind = 'ODE' WHERE name = 'd'");
            Lease spoiled = held.remove("b");
            held.remove("d");
            for (int i = 0; i < 2; i++) {
                held.values().forEach(Renewals::awaitNext);
            }
            assertThat(held.values()).allMatch(Lease::isHeld);
            await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> !spoiled.isHeld());
            assertThatThrownBy(() -> client.lock("b").tryAcquire(Duration.ofSeconds(1)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("cannot be read");
            List<String> listed = new ArrayList<>();
            Optional<String> next = Optional.empty();
            do {
                LockPage page = client.admin().list("", next, 1);
                page.locks().forEach(each -> listed.add(each.key().name().value()));
                next = page.next();
            } while (next.isPresent());
            assertThat(listed).containsExactlyInAnyOrder("a", "c");
            held.values().forEach(Lease::close);
        }
    }

    @Test
    void aTableHasOneNameInEveryCase() {
        assertThat(new TableName("App.My_Locks")).isEqualTo(new TableName("App.my_locks"));
        assertThat(new TableName("App.My_Locks").tokens()).isEqualTo("App.my_locks_token");
    }
}
