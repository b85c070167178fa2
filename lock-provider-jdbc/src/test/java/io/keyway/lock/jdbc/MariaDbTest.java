// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.server.MariaDbServer;
import io.keyway.lock.tck.process.Patience;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks in MariaDB: drivers, names, rights, what a session may be set to. */
@MariaDb
class MariaDbTest {

    private MariaDbServer server;
    private String url;

    @BeforeEach
    void start() throws Exception {
        server = MariaDbServer.shared();
        url = server.url("maria");
    }

    private String driverUrl() {
        return url.substring("lock:".length());
    }

    private static String database(String url) {
        return url.replaceFirst(".*/", "").replaceFirst("\\?.*", "");
    }

    /** With prepared statements of the client and of the server, and by the other driver. */
    @ParameterizedTest
    @ValueSource(strings = {"mariadb", "mariadb useServerPrepStmts=true", "mysql", "mysql useServerPrepStmts=true"})
    void aLockIsTakenRefusedGivenBackAndTakenAgainByEachDriver(String driver) throws Exception {
        String[] words = driver.split(" ", -1);
        String its = url.replace("jdbc:mariadb:", "jdbc:" + words[0] + ":") + (words.length > 1 ? "&" + words[1] : "");
        try (LockClient one = Locks.open(its);
                LockClient other = Locks.open(url)) {
            long first;
            try (Lease lease = one.lock("jobs/nightly").acquire()) {
                first = lease.token();
                assertThat(other.lock("jobs/nightly").tryAcquire(Duration.ZERO)).isEmpty();
                CompletableFuture<Lease> next = other.lock("jobs/nightly").acquireAsync();
                lease.close();
                try (Lease second = next.get(Patience.seconds(20), TimeUnit.SECONDS)) {
                    assertThat(second.token()).isGreaterThan(first);
                    assertThat(one.lock("jobs/nightly").tryAcquire(Duration.ZERO))
                            .isEmpty();
                }
            }
        }
    }

    /** The database's own collation is one that finds most of them equal. */
    @Test
    void namesThatDifferInCaseBlanksOrTheirEndsAreDifferentLocks() throws Exception {
        server.run("ALTER DATABASE " + database(url) + " CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci");
        NamesTest.check(url);
    }

    /** In a character set that has few of the letters. */
    @Test
    void namesAreKeptInADatabaseOfAnotherCharacterSet() throws Exception {
        server.run("ALTER DATABASE " + database(url) + " CHARACTER SET ascii");
        NamesTest.check(url);
        try (LockClient client = Locks.open(url)) {
            for (String name : List.of("\uD83D\uDD12 \\ \" ' ; --", "日本語/ключ")) {
                try (Lease lease = client.lock(name).acquire()) {
                    assertThat(client.admin().list(name, Optional.empty(), 10).locks())
                            .singleElement()
                            .satisfies(it -> assertThat(it.key()).isEqualTo(LockKey.lock(name)));
                    assertThat(lease.isHeld()).isTrue();
                }
            }
        }
    }

