// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often PostgreSQL is asked. */
class RoundTripsTest {

    private String url = "";
    private HikariDataSource pool;
    private CountedSource source;
    private LockClient client;

    @BeforeEach
    void open() throws Exception {
        url = PostgresServer.shared().url("trips");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()));
        config.setMaximumPoolSize(20);
        pool = new HikariDataSource(config);
        source = new CountedSource(pool::getConnection);
        client = Locks.open(
                url,
                ClientOptions.defaults()
                        .with(JdbcOptions.DATA_SOURCE, source)
                        .withRequestTimeout(Duration.ofSeconds(30))); // a busy machine takes seconds for a batch
        client.lock("first").acquire().close();
        source.executed();
    }

    @AfterEach
    void close() {
        client.close();
        pool.close();
    }

    @Test
    void aLockThatNobodyElseWantsIsOneStatementAndItsReleaseIsOne() throws Exception {
        try (Lease lease = client.lock("used once").acquire()) {
            assertThat(source.executed()).hasSize(1);
            assertThat(lease.token()).isPositive();
        }
        assertThat(source.executed()).hasSize(1);

        client.lock("used once").acquire().close();
        assertThat(source.executed()).as("a second time").hasSize(2);
    }

    /** What a crash must not take back is on disk when it is said; that a lock is free may be said before. */
    @Test
    void onlyAReleaseThatLeavesNobodyWaitingIsNotWaitedForUntilItIsOnDisk() throws Exception {
        String quick = "'synchronous_commit', 'off', true";
        Lease lease = client.lock("alone").acquire();
        assertThat(source.executed()).as("a grant").hasSize(1).noneMatch(sql -> sql.contains(quick));
        lease.close();
        assertThat(source.executed()).as("a release").hasSize(1).allMatch(sql -> sql.contains(quick));
        client.lock("alone").acquire().close();
        assertThat(source.executed().get(0)).as("a grant of a known row").doesNotContain(quick);

        Lease held = client.lock("wanted").acquire();
        CompletableFuture<Lease> next = client.lock("wanted").acquireAsync();
        LockKey key = LockKey.lock("wanted");
        await().until(() -> client.admin().show(key).orElseThrow().waiters().size() == 1);
        source.executed();
        held.close();
        next.join().close();
        assertThat(source.executed())
                .as("a release while one waits, its grant and its release")
                .filteredOn(sql -> sql.contains(quick))
                .hasSize(1);
    }

    /** That claims a row which this client has written before. */
    @Test
    void aRowThatIsGoneMeanwhileIsMadeAnew() throws Exception {
        Lease before = client.lock("swept").acquire();
        before.close();
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(statement.executeUpdate("DELETE FROM keyway_lock WHERE name = 'swept'"))
                    .isEqualTo(1);
        }
        source.executed();

        try (Lease after = client.lock("swept").acquire()) {
            assertThat(source.executed())
                    .as("the row is missed, read, and inserted")
                    .hasSize(3)
                    .last()
                    .asString()
                    .startsWith("INSERT");
            assertThat(after.token()).isGreaterThan(before.token());
        }
        client.lock("swept").acquire().close();
        assertThat(source.executed()).hasSize(3).noneMatch(sql -> sql.startsWith("INSERT"));
    }

    /** Whatever this client knows of the row, another one's grant stands. */
    @Test
    void aRowThatAnotherHasMeanwhileIsNotClaimed() throws Exception {
        client.lock("shared").acquire().close();
        try (LockClient other = Locks.open(url);
                Lease held = other.lock("shared").acquire()) {
            assertThat(client.lock("shared").tryAcquire()).isEmpty();
            assertThat(held.isHeld()).isTrue();
        }
        try (Lease again = client.lock("shared").acquire()) {
            assertThat(again.isHeld()).isTrue();
        }
    }

    @Test
    void aThousandGrantsAreRenewedByTwoStatementsAtMost() throws Exception {
        renewed(client, source, 1000, Duration.ofSeconds(8), 2);
    }

    /** At the default ttl, a round is every five seconds: at most four statements a second. */
    @Test
    @Tag("soak")
    void tenThousandGrantsAreRenewedByTwentyStatementsAtMost() throws Exception {
        renewed(client, source, 10_000, Duration.ofSeconds(60), 20);
    }

    static void renewed(LockClient client, CountedSource source, int count, Duration ttl, int statements)
            throws Exception {
        List<Lease> leases = new ArrayList<>();
        LockOptions options = LockOptions.none().withTtl(ttl);
        for (int i = 0; i < count; i++) {
            leases.add(client.lock("held/" + i).with(options).acquire());
        }
        // The first of them are renewed while the last are taken; in the end all go together. Batches that wait
        // for a connection share a statement. In one of the rounds the table is swept: then the next one is looked at.
        await().atMost(Patience.of(Duration.ofMinutes(3)))
                .until(() -> statementsOfARound(leases, source, ttl), counted -> counted > 0 && counted <= statements);
        leases.forEach(Lease::close);
    }

    /** How many statements there are from the end of one round of renewals to the end of the next. */
    private static int statementsOfARound(List<Lease> leases, CountedSource source, Duration ttl) {
        awaitHeld(leases, () -> {
            LongSummaryStatistics ends = ends(leases).summaryStatistics();
            return ends.getMax() - ends.getMin() < ttl.toNanos() / 4;
        });
        source.executed();
        long[] before = ends(leases).toArray();
        awaitHeld(leases, () -> {
            long[] now = ends(leases).toArray();
            return IntStream.range(0, now.length).allMatch(i -> now[i] - before[i] > ttl.toNanos() / 8);
        });
        return source.executed().size();
    }

    private static void awaitHeld(List<Lease> leases, Callable<Boolean> condition) {
        await().atMost(Patience.of(Duration.ofMinutes(1)))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    assertThat(leases).allMatch(Lease::isHeld);
                    return condition.call();
                });
    }

    /** When each of them ends unless it is renewed. */
    private static LongStream ends(List<Lease> leases) {
        long now = System.nanoTime();
        return leases.stream().mapToLong(lease -> now + lease.remaining().toNanos());
    }
}
