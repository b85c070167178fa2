// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/**
 * A PostgreSQL on the loopback address. All test classes of a JVM share one, each in a schema of its own; who kills it
 * starts it again. Thread-bound to the test.
 */
public final class PostgresServer {

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

    private void end() {
        try {
            running.close();
        } catch (IOException e) {
            throw new IllegalStateException("PostgreSQL does not end", e);
        }
    }
}
