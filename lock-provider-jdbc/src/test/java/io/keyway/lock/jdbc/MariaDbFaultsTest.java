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
import io.keyway.lock.LockKey;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.MariaDbServer;
import io.keyway.lock.kit.table.RowStore.Write;
import io.keyway.lock.kit.table.RowStore.Written;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What MariaDB can do to a client, and what the client makes of it. */
@MariaDb
class MariaDbFaultsTest {
    private static final Dialect DIALECT = new MariaDbDialect();
    private static final TableName TABLE = new TableName("keyway_lock");
    private static final LockKey FIRST = LockKey.lock("first");

    private MariaDbServer server;
    private String url;
    private String database;

    @BeforeEach
    void start() throws Exception {
        server = MariaDbServer.shared();
        url = server.url("faults");
        database = url.replaceFirst(".*/", "").replaceFirst("\\?.*", "");
    }

    @Test
    void killedConnectionsCostNoLease() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.ttl=" + Patience.leaseSeconds(2) + "s");
                Lease lease = client.lock("kept").acquire()) {
            for (int i = 0; i < 5; i++) {
                server.killConnections(database);
                client.lock("other").acquire().close();
            }
            assertThat(lease.isHeld()).isTrue();
            assertThat(lease.remaining()).isPositive();
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

    /** Somebody has the row: the write waits for it, is rolled back in the end, and done again. */
    @Test
    void aWriteThatWaitsTooLongForItsRowIsRepeated() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()) + "&sessionVariables=innodb_lock_wait_timeout=1");
        try (HikariDataSource pool = new HikariDataSource(config);
                LockClient client = Locks.open(
                        url + "&lock.requestTimeout=20s",
                        ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
                Connection other = DriverManager.getConnection(url.substring("lock:".length()))) {
            client.lock("row").acquire().close();
            other.setAutoCommit(false);
            try (Statement statement = other.createStatement()) {
                statement.execute("SELECT * FROM keyway_lock FOR UPDATE");
            }
            CompletableFuture<Lease> waits = client.lock("row").acquireAsync();
            long started = waitingAfter(0);
            assertThat(waitingAfter(started)).as("another wait").isGreaterThan(started);
            assertThat(waits).isNotDone();
            other.rollback();
            waits.get(Patience.seconds(30), TimeUnit.SECONDS).close();
        }
    }

    /** The number of a transaction that waits for a row, and is later than that one. */
    private long waitingAfter(long after) {
        String query =
                "SELECT COALESCE(MAX(trx_id), 0) FROM information_schema.innodb_trx" + " WHERE trx_state = 'LOCK WAIT'";
        return await().until(() -> server.number(query), id -> id > after);
    }

    /** Two transactions in each of which the other's row is wanted next, and a lock's row is one of them. */
    @Test
    void aWriteThatIsTheVictimOfADeadlockIsRepeated() throws Exception {
        try (LockClient client = Locks.open(url);
                Connection stranger = DriverManager.getConnection(url.substring("lock:".length()))) {
            client.lock("a").acquire().close();
            try (Statement statement = stranger.createStatement()) {
                statement.execute("CREATE TABLE other (n INT PRIMARY KEY, big LONGTEXT) ENGINE=InnoDB");
                statement.execute("INSERT INTO other SELECT seq, REPEAT('x', 100) FROM seq_1_to_2000");
                // Each write of a lock's row wants a row of the other table next.
                statement.execute("CREATE TRIGGER also BEFORE UPDATE ON keyway_lock FOR EACH ROW"
                        + " UPDATE other SET big = 'y' WHERE n = 1");
                long before = deadlocks();
                for (int i = 0; i < 5; i++) {
                    // It has changed more rows, so that it is not the victim.
                    stranger.setAutoCommit(false);
                    statement.execute("UPDATE other SET big = CONCAT(big, 'z')");
                    CompletableFuture<Lease> waits = client.lock("a").acquireAsync();
                    await().until(() -> server.number("SELECT COUNT(*) FROM information_schema.innodb_trx"
                                    + " WHERE trx_state = 'LOCK WAIT'")
                            > 0);
                    statement.execute("UPDATE keyway_lock SET waiting = waiting");
                    stranger.rollback();
                    stranger.setAutoCommit(true);
                    waits.get(Patience.seconds(30), TimeUnit.SECONDS).close();
                }
                assertThat(deadlocks()).isGreaterThanOrEqualTo(before + 5);
            }
        }
    }

    private long deadlocks() throws SQLException {
        return server.number("SELECT variable_value FROM information_schema.global_status"
                + " WHERE variable_name = 'INNODB_DEADLOCKS'");
    }

    /** The transaction of a statement that is killed is open still: its connection must not be used again. */
    @Test
    void aStatementThatIsKilledLeavesNothingLocked() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.requestTimeout=2s&lock.connections=3");
                LockClient other = Locks.open(url);
                Connection stranger = DriverManager.getConnection(url.substring("lock:".length()))) {
            client.lock("a").acquire().close();
            client.lock("b").acquire().close();
            stranger.setAutoCommit(false);
            try (Statement statement = stranger.createStatement()) {
                statement.execute("SELECT * FROM keyway_lock FOR UPDATE");
                CompletableFuture<Lease> waits = client.lock("a").acquireAsync();
                await().until(() -> waiting(statement) != 0);
                statement.execute("KILL QUERY " + waiting(statement));
                stranger.rollback();
                waits.get(Patience.seconds(30), TimeUnit.SECONDS).close();
            }
            other.lock("a").acquire().close();
            other.lock("b").acquire().close();
            await().until(() -> server.number("SELECT COUNT(*) FROM information_schema.innodb_trx") == 0);
        }
    }

    private static long waiting(Statement statement) throws SQLException {
        try (ResultSet result = statement.executeQuery(
                "SELECT trx_mysql_thread_id FROM information_schema.innodb_trx WHERE trx_state = 'LOCK WAIT'")) {
            return result.next() ? result.getLong(1) : 0;
        }
    }

    @Test
    void aDatabaseForReadingOnlyIsRefused() throws Exception {
        server.run("SET GLOBAL read_only = ON");
        try (LockClient client = Locks.open(url)) {
            assertThatThrownBy(() -> client.lock("x").acquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("is for reading only");
        } finally {
            server.run("SET GLOBAL read_only = OFF");
        }
        try (LockClient client = Locks.open(url + "&sessionVariables=tx_read_only=1")) {
            assertThatThrownBy(() -> client.lock("x").acquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("lets this user read only");
        }
    }

    /** An administrator may write there all the same, and what it shows may be old. */
    @Test
    void aServerThatBecomesAReplicaGrantsNothingAndShowsNothing() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.ttl=60s");
                LockClient other = Locks.open(url)) {
            Lease lease = client.lock("held").acquire();
            other.lock("beside").acquire().close();
            server.run("SET GLOBAL read_only = ON");
            try {
                assertThatThrownBy(() -> other.lock("beside").tryAcquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("takes no writes");
                assertThatThrownBy(() -> other.lock("new").tryAcquire())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("takes no writes");
                assertThatThrownBy(() -> other.admin().list("", Optional.empty(), 10))
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("takes no writes");
            } finally {
                server.run("SET GLOBAL read_only = OFF");
            }
            assertThat(server.number("SELECT COUNT(*) FROM " + database + ".keyway_lock WHERE name = 'new'"))
                    .isZero();
            assertThat(other.lock("held").tryAcquire()).isEmpty();
            assertThat(lease.isHeld()).isTrue();
            other.lock("new").acquire().close();
        }
    }

    /** Two transactions of one client: none of them finds that another was faster. */
    @Test
    void aRowThatIsLockedIsWrittenByNobodyElse() throws Exception {
        try (LockClient client = Locks.open(url);
                Lease held = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(url.substring("lock:".length()));
                Connection other = DriverManager.getConnection(url.substring("lock:".length()))) {
            CompletableFuture<List<Written>> late = new CompletableFuture<>();
            Written written = DIALECT.writeLocked(one, TABLE, FIRST, Deadline.after(Duration.ofMinutes(1)), stands -> {
                Write write = new Write(FIRST, stands.version(), stands.row(), List.of(), List.of());
                late.completeAsync(() -> {
                    try {
                        return DIALECT.write(other, TABLE, List.of(write), List.of(List.of()));
                    } catch (SQLException e) {
                        throw new IllegalStateException(e);
                    }
                });
                await().until(() -> waitingAfter(0) > 0);
                return Optional.of(new Dialect.Locked(write, List.of()));
            });
            assertThat(written.done()).isTrue();
            assertThat(written.stored().version()).isGreaterThan(held.token());
            assertThat(late.get(Patience.seconds(60), TimeUnit.SECONDS))
                    .singleElement()
                    .matches(it -> !it.done());
            assertThat(one.getAutoCommit()).isTrue();
        }
    }

    /** As when it stands still, or its network is cut, on a connection of the application's. */
    @Test
    void aRowThatAClientHasLockedIsFreeWhenItsTimeIsOver() throws Exception {
        try (LockClient client = Locks.open(url);
                Lease held = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(url.substring("lock:".length()));
                Connection other = DriverManager.getConnection(url.substring("lock:".length()))) {
            assertThatThrownBy(() ->
                            DIALECT.writeLocked(one, TABLE, FIRST, Deadline.after(Duration.ofSeconds(1)), stands -> {
                                await().atMost(Patience.of(Duration.ofSeconds(30)))
                                        .ignoreExceptions()
                                        .until(() -> locks(other));
                                return Optional.empty();
                            }))
                    .isInstanceOf(SQLException.class);
            assertThat(held.isHeld()).isTrue();
        }
    }

    private static boolean locks(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT * FROM keyway_lock FOR UPDATE NOWAIT");
            return true;
        }
    }

    /** Whether it writes, writes nothing, finds no row, or is refused. */
    @Test
    void aLockedRowLeavesTheSessionAsItWas() throws Exception {
        try (LockClient client = Locks.open(url);
                Lease held = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(url.substring("lock:".length()));
                Connection other = DriverManager.getConnection(url.substring("lock:".length()))) {
            for (long before : List.of(0, 1000)) {
                set(one, "SET SESSION idle_transaction_timeout = " + before + ", innodb_lock_wait_timeout = 1");
                for (String name : List.of("first", "none")) {
                    for (boolean writes : new boolean[] {true, false}) {
                        LockKey key = LockKey.lock(name);
                        Deadline deadline = Deadline.after(Duration.ofMinutes(1));
                        Written written = DIALECT.writeLocked(one, TABLE, key, deadline, stands -> {
                            Write write = new Write(key, stands.version(), stands.row(), List.of(), List.of());
                            return writes ? Optional.of(new Dialect.Locked(write, List.of())) : Optional.empty();
                        });
                        assertThat(written.done()).isEqualTo(writes && name.equals("first"));
                        assertThat(idleTimeout(one)).isEqualTo(before);
                    }
                }
                other.setAutoCommit(false);
                assertThat(locks(other)).isTrue();
                assertThatThrownBy(() -> DIALECT.writeLocked(
                                one, TABLE, FIRST, Deadline.after(Duration.ofMinutes(1)), stands -> Optional.empty()))
                        .isInstanceOfSatisfying(
                                SQLException.class,
                                e -> assertThat(DIALECT.failure(e)).isEqualTo(Dialect.Failure.REPEAT));
                assertThat(idleTimeout(one)).isEqualTo(before);
                other.rollback();
                other.setAutoCommit(true);
            }
            assertThat(held.isHeld()).isTrue();
        }
    }

    private static void set(Connection connection, String statement) throws SQLException {
        try (Statement set = connection.createStatement()) {
            set.execute(statement);
        }
    }

    private static long idleTimeout(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery("SELECT @@SESSION.idle_transaction_timeout")) {
            result.next();
            return result.getLong(1);
        }
    }

    /** What it shows may be old, also where nothing is to be written. */
    @Test
    void aRowOfAReplicaIsNoAnswerToOneWhoLocksIt() throws Exception {
        try (LockClient client = Locks.open(url);
                Lease held = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(url.substring("lock:".length()))) {
            server.run("SET GLOBAL read_only = ON");
            try {
                for (String name : List.of("first", "none")) {
                    assertThatThrownBy(() -> DIALECT.writeLocked(
                                    one,
                                    TABLE,
                                    LockKey.lock(name),
                                    Deadline.after(Duration.ofMinutes(1)),
                                    stands -> Optional.empty()))
                            .isInstanceOfSatisfying(
                                    SQLException.class,
                                    e -> assertThat(DIALECT.failure(e)).isEqualTo(Dialect.Failure.READ_ONLY));
                }
            } finally {
                server.run("SET GLOBAL read_only = OFF");
            }
            assertThat(held.isHeld()).isTrue();
        }
    }

    @Test
    void whatIsNotWrittenToTheDiskIsNamed() throws Exception {
        try (Connection connection = DriverManager.getConnection(server.driverUrl())) {
            assertThat(DIALECT.dangers(connection)).isEmpty();
            assertThat(DIALECT.obstacle(connection)).isEmpty();
        }
        for (String unsafe : List.of("0", "2")) {
            server.run("SET GLOBAL innodb_flush_log_at_trx_commit = " + unsafe);
            try (Connection connection = DriverManager.getConnection(server.driverUrl())) {
                assertThat(DIALECT.dangers(connection))
                        .singleElement()
                        .asString()
                        .contains("innodb_flush_log_at_trx_commit=" + unsafe);
            } finally {
                server.run("SET GLOBAL innodb_flush_log_at_trx_commit = 1");
            }
        }
    }

    @Test
    void aClockThatIsMovedEndsLeasesOrKeepsThem() throws Exception {
        server.run("CREATE TABLE " + database + ".shift AS SELECT 0 AS seconds");
        String moved = MariaDbStatements.CLOCK + " + INTERVAL (SELECT seconds FROM shift) SECOND";
        ClockTest.Database there = new ClockTest.Database(
                url,
                MariaDbStatements.CLOCK,
                moved,
                seconds -> server.run("UPDATE " + database + ".shift SET seconds = " + seconds));
        ClockTest.forward(there);
        ClockTest.back(there);
    }

    /** Renewals of one client share statements, as its heartbeats do. */
    @Test
    void aThousandGrantsAreRenewedByTwoStatements() throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()));
        try (HikariDataSource pool = new HikariDataSource(config)) {
            CountedSource source = new CountedSource(pool::getConnection);
            ClientOptions options = ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, source);
            try (LockClient client = Locks.open(url, options)) {
                client.lock("first").acquire().close();
                source.executed();
                client.lock("used once").acquire().close();
                assertThat(source.executed()).as("a lock and its release").hasSize(2);
                RoundTripsTest.renewed(client, source, 1000, Duration.ofSeconds(20), 2);
            }
        }
    }
}