    @Test
    void whoMustNotMakeTablesIsToldHowToAndUsesThoseThatOthersHaveMade() throws Exception {
        String name = database(url);
        server.run(
                "CREATE USER '" + name + "'@'127.0.0.1' IDENTIFIED BY 's3cr3t'",
                "GRANT SELECT, INSERT, UPDATE, DELETE ON " + name + ".* TO '" + name + "'@'127.0.0.1'");
        String limited = url.replace("user=keyway", "user=" + name + "&password=s3cr3t");
        try (LockClient client = Locks.open(limited)) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("keyway providers --ddl mariadb")
                    .hasMessageContaining("CREATE command denied")
                    .hasMessageNotContaining("s3cr3t");
        }
        try (LockClient client = Locks.open(limited.replace("s3cr3t", "s3cr3t-wrong"))) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire(Duration.ofSeconds(20)))
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("Access denied")
                    .hasMessageNotContaining("s3cr3t");
        }

        try (Connection connection = DriverManager.getConnection(driverUrl() + "&allowMultiQueries=true")) {
            connection
                    .createStatement()
                    .execute(new JdbcProvider().ddl().get("mariadb").replaceFirst(";\\s*$", ""));
        }
        try (LockClient client = Locks.open(limited + "&lock.tokenFloor=5000");
                Lease lease = client.lock("x").acquire()) {
            assertThat(lease.token()).isGreaterThan(5000);
            assertThat(client.features()).doesNotContain(Feature.WAKE_UP).contains(Feature.SEMAPHORE);
        }
    }

    @Test
    void noTableIsMadeIfTheUrlSaysSoAndNoneWithoutADatabase() throws Exception {
        try (LockClient client = Locks.open(url + "&lock.create=false")) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("there is no table keyway_lock");
        }
        try (LockClient client = Locks.open("lock:" + server.driverUrl())) {
            assertThatThrownBy(() -> client.lock("x").tryAcquire())
                    .isInstanceOf(InvalidLockUrlException.class)
                    .hasMessageContaining("No database selected");
        }
        assertThatThrownBy(() -> Locks.open(url + "&lock.mode=session"))
                .isInstanceOf(InvalidLockUrlException.class)
                .hasMessageContaining("MariaDB has none");
    }

    @Test
    void clientsThatMakeTheTablesAtOnceDoNotMeet() throws Exception {
        for (int round = 0; round < 3; round++) {
            RightsTest.race(server.url("race"));
        }
    }

    @Test
    void aTableInAnotherDatabaseIsNamedWithIt() throws Exception {
        String other = database(server.url("other"));
        String its = url + "&lock.table=" + other + ".locks";
        try (LockClient client = Locks.open(its);
                Lease lease = client.lock("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
            assertThat(server.number("SELECT COUNT(*) FROM " + other + ".locks"))
                    .isEqualTo(1);
        }
        try (LockClient client = Locks.open(its + "&lock.create=false");
                Lease lease = client.lock("x").acquire()) {
            assertThat(lease.isHeld()).isTrue();
        }
    }

    /** What an application's connections may be like, with two clients on each side. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "SET autocommit = 0",
                "SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
                "SET timestamp = 1000000000",
                "SET time_zone = '+05:30'",
                "SET sql_mode = 'ANSI_QUOTES,PIPES_AS_CONCAT,NO_BACKSLASH_ESCAPES'",
                "SET sql_mode = ''"
            })
    void connectionsOfTheApplicationMayBeSetToAnything(String set) throws Exception {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(driverUrl());
        config.setConnectionInitSql(set);
        config.setMaximumPoolSize(8);
        try (HikariDataSource pool = new HikariDataSource(config);
                LockClient one = Locks.open(url, ClientOptions.defaults().with(JdbcOptions.DATA_SOURCE, pool));
                LockClient other = Locks.open(
                        url,
                        ClientOptions.defaults()
                                .with(JdbcOptions.DATA_SOURCE, pool)
                                .with(CommonOptions.NAME, "b\\'\"ö"));
                LockClient plain = Locks.open(url)) {
            int[] count = {0};
            List<CompletableFuture<Void>> all = new ArrayList<>();
            for (LockClient client : List.of(one, other, plain)) {
                all.add(CompletableFuture.runAsync(() -> {
                    for (int i = 0; i < 20; i++) {
                        try (Lease lease = client.lock("counter").acquire()) {
                            count[0]++;
                            assertThat(lease.isHeld()).isTrue();
                        } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                        }
                    }
                }));
            }
            CompletableFuture.allOf(all.toArray(CompletableFuture[]::new)).get(Patience.seconds(120), TimeUnit.SECONDS);
            assertThat(count[0]).isEqualTo(60);
        }
    }

    @Test
    void locksOfATransactionAreRefused() throws Exception {
        try (Connection connection = DriverManager.getConnection(driverUrl())) {
            connection.setAutoCommit(false);
            assertThatThrownBy(() -> JdbcLocks.inTransaction(connection, "x"))
                    .isInstanceOf(SQLFeatureNotSupportedException.class)
                    .hasMessageContaining("MariaDB does not have");
        }
    }

    @Test
    void whatIsOverForLongIsTakenAwayAndTokensDoNotGoBack() throws Exception {
        String table = database(url) + ".keyway_lock";
        long last = 0;
        try (LockClient client = Locks.open(url)) {
            for (int i = 0; i < 1500; i++) {
                try (Lease lease = client.lock("once/" + i).acquire()) {
                    last = lease.token();
                }
            }
            try (Lease kept = client.lock("kept").acquire();
                    Connection connection = DriverManager.getConnection(driverUrl())) {
                Dialect dialect = new MariaDbDialect();
                TableName name = new TableName("keyway_lock");
                assertThat(dialect.sweep(connection, name, Sweeper.KEPT, 0).gone())
                        .isZero();
                server.run("UPDATE " + table + " SET ends = ends - 2 * 3600 * 1000000 WHERE free");
                assertThat(dialect.sweep(connection, name, Sweeper.KEPT, 0).gone())
                        .isEqualTo(1000);
                assertThat(dialect.sweep(connection, name, Sweeper.KEPT, 0).gone())
                        .isEqualTo(500);
                assertThat(dialect.beginsSweep(connection, name, Duration.ofHours(1)))
                        .isTrue();
                assertThat(dialect.beginsSweep(connection, name, Duration.ofHours(1)))
                        .isFalse();
                assertThat(server.number("SELECT COUNT(*) FROM " + table)).isEqualTo(1);
                assertThat(kept.isHeld()).isTrue();
            }
            try (Lease again = client.lock("once/7").acquire()) {
                assertThat(again.token()).isGreaterThan(last);
            }
        }
    }
}
