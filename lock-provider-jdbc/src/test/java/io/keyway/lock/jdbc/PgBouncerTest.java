// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.jdbc.server.PgBouncer;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Behind a real PgBouncer, whose sessions are also those of other applications. */
class PgBouncerTest {

    private static final int ROUNDS = 60;

    private PostgresServer server;
    private PgBouncer bouncer;
    private String schema;

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        bouncer = PgBouncer.before(server, "transaction");
        String url = server.url("bouncer");
        schema = url.substring(url.lastIndexOf('=') + 1);
    }

    @AfterEach
    void end() throws Exception {
        bouncer.close();
    }

    private String url(String table) {
        return "lock:" + bouncer.driverUrl() + "&lock.table=" + schema + "." + table;
    }

    /** As applications have it: a pool of connections to the other pool. */
    private HikariDataSource pool() {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(bouncer.driverUrl());
        config.setMaximumPoolSize(8);
        return new HikariDataSource(config);
    }

    /** By their names, one would carry out the other's statement: on the wrong table, with its tokens. */
    @ParameterizedTest
    @ValueSource(strings = {"url", "DataSource"})
    void clientsOfTwoTablesDoNotCarryOutEachOthersStatements(String by) throws Exception {
        List<String> wrong = Collections.synchronizedList(new ArrayList<>());
        List<LockClient> clients = new ArrayList<>();
        try (HikariDataSource pool = pool()) {
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (String table : List.of("ta", "tb", "ta", "tb")) {
                clients.add(
                        by.equals("url")
                                ? Locks.open(url(table))
                                : Locks.open(
                                        url(table), ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool)));
            }
            // One sees the tokens of a table in the order of its grants.
            List<Long> inA = Collections.synchronizedList(new ArrayList<>());
            List<Long> inB = Collections.synchronizedList(new ArrayList<>());
            for (int i = 0; i < clients.size(); i++) {
                LockClient client = clients.get(i);
                List<Long> tokens = i % 2 == 0 ? inA : inB;
                all.add(CompletableFuture.runAsync(() -> take(client, tokens, wrong)));
            }
            for (CompletableFuture<Void> each : all) {
                each.get(Patience.seconds(180), TimeUnit.SECONDS);
            }
            assertThat(wrong).isEmpty();
            for (List<Long> tokens : List.of(inA, inB)) {
                assertThat(tokens).hasSize(2 * ROUNDS).isSorted().doesNotHaveDuplicates();
            }
        } finally {
            clients.forEach(LockClient::close);
        }
    }

    private static void take(LockClient client, List<Long> tokens, List<String> wrong) {
        for (int i = 0; i < ROUNDS; i++) {
            try (Lease lease = client.lock("same name").acquire()) {
                tokens.add(lease.token());
                ReleaseOutcome outcome = lease.release();
                if (outcome != ReleaseOutcome.RELEASED) {
                    wrong.add("released: " + outcome);
                }
            } catch (InterruptedException | LockException e) {
                wrong.add(e.toString());
            }
        }
    }

    /** What all sessions of the pool have of what a client might have left there. */
    private Set<String> settings() throws SQLException {
        Set<String> all = new TreeSet<>();
        List<Connection> held = new ArrayList<>();
        try {
            for (int i = 0; i < bouncer.sessions(); i++) {
                Connection connection = bouncer.connect();
                held.add(connection);
                connection.setAutoCommit(false);
                try (Statement statement = connection.createStatement();
                        ResultSet result = statement.executeQuery("SELECT name || '=' || setting FROM pg_settings WHERE"
                                + " source = 'session' AND name NOT IN ('application_name', 'client_encoding',"
                                + " 'DateStyle', 'TimeZone', 'extra_float_digits') UNION ALL"
                                + " SELECT 'listens to ' || pg_listening_channels()"
                                + " UNION ALL SELECT 'has ' || name FROM pg_prepared_statements")) {
                    while (result.next()) {
                        all.add(result.getString(1));
                    }
                }
            }
        } finally {
            for (Connection each : held) {
                each.rollback();
                each.close();
            }
        }
        return all;
    }

    /** A report that takes longer than a request of ours must not end by that. */
    @Test
    void nothingOfAClientStaysWithOtherApplicationsOfThePool() throws Exception {
        assertThat(settings()).isEmpty();
        server.run("ALTER ROLE postgres SET default_transaction_isolation = 'repeatable read'");
        try (LockClient holder = Locks.open(url("ta"));
                LockClient waiter = Locks.open(url("ta"))) {
            for (int i = 0; i < 20; i++) {
                Lease lease = holder.lock("passed on").acquire();
                CompletableFuture<Lease> next = waiter.lock("passed on").acquireAsync();
                lease.close();
                next.get(Patience.seconds(60), TimeUnit.SECONDS).close();
            }
        } finally {
            server.run("ALTER ROLE postgres RESET default_transaction_isolation");
        }
        assertThat(settings()).isEmpty();
    }

    /** A driver that cannot be set to give statements no names gives them names. */
    @Test
    void connectionsThatHideTheirDriverAreRefused() throws Exception {
        try (HikariDataSource pool = pool();
                LockClient client = Locks.open(
                        url("ta"),
                        ClientOptions.defaults()
                                .with(
                                        JdbcOptions.DATA_SOURCE,
                                        new CountedSource(() -> hidden(pool.getConnection()))))) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofMinutes(1)))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("pool of transactions")
                    .hasMessageContaining("unwrap to org.postgresql.PGConnection");
        }
    }

    private static Connection hidden(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("unwrap")) {
                        throw new SQLException("this is all there is");
                    }
                    try {
                        return method.invoke(connection, arguments);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    /** A pool that gives a session for as long as a client has its connection is as the server itself. */
    @Test
    void behindAPoolOfSessionsBothModesServeAndWaitersAreNotified() throws Exception {
        try (PgBouncer sessions = PgBouncer.before(server, "session")) {
            String table = "lock:" + sessions.driverUrl() + "&lock.ttl=10m&lock.table=" + schema + ".sessions";
            for (String mode : List.of("table", "session")) {
                String url = table + "&lock.mode=" + mode;
                try (LockClient holder = Locks.open(url);
                        LockClient waiter = Locks.open(url + "&lock.name=told" + mode)) {
                    Lease lease = holder.lock("handed over").acquire();
                    CompletableFuture<Lease> next = waiter.lock("handed over").acquireAsync();
                    String asks = mode.equals("table") ? "SELECT pg_notify" : "SELECT CASE WHEN set_config";
                    await().until(() -> server.number("SELECT count(*) FROM pg_stat_activity WHERE application_name ="
                                    + " 'keyway told" + mode + "' AND query LIKE '" + asks + "%'")
                            > 0);
                    lease.close();
                    next.get(Patience.seconds(60), TimeUnit.SECONDS).close();
                }
            }
        }
    }

    /** As after a fail-over to an address behind which others share the sessions. */
    @Test
    void aPoolThatIsThereSinceAFailOverIsNoticedBeforeAClientListens() throws Exception {
        try (FaultProxy proxy = FaultProxy.to(server.address())) {
            String there = "lock:jdbc:postgresql://127.0.0.1:" + proxy.address().getPort()
                    + "/postgres?user=postgres&lock.table=" + schema + ".moved&lock.ttl=10m";
            try (LockClient holder = Locks.open(there);
                    LockClient waiter = Locks.open(there)) {
                waiter.lock("before").acquire().close();
                Lease lease = holder.lock("handed over").acquire();
                proxy.redirect(bouncer.address());
                proxy.reset();
                CompletableFuture<Lease> next = waiter.lock("handed over").acquireAsync();
                await().atMost(Patience.of(Duration.ofMinutes(1)))
                        .until(() -> server.number("SELECT coalesce(max(waiting), 0) FROM " + schema + ".moved") == 1);
                lease.close();
                next.get(Patience.seconds(60), TimeUnit.SECONDS).close();
                assertThat(settings()).isEmpty();
            }
        }
    }

    /** In any session that serves it, with any setting of the disk. */
    @Test
    void aGrantOutlastsACrashOfAServerThatAnswersBeforeItIsOnDisk() throws Exception {
        server.run("ALTER ROLE postgres SET synchronous_commit = off");
        try (LockClient client = Locks.open(url("ta") + "&lock.ttl=10m");
                LockClient other = Locks.open(url("ta"))) {
            client.lock("first").acquire().close();
            server.stopWalWriter();
            Lease lease = client.lock("kept").acquire();
            server.kill();
            server.restart();
            assertThat(other.lock("kept").tryAcquire(Duration.ofSeconds(5))).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        } finally {
            server.run("ALTER ROLE postgres RESET synchronous_commit");
        }
    }

    /** A lock of a session would be anybody's. */
    @Test
    void sessionModeIsRefused() throws Exception {
        try (LockClient client = Locks.open(url("ta") + "&lock.mode=session")) {
            // It waits: without that the first connection may take longer than an attempt may.
            assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofMinutes(1)))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("pool of transactions")
                    .hasMessageContaining("lock.mode=table");
        }
        assertThat(server.number("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'"))
                .isZero();
    }
}
