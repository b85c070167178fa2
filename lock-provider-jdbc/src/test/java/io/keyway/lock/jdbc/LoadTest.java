// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Many threads, many names, and connections of the application. */
class LoadTest {

    private static final int THREADS = 1000;

    /** On one name, whose waiters are one row in a table, and on a hundred. */
    @Tag("soak")
    @ParameterizedTest
    @CsvSource({"table, 1", "table, 100", "session, 1", "session, 100"})
    void aThousandThreadsWaitOnFourConnections(String mode, int names) throws Exception {
        PostgresServer server = PostgresServer.shared();
        String base = server.url("crowd") + "&lock.mode=" + mode;
        String name = "crowd-" + mode + names;
        try (LockClient holder = Locks.open(base);
                LockClient client = Locks.open(base + "&lock.name=" + name)) {
            List<Lease> held = new ArrayList<>();
            AtomicInteger[] inside = new AtomicInteger[names];
            for (int i = 0; i < names; i++) {
                held.add(holder.lock("crowded/" + i).acquire());
                inside[i] = new AtomicInteger();
            }
            AtomicInteger passed = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < THREADS; i++) {
                int which = i % names;
                Runnable work = () -> {
                    try (Lease lease = client.lock("crowded/" + which).acquire()) {
                        if (inside[which].incrementAndGet() == 1 && lease.isHeld()) {
                            passed.incrementAndGet();
                        }
                        inside[which].decrementAndGet();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                };
                Thread thread = new Thread(null, work, "crowd-" + i, 128 * 1024);
                thread.start();
                threads.add(thread);
            }
            await().atMost(Patience.of(Duration.ofMinutes(2)))
                    .until(() -> threads.stream()
                            .allMatch(it -> it.getState() == Thread.State.TIMED_WAITING
                                    || it.getState() == Thread.State.WAITING));
            if (mode.equals("table")) {
                String schema = base.replaceFirst(".*currentSchema=", "").replaceFirst("&.*", "");
                await().atMost(Patience.of(Duration.ofMinutes(2)))
                        .until(() -> server.number("SELECT sum(waiting) FROM " + schema + ".keyway_lock") == THREADS);
            }
            assertThat(connections(server, name)).isBetween(1L, 4L);
            held.forEach(Lease::close);
            for (Thread thread : threads) {
                thread.join(Patience.of(Duration.ofMinutes(3)).toMillis());
            }
            assertThat(passed).hasValue(THREADS);
            assertThat(connections(server, name)).isBetween(1L, 4L);
        }
    }

    private static long connections(PostgresServer server, String client) throws Exception {
        return server.number("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'keyway " + client + "'");
    }

    /** What the page says: a row for each, for an hour, and nothing after that. */
    @Tag("soak")
    @Test
    void aHundredThousandNamesThatWereUsedOnceLeaveRowsThatAreTakenAway() throws Exception {
        PostgresServer server = PostgresServer.shared();
        String url = server.url("names");
        String schema = url.substring(url.lastIndexOf('=') + 1);
        String table = schema + ".keyway_lock";
        long last = 0;
        try (LockClient client = Locks.open(url)) {
            for (int i = 0; i < 100_000; i++) {
                try (Lease lease = client.lock("once/" + i).acquire()) {
                    last = lease.token();
                }
            }
            assertThat(server.number("SELECT count(*) FROM " + table)).isEqualTo(100_000);
            try (Lease kept = client.lock("kept").acquire();
                    Connection connection = DriverManager.getConnection(url.substring("lock:".length()))) {
                TableName name = new TableName("keyway_lock");
                Dialect dialect = new PostgresDialect();
                assertThat(sweep(dialect, connection, name))
                        .as("an hour has not passed")
                        .isZero();
                server.run("UPDATE " + table + " SET over = over - 2 * 3600 * 1000000::bigint WHERE free");
                assertThat(sweep(dialect, connection, name)).isEqualTo(100_000);
                assertThat(server.number("SELECT count(*) FROM " + table)).isEqualTo(1);
                assertThat(kept.isHeld()).isTrue();
            }
            try (Lease again = client.lock("once/99999").acquire()) {
                assertThat(again.token()).as("the row is new, the token is not").isGreaterThan(last);
            }
        }
    }

    private static int sweep(Dialect dialect, Connection connection, TableName table) throws Exception {
        int gone = 0;
        for (OptionalLong next = OptionalLong.of(0); next.isPresent(); ) {
            Dialect.Swept swept = dialect.sweep(connection, table, Sweeper.KEPT, next.getAsLong());
            gone += swept.gone();
            next = swept.next();
        }
        return gone;
    }

    static Stream<String> urls() throws Exception {
        return Stream.of(
                PostgresServer.shared().url("manual"),
                PostgresServer.shared().url("manual") + "&lock.mode=session",
                H2Server.url("manual"));
    }

    @ParameterizedTest
    @MethodSource("urls")
    void connectionsWithoutAutocommitAreUsedInAutocommit(String url) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()).replaceFirst("&lock.*", ""));
        config.setMaximumPoolSize(6);
        config.setAutoCommit(false);
        try (HikariDataSource pool = new HikariDataSource(config)) {
            try (LockClient one = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
                    LockClient other = Locks.open(url)) {
                Lease lease = one.lock("manual").acquire();
                assertThat(other.lock("manual").tryAcquire())
                        .as("it was committed")
                        .isEmpty();
                lease.close();
                other.lock("manual").acquire().close();
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getAutoCommit()).isFalse();
            }
        }
    }
}
