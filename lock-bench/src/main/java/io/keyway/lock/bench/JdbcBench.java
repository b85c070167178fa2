// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.PrintStream;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.LongSupplier;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Keyway in both modes, Spring Integration, ShedLock and bare advisory locks in one PostgreSQL. */
@Command(name = "jdbc", description = "Compares Keyway with other locks in one PostgreSQL.")
final class JdbcBench implements Callable<Integer> {

    @Option(
            names = "--server",
            description = "The JDBC URL of a PostgreSQL; by default one is started on the loopback address, which does"
                    + " not wait for its disk (fsync=off).")
    private String server = "";

    @Option(names = "--durable", description = "The server that is started waits for its disk, as one in use does.")
    private boolean durable;

    @Mixin
    private final Scale scale = new Scale(2, 8);

    private final PrintStream out;

    JdbcBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        if (!server.isEmpty()) {
            compare(server);
            return 0;
        }
        try (EmbeddedPostgres own = EmbeddedPostgres.builder()
                .setServerConfig("max_connections", "400")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("unix_socket_directories", "")
                .setServerConfig("fsync", durable ? "on" : "off")
                .setServerConfig("synchronous_commit", "on")
                .start()) {
            compare(own.getJdbcUrl("postgres", "postgres"));
        }
        return 0;
    }

    private void compare(String url) throws Exception {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE TABLE IF NOT EXISTS int_lock (lock_key char(36) NOT NULL, region varchar(100) NOT"
                    + " NULL, client_id char(36), created_date timestamp NOT NULL, PRIMARY KEY (lock_key, region))");
            statement.execute("CREATE TABLE IF NOT EXISTS shedlock (name varchar(64) PRIMARY KEY, lock_until timestamp"
                    + " NOT NULL, locked_at timestamp NOT NULL, locked_by varchar(255) NOT NULL)");
            LongSupplier requests = () -> transactions(statement);
            Contender.Opener table = () -> KeywayContender.named("keyway table", "lock:" + url);
            Contender.Opener session = () -> KeywayContender.named("keyway session", "lock:" + url + mode(url));
            Contender.Opener bare = () -> new PostgresContender(url);
            Contender.Opener spring = () -> new SpringContender(url);
            Contender.Opener shedlock = () -> new ShedLockContender(url);
            scale.compare(
                    out,
                    requests,
                    List.of(table, session, spring, shedlock, bare),
                    List.of(table, session, spring, bare));
            scale.handOver(out, requests, List.of(session, table, spring, bare));
            scale.wait(out, requests, List.of(table, session, spring, bare));
        }
    }

    private static String mode(String url) {
        return (url.contains("?") ? "&" : "?") + "lock.mode=session";
    }

    /** About: a backend tells of its transactions twice a second. */
    private static long transactions(Statement statement) {
        try (ResultSet result = statement.executeQuery(
                "SELECT xact_commit FROM pg_stat_database WHERE datname =" + " current_database()")) {
            result.next();
            return result.getLong(1);
        } catch (SQLException e) {
            throw new IllegalStateException("PostgreSQL does not say what it was asked", e);
        }
    }
}
