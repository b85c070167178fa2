// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What PostgreSQL can do to a client, and what the client makes of it. */
class FaultsTest {

    private PostgresServer server;
    private String url;

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        url = server.url("faults");
    }

    private String schema() {
        return url.substring(url.lastIndexOf('=') + 1);
    }

    /** Ends the connections of clients of that name. */
    private void terminate(String client) throws Exception {
        server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'keyway " + client
                + "'");
    }

    @Test
    void terminatedBackendsCostNoLease() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.name=terminated&lock.ttl=" + Patience.leaseSeconds(2) + "s");
                Lease lease = client.lock("kept").acquire()) {
            for (int i = 0; i < 5; i++) {
                terminate("terminated");
                client.lock("other").acquire().close();
            }
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.remaining()).isPositive();
        }
    }

    @Test
    void aWaiterIsServedThoughTheBackendThatListensIsTerminated() throws Exception {
        try (LockClient holder = Locks.open(url);
                LockClient waiter = Locks.open(url + "&lock.name=listening&lock.ttl=60s")) {
            Lease held = holder.lock("handed over").acquire();
            CompletableFuture<Lease> next = waiter.lock("handed over").acquireAsync();
            await().until(() -> server.number("SELECT count(*) FROM pg_stat_activity WHERE application_name ="
                            + " 'keyway listening' AND query LIKE '%pg_notify%'")
                    > 0);
            terminate("listening");
            held.close();
            next.get(Patience.seconds(30), TimeUnit.SECONDS).close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01"})
    void whatTheDatabaseRollsBackIsRepeated(String state) throws Exception {
        try (LockClient client = Locks.open(url + "&lock.name=rolledback" + state)) {
            client.lock("first").acquire().close();
            // A sequence counts on though its transaction is rolled back.
            server.run(
                    "CREATE SEQUENCE " + schema() + ".failed",
                    "CREATE FUNCTION " + schema() + ".fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF nextval('"
                            + schema() + ".failed') % 3 <> 0 THEN RAISE EXCEPTION 'on purpose' USING ERRCODE = '"
                            + state + "'; END IF; RETURN NEW; END $$",
                    "CREATE TRIGGER fail BEFORE INSERT OR UPDATE ON " + schema()
                            + ".keyway_lock FOR EACH ROW EXECUTE FUNCTION " + schema() + ".fail()");
            long last = 0;
            for (int i = 0; i < 10; i++) {
                try (Lease lease = client.lock("again").acquire()) {
                    assertThat(lease.token()).isGreaterThan(last);
                    last = lease.token();
                }
            }
            assertThat(server.number("SELECT last_value FROM " + schema() + ".failed"))
                    .isGreaterThanOrEqualTo(30);
        }
    }

    /** Two clients on connections that are serializable, and so fail whenever they meet. */
    @Test
    void serializableConnectionsExcludeEachOtherToo() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()));
        config.setTransactionIsolation("TRANSACTION_SERIALIZABLE");
        config.setMaximumPoolSize(8);
        try (HikariDataSource pool = new HikariDataSource(config);
                LockClient one = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
                LockClient other = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool))) {
            int[] count = {0};
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (LockClient client : List.of(one, other)) {
                all.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 50; i++) {
                        try (Lease lease = client.lock("counter").acquire()) {
                            count[0]++;
                            assertThat(lease.isHeld()).isTrue();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                }));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(Patience.seconds(60), TimeUnit.SECONDS);
            assertThat(count[0]).isEqualTo(100);
        }
    }

    @Test
    void aDatabaseThatHangsEndsTheLeaseInTimeAndNoLater() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.ttl=1s&lock.requestTimeout=300ms")) {
            Lease lease = client.lock("hung").acquire();
            server.pause();
            try {
                assertThat(lease.lost().toCompletableFuture().get(Patience.seconds(20), TimeUnit.SECONDS))
                        .isNotNull();
                assertThatThrownBy(() -> client.lock("other").tryAcquire(Duration.ofMillis(500)))
                        .isInstanceOf(LockUnavailableException.class);
            } finally {
                server.resume();
            }
            client.lock("hung").acquire().close();
        }
    }

    @Test
    void aDatabaseThatIsKilledAndStartedAgainKnowsWhatIsHeld() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.ttl=60s");
                LockClient other = Locks.open(url)) {
            Lease lease = client.lock("kept").acquire();
            server.kill();
            server.restart();
            assertThat(other.lock("kept").tryAcquire(Duration.ZERO)).isEmpty();
            assertThat(lease.isHeld()).isTrue();
            lease.close();
            try (Lease next = other.lock("kept").acquire()) {
                assertThat(next.token()).isGreaterThan(lease.token());
            }
        }
    }

    /** As this server says of itself, that answers before it has written. */
    @ParameterizedTest
    @ValueSource(strings = {"url", "DataSource"})
    void aGrantOutlastsACrashOfAServerThatAnswersBeforeItIsOnDisk(String by) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()));
        try (HikariDataSource pool = new HikariDataSource(config);
                LockClient client = Locks.open(
                        url + "&lock.ttl=10m",
                        by.equals("url")
                                ? ClientOptions.defaults()
                                : ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
                LockClient other = Locks.open(url)) {
            client.lock("first").acquire().close();
            server.run("ALTER ROLE postgres SET synchronous_commit = off");
            server.stopWalWriter();
            Lease lease = client.lock("kept").acquire();
            server.kill();
            server.restart();
            assertThat(other.lock("kept").tryAcquire(Duration.ZERO)).isEmpty();
            assertThat(lease.isHeld()).isTrue();
        } finally {
            server.run("ALTER ROLE postgres RESET synchronous_commit");
        }
    }

    /** That a lock is free need not be on disk when it is said: a crash that takes it back costs time and no safety. */
    @Test
    void aReleaseThatACrashTakesBackLeavesTheLockToTheLease() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.ttl=10m");
                LockClient other = Locks.open(url)) {
            Lease lease = client.lock("freed").acquire();
            server.run(
                    "SET synchronous_commit = on",
                    "CREATE TABLE " + schema() + ".before AS SELECT * FROM " + schema() + ".keyway_lock");
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            server.kill();
            server.restart();
            server.run(
                    "DELETE FROM " + schema() + ".keyway_lock",
                    "INSERT INTO " + schema() + ".keyway_lock SELECT * FROM " + schema() + ".before");

            assertThat(other.lock("freed").tryAcquire(Duration.ZERO)).isEmpty();
            assertThat(server.number("SELECT nextval('" + schema() + ".keyway_lock_token')"))
                    .as("the next token")
                    .isGreaterThan(lease.token());
        }
    }

    /** The time of the call is over before there is anything to send it by. */
    @Test
    void whatConnectingLeftNoTimeForIsNotSent() throws Exception {
        AtomicBoolean sent = new AtomicBoolean();
        try (FaultProxy proxy = FaultProxy.to(server.address());
                LockClient client = Locks.open(url.replace(
                        "127.0.0.1:" + server.port(),
                        "127.0.0.1:" + proxy.address().getPort()))) {
            proxy.set(Direction.TO_SERVER, Fault.delayed(Duration.ofMillis(100)));
            TableStore store = client.unwrap(TableStore.class);
            assertThatThrownBy(() -> store.call(Purpose.KEEPING, Deadline.after(Duration.ofMillis(50)), connection -> {
                        sent.set(true);
                        return connection.isValid(60);
                    }))
                    .isInstanceOf(NotExecutedException.class);
            assertThat(sent).isFalse();
        }
    }

    /** What the server has still to end would be ended, or kept, by whatever is done next on that connection. */
    @Test
    void theOutcomeOfATransactionThatCannotBeEndedIsUnknown() throws Exception {
        SQLException canceled = new SQLException("canceling statement due to user request", "57014");
        try (Connection connection = DriverManager.getConnection(url.substring("lock:".length()))) {
            Connection failing = (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("rollback")) {
                            throw canceled;
                        }
                        return method.invoke(connection, arguments);
                    });
            SQLException refused = new SQLException("refused", "55P03");
            Dialect dialect = new PostgresDialect();
            assertThat(dialect.failure(canceled)).isEqualTo(Dialect.Failure.REFUSED);
            assertThatThrownBy(() -> SqlText.inTransaction(failing, locking -> {
                        throw refused;
                    }))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(dialect.failure(e)).isEqualTo(Dialect.Failure.UNKNOWN))
                    .hasMessageContaining("canceling statement")
                    .hasSuppressedException(refused);
        }
    }

    /** As when it stands still, or its network is cut, on a connection of the application's. */
    @Test
    void aRowThatAClientHasLockedIsFreeWhenItsTimeIsOver() throws Exception {
        try (LockClient client = Locks.open(url);
                Lease held = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(url.substring("lock:".length()));
                Connection other = DriverManager.getConnection(url.substring("lock:".length()));
                Statement statement = other.createStatement()) {
            LockKey key = LockKey.lock("first");
            Deadline deadline = Deadline.after(Duration.ofSeconds(1));
            assertThatThrownBy(() -> new PostgresDialect()
                            .writeLocked(one, new TableName("keyway_lock"), key, deadline, stands -> {
                                await().atMost(Patience.of(Duration.ofSeconds(30)))
                                        .ignoreExceptions()
                                        .until(() -> statement.execute("SELECT * FROM keyway_lock FOR UPDATE NOWAIT"));
                                return Optional.empty();
                            }))
                    .isInstanceOf(SQLException.class);
            assertThat(held.isHeld()).isTrue();
        }
    }
}
