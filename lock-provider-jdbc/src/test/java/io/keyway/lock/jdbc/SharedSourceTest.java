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
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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

    private ClientOptions from(CountedSource source) {
        return ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, source);
    }

    private record Running<T>(Thread thread, CompletableFuture<T> result) {
        static <T> Running<T> of(Callable<T> call) {
            CompletableFuture<T> result = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    result.complete(call.call());
                } catch (Exception e) {
                    result.completeExceptionally(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
            return new Running<>(thread, result);
        }

        T get() throws Exception {
            return result.get(Patience.seconds(60), TimeUnit.SECONDS);
        }

        void awaitWaits() {
            await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .until(() -> thread.getState() == Thread.State.TIMED_WAITING);
        }
    }

    /** The request's time is over before the pool gives anything. */
    @Test
    void aReleaseDoesNotGoAlongWithARequestThatWaitsForThePool() throws Exception {
        try (LockClient client = client("1h&lock.connections=3")) {
            LockKey kept = LockKey.lock("kept");
            Lease lease = client.lock("kept").acquire();
            CompletableFuture<Lease> waits = client.lock("kept").acquireAsync();
            TableStore store = client.unwrap(TableStore.class);
            Row row = await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .until(
                            () -> store.read(kept, minute()).row(),
                            it -> it.entries().size() == 2);
            takeAll();
            CountDownLatch busy = new CountDownLatch(1);
            CountDownLatch over = new CountDownLatch(1);
            Running<Boolean> renewal = Running.of(() -> store.call(Purpose.KEEPING, minute(), connection -> {
                busy.countDown();
                awaitEnd(over);
                return true;
            }));
            assertThat(busy.await(Patience.seconds(60), TimeUnit.SECONDS)).isTrue();
            Write ends = new Write(LockKey.lock("ended"), 1, Row.FREE, List.of(), List.of());
            Running<Written> release = Running.of(() -> store.write(ends, minute()));
            release.awaitWaits();
            Write asks = new Write(kept, 1, row, row.entries(), List.of());
            Running<Written> request = Running.of(() -> store.write(asks, Deadline.after(Duration.ofMillis(500))));
            assertThatThrownBy(request::get).hasMessageContaining("from the application's DataSource (app-pool)");
            assertThat(release.result).isNotDone();
            over.countDown();
            assertThat(release.get().done()).isFalse();
            renewal.get();
            lease.close();
            giveBack();
            waits.get(Patience.seconds(60), TimeUnit.SECONDS).close();
        }
    }

    private static Deadline minute() {
        return Deadline.after(Patience.of(Duration.ofMinutes(1)));
    }

    private static void awaitEnd(CountDownLatch end) throws SQLException {
        try {
            end.await();
        } catch (InterruptedException e) {
            throw new SQLException(e);
        }
    }

    /** As a source without limits that connects while the network is cut. */
    @Test
    void aCallOfThePoolThatNeverEndsKeepsNoLaterOneAway() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        AtomicInteger calls = new AtomicInteger();
        CountedSource source = new CountedSource(() -> {
            if (calls.incrementAndGet() == 1) {
                awaitEnd(end);
            }
            return pool.getConnection();
        });
        String limits = "30s&lock.requestTimeout=300ms&lock.connectTimeout=1s";
        try (LockClient client = Locks.open(url + limits, from(source))) {
            await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .ignoreExceptions()
                    .until(() ->
                            client.lock("x").tryAcquire(Duration.ofSeconds(1)).isPresent());
        } finally {
            end.countDown();
        }
        await().atMost(Patience.of(Duration.ofMinutes(1))).until(() -> active() == 0);
    }

    /** It has no connection on which to listen. */
    @Test
    void aClientLooksForItsTurnWhereAPoolThatIsEmptyRefusesAtOnce() throws Exception {
        AtomicBoolean empty = new AtomicBoolean();
        CountedSource source = new CountedSource(() -> {
            if (empty.get()) {
                throw new SQLException("none is left");
            }
            return pool.getConnection();
        });
        try (LockClient holder = Locks.open(url + "1h");
                LockClient client = Locks.open(url + "1h", from(source))) {
            Lease lease = holder.lock("wanted").acquire();
            client.lock("other").acquire().close();
            empty.set(true);
            CompletableFuture<Lease> waits = client.lock("wanted").acquireAsync();
            await().atMost(Patience.of(Duration.ofMinutes(1)))
                    .until(() -> source.executed().stream().anyMatch(sql -> sql.startsWith("SELECT id, version FROM")));
            lease.close();
            waits.get(Patience.seconds(60), TimeUnit.SECONDS).close();
        }
    }

    /** The pool would give no other one. */
    @Test
    void aRenewalInAHurryCostsNoConnectionWhileThePoolIsEmpty() throws Exception {
        try (LockClient client = client("1h&lock.requestTimeout=60s")) {
            client.lock("first").acquire().close();
            TableStore store = client.unwrap(TableStore.class);
            takeAll();
            // It goes by the connection that is kept, and what it asked the pool for is still to come.
            assertThat(store.call(Purpose.ASKING, minute(), Connection::getAutoCommit))
                    .isTrue();
            Deadline hurry = Deadline.after(Patience.of(Duration.ofSeconds(2)));
            assertThat(store.call(Purpose.KEEPING, hurry, Connection::getNetworkTimeout))
                    .isGreaterThan(30_000);
        }
    }

    /** What was done next on it would be a part of that transaction, and be answered without being committed. */
    @Test
    void aConnectionInATransactionIsNotUsedAgain() throws Exception {
        try (LockClient client = client("1h")) {
            client.lock("first").acquire().close();
            TableStore store = client.unwrap(TableStore.class);
            assertThatThrownBy(() -> store.call(Purpose.KEEPING, minute(), connection -> {
                        connection.setAutoCommit(false);
                        throw new SQLException("refused", "55P03");
                    }))
                    .hasMessageContaining("refused");
            assertThat(store.call(Purpose.KEEPING, minute(), Connection::getAutoCommit))
                    .isTrue();
            client.lock("first").acquire().close();
        }
    }
}
