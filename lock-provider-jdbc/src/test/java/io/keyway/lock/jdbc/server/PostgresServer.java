// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A PostgreSQL on the loopback address. All test classes of a JVM share one, each in a schema of its own; who kills it
 * starts it again. Thread-bound to the test.
 */
public final class PostgresServer implements AutoCloseable {

    private static final AtomicInteger SCHEMAS = new AtomicInteger();
    private static PostgresServer shared;

    private final Path directory;
    private final int port;
    private EmbeddedPostgres running;

    private PostgresServer(Path directory, int port) throws IOException {
        this.directory = directory;
        this.port = port;
        run();
    }

    /** The one that all tests of this JVM share; it ends with the JVM. */
    public static synchronized PostgresServer shared() throws IOException {
        if (shared == null) {
            Path directory = Files.createTempDirectory("keyway-postgres-");
            shared = new PostgresServer(directory, Ports.free());
            Runtime.getRuntime().addShutdownHook(new Thread(shared::end, "postgres-end"));
        }
        return shared;
    }

    /** One that no other test has; the test that makes it closes it. */
    public static PostgresServer own() throws IOException {
        return new PostgresServer(Files.createTempDirectory("keyway-postgres-"), Ports.free());
    }

    /**
     * A hot standby with the data that this server has now. This one is started again meanwhile.
     *
     * @param follows whether it goes on to follow this one; else it stays as it is
     */
    public PostgresServer standby(boolean follows) throws IOException {
        end();
        Path directory = Files.createTempDirectory("keyway-standby-");
        Path from = this.directory.resolve("data");
        Path to = directory.resolve("data");
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (!file.endsWith("postmaster.pid") && !file.endsWith("epg-lock")) {
                    Files.copy(file, to.resolve(from.relativize(file)), StandardCopyOption.COPY_ATTRIBUTES);
                }
            }
        }
        Files.createFile(to.resolve("standby.signal"));
        if (follows) {
            Files.writeString(
                    to.resolve("postgresql.auto.conf"),
                    "primary_conninfo = 'host=127.0.0.1 port=" + port + " user=postgres'\n",
                    StandardOpenOption.APPEND);
        }
        restart();
        return new PostgresServer(directory, Ports.free());
    }

    /** Has a standby take over. */
    public void promote() throws SQLException {
        run("SELECT pg_promote()");
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    private void run() throws IOException {
        running = EmbeddedPostgres.builder()
                .setDataDirectory(directory.resolve("data"))
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .setPort(port)
                .setServerConfig("max_connections", "200")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("unix_socket_directories", "")
                .start();
    }

    /** The URL of the driver. */
    public String driverUrl() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
    }

    /** Makes a schema of that name, with a number behind it, and returns the URL of clients that keep locks there. */
    public String url(String name) throws SQLException {
        String schema = name + SCHEMAS.incrementAndGet();
        run("CREATE SCHEMA " + schema);
        return "lock:" + driverUrl() + "&currentSchema=" + schema;
    }

    /** Its port on 127.0.0.1. */
    public int port() {
        return port;
    }

    /** Carries out statements on a connection of its own. */
    public void run(String... statements) throws SQLException {
        try (Connection connection = DriverManager.getConnection(driverUrl());
                Statement statement = connection.createStatement()) {
            for (String each : statements) {
                statement.execute(each);
            }
        }
    }

    /** Returns the first number of the answer. */
    public long number(String query) throws SQLException {
        try (Connection connection = DriverManager.getConnection(driverUrl());
                Statement statement = connection.createStatement();
                ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }

    /** Ends it as a crash would: no process of it does anything more. */
    public void kill() throws IOException, InterruptedException {
        List<ProcessHandle> all = processes();
        // The first starts others anew when one of them is gone.
        all.forEach(ProcessHandle::destroyForcibly);
        for (ProcessHandle each : all) {
            each.onExit().join();
        }
    }

    /** Whether it takes connections, as it does not while it recovers. */
    public boolean serves() {
        try {
            run("SELECT 1");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** SIGKILL for one of the processes of which that is true, if there is one; the server recovers. */
    public void killBackend(String condition) throws SQLException {
        long pid = number("SELECT coalesce(min(pid), 0) FROM pg_stat_activity WHERE " + condition);
        ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly);
    }

    /** Nothing that is committed without waiting for the disk gets there by itself from now on. */
    public void stopWalWriter() throws SQLException, IOException, InterruptedException {
        Signals.stop(number("SELECT pid FROM pg_stat_activity WHERE backend_type = 'walwriter'"));
    }

    /** Starts it again with its data. */
    public void restart() throws IOException {
        Files.deleteIfExists(directory.resolve("data").resolve("postmaster.pid"));
        Files.deleteIfExists(directory.resolve("data").resolve("epg-lock"));
        run();
    }

    /** All of its processes stand still. */
    public void pause() throws IOException, InterruptedException {
        // The first one begins no others then; of those some may have ended, and wait to be buried.
        Signals.stop(processes().get(0).pid());
        others("-STOP");
    }

    /** All of its processes go on. */
    public void resume() throws IOException, InterruptedException {
        others("-CONT");
        Signals.cont(processes().get(0).pid());
    }

    private void others(String signal) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of("kill", signal));
        processes().stream().skip(1).forEach(each -> command.add(Long.toString(each.pid())));
        new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }

    private List<ProcessHandle> processes() throws IOException {
        long pid = Long.parseLong(Files.readAllLines(directory.resolve("data").resolve("postmaster.pid"))
                .get(0)
                .trim());
        ProcessHandle first = ProcessHandle.of(pid).orElseThrow();
        return Stream.concat(Stream.of(first), first.descendants()).toList();
    }

    /** Ends one that is nobody else's. */
    @Override
    public void close() throws IOException {
        end();
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) {
                Files.delete(file);
            }
        }
    }

    private void end() {
        try {
            running.close();
        } catch (IOException e) {
            throw new IllegalStateException("PostgreSQL does not end", e);
        }
    }
}
