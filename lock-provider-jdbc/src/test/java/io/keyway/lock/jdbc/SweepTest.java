// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.jdbc.Dialect.Swept;
import io.keyway.lock.jdbc.server.H2Server;
import io.keyway.lock.jdbc.server.PostgresServer;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.BiFunction;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** How rows go in which all is over, and what those notice of it who take locks meanwhile. */
class SweepTest {

    private static final TableName TABLE = new TableName("keyway_lock");
    private static final int ROWS = 20_000;
    private static final long DAY = 24L * 3600 * 1_000_000;

    private final Dialect dialect = new PostgresDialect();
    private String url;

    @BeforeEach
    void start() throws Exception {
        url = PostgresServer.shared().url("sweep");
        try (LockClient client = Locks.open(url)) {
            client.lock("first").acquire().close();
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(url.substring("lock:".length()));
    }

    /** Rows of names that were used once, and are over for so long; negative if not yet. */
    private void fill(long micros) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("INSERT INTO keyway_lock (id, name, kind, waiting, version, written, over, free, state)"
                    + " SELECT 'x' || i, 'x' || i, 'LOCK', 0, 1, 0, " + PostgresDialect.NOW + " - " + micros
                    + ", true, state FROM generate_series(1, " + ROWS + ") AS i, keyway_lock WHERE name = 'first'");
        }
    }

    private int sweep(Connection connection) throws SQLException {
        int gone = 0;
        for (OptionalLong next = OptionalLong.of(0); next.isPresent(); ) {
            Swept swept = dialect.sweep(connection, TABLE, Sweeper.KEPT, next.getAsLong());
            gone += swept.gone();
            next = swept.next();
        }
        return gone;
    }

    /** Somebody writes all the time, as this transaction that is open. */
    @Test
    void whereNothingIsOverNobodyWaitsForASweep() throws Exception {
        fill(-DAY);
        try (Connection writer = connect();
                Statement statement = writer.createStatement();
                Connection sweeper = connect()) {
            writer.setAutoCommit(false);
            statement.executeUpdate("UPDATE keyway_lock SET waiting = 0 WHERE name = 'first'");
            assertThat(sweep(sweeper)).isZero();
            writer.rollback();
        }
    }

    /** A writer waits for two hundred rows at most, which are found before. */
    @Test
    void whileNobodyWritesFewRowsGoAtOnce() throws Exception {
        fill(DAY);
        CountedSource source = new CountedSource(this::connect);
        try (LockClient client = Locks.open(url);
                Lease lease = client.lock("held").acquire();
                Connection sweeper = source.getConnection()) {
            assertThat(sweep(sweeper)).isEqualTo(ROWS);
            List<String> executed = source.executed();
            assertThat(executed).filteredOn(sql -> sql.startsWith("LOCK TABLE")).hasSize(ROWS / 200);
            assertThat(executed)
                    .filteredOn(sql -> sql.startsWith("DELETE"))
                    .hasSize(ROWS / 200)
                    .allMatch(sql -> sql.contains("WHERE id IN ('x") && sql.split("', '", -1).length == 200);
            assertThat(lease.isHeld()).isTrue();
            assertThat(client.lock("held").tryAcquire()).isEmpty();
        }
    }

    /** Before PostgreSQL 14 the server reads a whole table to find some of its pages, which may take too long. */
    @Test
    void aTableOfAnOldServerIsReadByPartsToo() throws Exception {
        fill(DAY);
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE keyway_lock SET id = md5(id) || md5(name) WHERE name <> 'first'");
            statement.execute("VACUUM ANALYZE keyway_lock");
        }
        CountedSource source = new CountedSource(() -> ofVersion(13, connect()));
        try (Connection sweeper = source.getConnection();
                Connection connection = connect();
                Statement statement = connection.createStatement()) {
            assertThat(sweep(sweeper)).isEqualTo(ROWS);
            List<String> finds = source.executed().stream()
                    .filter(sql -> sql.startsWith("SELECT id FROM"))
                    .toList();
            assertThat(finds).hasSizeGreaterThan(3).noneMatch(sql -> sql.contains("ctid"));
            for (String each : finds.subList(0, 3)) {
                try (ResultSet plan = statement.executeQuery("EXPLAIN " + each)) {
                    StringBuilder whole = new StringBuilder();
                    while (plan.next()) {
                        whole.append(plan.getString(1)).append('\n');
                    }
                    assertThat(whole).contains("Index Scan").doesNotContain("Seq Scan");
                }
            }
        }
    }

    private static Connection ofVersion(int version, Connection connection) {
        return wrapped(
                Connection.class,
                connection,
                (method, answer) -> answer instanceof DatabaseMetaData meta
                        ? wrapped(
                                DatabaseMetaData.class,
                                meta,
                                (inner, said) -> inner.equals("getDatabaseMajorVersion") ? version : said)
                        : answer);
    }

    private static <T> T wrapped(Class<T> type, T inner, BiFunction<String, Object, Object> says) {
        return type.cast(Proxy.newProxyInstance(
                SweepTest.class.getClassLoader(), new Class<?>[] {type}, (proxy, method, arguments) -> {
                    try {
                        return says.apply(method.getName(), method.invoke(inner, arguments));
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Test
    void oneOfAllClientsSweeps() throws Exception {
        try (Connection one = connect();
                Connection other = connect()) {
            begins(dialect, one, other);
        }
        String inH2 = H2Server.url("sweep");
        try (LockClient client = Locks.open(inH2);
                Lease lease = client.lock("first").acquire();
                Connection one = DriverManager.getConnection(inH2.substring("lock:".length()));
                Connection other = DriverManager.getConnection(inH2.substring("lock:".length()))) {
            begins(new H2Dialect(inH2), one, other);
            assertThat(lease.isHeld()).isTrue();
        }
    }

    private static void begins(Dialect dialect, Connection one, Connection other) throws SQLException {
        Duration hour = Duration.ofHours(1);
        assertThat(dialect.beginsSweep(one, TABLE, hour)).isTrue();
        assertThat(dialect.beginsSweep(other, TABLE, hour)).isFalse();
        assertThat(dialect.beginsSweep(one, TABLE, hour)).isFalse();
        try (Statement statement = one.createStatement()) {
            statement.executeUpdate("UPDATE keyway_lock_setting SET setting = setting - " + DAY);
            assertThat(dialect.beginsSweep(other, TABLE, hour))
                    .as("a day later")
                    .isTrue();
            statement.executeUpdate("UPDATE keyway_lock_setting SET setting = setting + " + DAY);
            assertThat(dialect.beginsSweep(other, TABLE, hour))
                    .as("a clock was set back")
                    .isTrue();
        }
        assertThat(dialect.floor(one, TABLE)).isEmpty();
    }
}
