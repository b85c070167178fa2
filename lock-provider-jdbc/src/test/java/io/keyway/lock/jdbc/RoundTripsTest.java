// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.PostgresServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** How often PostgreSQL is asked. */
class RoundTripsTest {

    private HikariDataSource pool;
    private CountedSource source;
    private LockClient client;

    @BeforeEach
    void open() throws Exception {
        String url = PostgresServer.shared().url("trips");
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url.substring("lock:".length()));
        config.setMaximumPoolSize(20);
        pool = new HikariDataSource(config);
        source = new CountedSource(pool::getConnection);
        client = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, source));
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

    @Test
    void aThousandGrantsAreRenewedByTwoStatements() throws Exception {
        renewed(client, source, 1000, Duration.ofSeconds(8), 2);
    }

    /** At the default ttl, a round is every five seconds: at most two statements a second. */
    @Test
    @Tag("soak")
    void tenThousandGrantsAreRenewedByTwentyStatements() throws Exception {
        renewed(client, source, 10_000, Duration.ofSeconds(60), 20);
    }

    static void renewed(LockClient client, CountedSource source, int count, Duration ttl, int statements)
            throws Exception {
        List<Lease> leases = new ArrayList<>();
        LockOptions options = LockOptions.none().withTtl(ttl);
        for (int i = 0; i < count; i++) {
            leases.add(client.lock("held/" + i).with(options).acquire());
        }
        // The first of them are renewed while the last are taken; in the end all go together.
        source.executed();
        List<String> seen = new ArrayList<>();
        await().atMost(Duration.ofMinutes(3))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> {
                    seen.addAll(source.executed());
                    return seen.stream()
                                    .filter(sql -> sql.contains("unnest") || sql.contains("JSON_TABLE"))
                                    .count()
                            >= statements;
                });
        assertThat(leases).allMatch(Lease::isHeld);
        assertThat(seen).hasSizeBetween(statements, statements + 1);
        leases.forEach(Lease::close);
    }
}
