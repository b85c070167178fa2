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
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A DataSource whose connections the application takes, too: all of them, and for longer than a request may take. */
class SharedSourceTest {

    private static final int SIZE = 5;

    private PostgresServer server;
    private String url;
    private HikariDataSource pool;

    /** Held by the application. */
    private final List<Connection> taken = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        server = PostgresServer.shared();
        url = server.url("shared") + "&lock.ttl=";
        HikariConfig config = new HikariConfig();
        config.setPoolName("app-pool");
        config.setJdbcUrl(url.substring("lock:".length()));
        config.setMaximumPoolSize(SIZE);
        // A call of the pool waits for as long as that.
        config.setConnectionTimeout(TimeUnit.HOURS.toMillis(1));
        pool = new HikariDataSource(config);
    }

    @AfterEach
    void end() throws SQLException {
        giveBack();
        pool.close();
    }

    private LockClient client(String ttl) {
        return Locks.open(url + ttl, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
    }

    private int active() {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }

    /** The application takes each connection that is left. */
    private void takeAll() throws SQLException {
        while (active() < SIZE) {
            taken.add(pool.getConnection());
        }
    }

    private void giveBack() throws SQLException {
        for (Connection each : taken) {
            each.close();
        }
        taken.clear();
    }

    @ParameterizedTest
    @ValueSource(strings = {"table", "session"})
    void aHeldLeaseIsRenewedAndReleasedWhileTheApplicationHasAllConnections(String mode) throws Exception {
        try (LockClient client = client("12s&lock.mode=" + mode)) {
            Lease lease = client.lock("held").acquire();
            takeAll();
            for (int i = 0; i < 2; i++) {
                Renewals.awaitNext(lease);
            }
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.lost().toCompletableFuture()).isNotDone();
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** The pool would answer in an hour. */
    @ParameterizedTest
    @ValueSource(strings = {"table", "session"})
    void aTimedTryEndsInItsTimeAndSaysWhichPoolIsFull(String mode) throws Exception {
        takeAll();
        try (LockClient client = client("30s&lock.connectTimeout=1s&lock.mode=" + mode)) {
            assertThatThrownBy(() -> client.lock("wanted").tryAcquire(Duration.ofSeconds(5)))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasMessageContaining("from the application's DataSource (app-pool)")
                    .hasMessageContaining("Give locks a pool of their own");
            giveBack();
            // What was fetched for a caller that left is of use now.
            await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .ignoreExceptions()
                    .until(() -> {
                        client.lock("wanted").acquire().close();
                        return true;
                    });
        }
        await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> active() == 0);
    }

    /** As in an application that takes a lock within a transaction. */
    @Test
    void threadsThatWaitWithAConnectionInHandGetTheirLock() throws Exception {
        try (LockClient client = client("30s")) {
            Lease lease = client.lock("wanted").acquire();
            takeAll();
            List<CompletableFuture<Void>> waiters = new ArrayList<>();
            for (int i = 0; i < taken.size(); i++) {
                waiters.add(CompletableFuture.runAsync(() -> {
                    try (Lease its = client.lock("wanted").acquire()) {
                        assertThat(its.isHeld()).isTrue();
                    } catch (InterruptedException e) {
                        throw new IllegalStateException(e);
                    }
                }));
            }
            await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .until(() -> server.number("SELECT waiting FROM " + schema() + ".keyway_lock WHERE name = 'wanted'")
                            == waiters.size());
            lease.close();
            for (CompletableFuture<Void> each : waiters) {
                each.get(Patience.seconds(60), TimeUnit.SECONDS);
            }
        }
    }

    private String schema() {
        return url.replaceFirst(".*currentSchema=", "").replaceFirst("&.*", "");
    }

    /** Neither the one that is kept nor those that come too late are kept from the application. */
    @Test
    void aClientThatIsClosedGivesAllBackAndWaitsForNone() throws Exception {
        LockClient client = client("30s");
        Lease lease = client.lock("held").acquire();
        takeAll();
        CompletableFuture<Lease> waits = client.lock("held").acquireAsync();
        await().atMost(Patience.of(Duration.ofMinutes(1)))
                .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() > 0);
        client.close();
        assertThat(lease.isHeld()).isFalse();
        assertThat(waits).isCompletedExceptionally();
        giveBack();
        await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> active() == 0);
        takeAll();
        assertThat(taken).hasSize(SIZE);
    }

    /** As when the server was started again: what was kept is of no use any more. */
    @Test
    void aKeptConnectionThatHasEndedIsReplaced() throws Exception {
        try (LockClient client = client("30s")) {
            for (int i = 0; i < 3; i++) {
                Lease lease = client.lock("held").acquire();
                server.run("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                        + " AND backend_type = 'client backend'");
                // The pool tries what was idle for half a second, and so is the kept one.
                await().pollDelay(Duration.ofMillis(600)).until(() -> true);
                assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
            }
            await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> active() == 1);
        }
    }
}
