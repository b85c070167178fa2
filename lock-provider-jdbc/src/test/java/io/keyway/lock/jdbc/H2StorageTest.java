// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import com.zaxxer.hikari.HikariPoolMXBean;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What H2 forgets by itself, and what the provider does about it. */
class H2StorageTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    @AutoClose
    private static H2Server server;

    @TempDir
    private Path folder;

    @BeforeAll
    static void start() throws Exception {
        server = H2Server.start();
    }

    /** It would write half a second after its answer. */
    @Test
    void aServerThatIsKilledKnowsWhatItHasGranted() throws Exception {
        String url = server.inFiles(folder);
        for (int round = 0; round < 3; round++) {
            try (LockClient client = Locks.open(url + ";lock.ttl=10m")) {
                assertThat(client.lock("before").tryAcquire(Patience.of(PATIENCE)))
                        .hasValueSatisfying(Lease::close);
                Lease held = client.lock("invoices" + round).acquire();
                server.kill();
                server.restart();
                assertNobodyElseGets(held, url);
            }
        }
    }

    private static void assertNobodyElseGets(Lease held, String url) throws InterruptedException {
        try (LockClient other = Locks.open(url)) {
            try (Lease later =
                    other.lock("after").tryAcquire(Patience.of(PATIENCE)).orElseThrow()) {
                assertThat(later.token()).as("the next token").isGreaterThan(held.token());
            }
            assertThat(held.isHeld()).isTrue();
            assertThat(other.lock(held.name()).tryAcquire(Duration.ZERO)).isEmpty();
        }
    }

    /** As a pool does once in half an hour, and whenever a call has come to nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"a server", "this process"})
    void aDatabaseInMemoryOutlastsTheConnectionsToIt(String where) throws Exception {
        String url = where.equals("a server") ? server.inMemory("rotated") : "lock:jdbc:h2:mem:rotated";
        try (LockClient client = Locks.open(url + ";lock.ttl=10m")) {
            Lease held =
                    client.lock("rotated").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            HikariPoolMXBean pool = client.unwrap(DataSource.class)
                    .unwrap(HikariDataSource.class)
                    .getHikariPoolMXBean();
            pool.softEvictConnections();
            await().until(() -> pool.getActiveConnections() == 0);
            assertNobodyElseGets(held, url);
        }
    }

    @Test
    void aDatabaseInMemoryStaysWhileTheApplicationHasNoConnection() throws Exception {
        String url = server.inMemory("unconnected");
        DataSource unpooled = new CountedSource(() -> DriverManager.getConnection(url.substring("lock:".length())));
        ClientOptions options = ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, unpooled);
        try (LockClient client = Locks.open(url + ";lock.ttl=10m", options)) {
            Lease held =
                    client.lock("unconnected").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertNobodyElseGets(held, url);
        }
    }

    @Test
    void aDatabaseInMemoryThatWouldNotStayOrThatNobodyElseReachesIsRefused() {
        String patient = ";lock.connect=eager;lock.connectTimeout=60s;lock.requestTimeout=2m";
        assertThatThrownBy(() -> Locks.open(server.inMemory("short") + ";DB_CLOSE_DELAY=0" + patient))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("DB_CLOSE_DELAY=-1");
        assertThatThrownBy(() -> Locks.open("lock:jdbc:h2:mem:" + patient))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("each connection has another one");
    }

    @Test
    void whoMayNotChangeTheDatabaseIsWarned() throws Exception {
        String url = server.inFiles(folder).substring("lock:".length());
        try (Connection administrator = DriverManager.getConnection(url, "sa", "");
                Statement statement = administrator.createStatement()) {
            statement.execute("CREATE USER app PASSWORD 'x'");
            try (Connection user = DriverManager.getConnection(url, "app", "x")) {
                assertThat(dangers(url, user)).contains("WRITE_DELAY");
                assertThat(dangers(url + ";WRITE_DELAY=500", administrator)).contains("up to 500 ms");
                assertThat(dangers(url, administrator)).isEmpty();
                assertThat(dangers(url, user)).isEmpty();
            }
        }
    }

    private static String dangers(String url, Connection connection) throws SQLException {
        Dialect dialect = new H2Dialect(url);
        dialect.prepare(connection);
        return String.join("", dialect.dangers(connection));
    }

    @Test
    void whatIsPromisedIsWhatAnH2CanKeep() {
        assertThat(said(server.inMemory("promises"))).contains("process").doesNotContain("replica");
        assertThat(said(server.inFiles(folder))).contains("WRITE_DELAY").doesNotContain("replica");
        assertThat(said("lock:jdbc:h2:mem:promises")).doesNotContain("replica");
    }

    private static String said(String url) {
        try (LockClient client = Locks.open(url)) {
            Guarantee failover = client.guarantees().failover();
            assertThat(failover.grade()).isEqualTo(Grade.NO);
            return client.guarantees().exclusion().condition() + failover.condition();
        }
    }
}
