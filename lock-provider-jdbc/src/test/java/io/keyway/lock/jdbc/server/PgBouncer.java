// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.opentest4j.TestAbortedException;

/**
 * A real PgBouncer on the loopback address, from where it is installed: on Debian by {@code apt-get install pgbouncer}.
 * It gives each transaction one of a few sessions that is free, and passes on names of prepared statements, as all
 * versions before 1.21 do. Thread-bound to the test.
 */
public final class PgBouncer implements AutoCloseable {

    private static final Pattern VERSION = Pattern.compile("PgBouncer (\\d+)\\.(\\d+)");
    private static final int SESSIONS = 3;
    private static final int SESSIONS_OF_CLIENTS = 50;

    private final ChildProcess process;
    private final Path directory;
    private final int port;

    private PgBouncer(ChildProcess process, Path directory, int port) {
        this.process = process;
        this.directory = directory;
        this.port = port;
    }

    /**
     * Starts one before that server.
     *
     * @param mode what it pools: {@code transaction} or {@code session}
     * @throws TestAbortedException if none is installed; in continuous integration that is an error
     */
    public static PgBouncer before(PostgresServer server, String mode) throws Exception {
        return before(server.port(), mode);
    }

    /** The same before whatever server, or way to one, has that port. */
    public static PgBouncer before(int serverPort, String mode) throws Exception {
        Path executable = executable();
        Path directory = Files.createTempDirectory("keyway-pgbouncer-");
        Path users = directory.resolve("users.txt");
        Files.writeString(users, "\"postgres\" \"\"\n");
        int port = Ports.free();
        Path settings = directory.resolve("pgbouncer.ini");
        Files.writeString(settings, """
            [databases]
            * = host=127.0.0.1 port=%d
            [pgbouncer]
            listen_addr = 127.0.0.1
            listen_port = %d
            unix_socket_dir =
            auth_type = trust
            auth_file = %s
            pool_mode = %s
            default_pool_size = %d
            ignore_startup_parameters = extra_float_digits
            server_reset_query = DISCARD ALL
            server_login_retry = 1
            %s
            """.formatted(
                        serverPort,
                        port,
                        users,
                        mode,
                        mode.equals("session") ? SESSIONS_OF_CLIENTS : SESSIONS,
                        passesNamesOn(executable)));
        List<String> command = new ArrayList<>(List.of(executable.toString()));
        if ("root".equals(System.getProperty("user.name"))) {
            // It does not run as root.
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            command.addAll(List.of("-u", "nobody"));
        }
        command.add(settings.toString());
        PgBouncer bouncer = new PgBouncer(ChildProcess.start(Map.of(), command), directory, port);
        Awaitility.await().atMost(Patience.of(Duration.ofMinutes(1))).until(bouncer::serves);
        return bouncer;
    }

    private static Path executable() {
        Optional<Path> found = Stream.concat(
                        Arrays.stream(System.getenv().getOrDefault("PATH", "").split(":", -1)), Stream.of("/usr/sbin"))
                .map(each -> Path.of(each, "pgbouncer"))
                .filter(Files::isExecutable)
                .findFirst();
        if (found.isEmpty() && "true".equals(System.getenv("CI"))) {
            throw new AssertionError("no pgbouncer is installed, and this is continuous integration (CI=true): .ci/run"
                    + " installs it");
        }
        return found.orElseThrow(() -> new TestAbortedException(
                "no pgbouncer is installed: locks behind a pool of transactions are not tried. On Debian: apt-get"
                        + " install pgbouncer"));
    }

    /** What has later versions do as all before do. */
    private static String passesNamesOn(Path executable) throws IOException {
        Process process = new ProcessBuilder(executable.toString(), "-V")
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher version = VERSION.matcher(said);
        if (!version.find()) {
            throw new AssertionError("pgbouncer -V says: " + said);
        }
        return Integer.parseInt(version.group(1)) > 1 || Integer.parseInt(version.group(2)) >= 21
                ? "max_prepared_statements = 0"
                : "";
    }

    private boolean serves() {
        try (Connection connection = connect()) {
            return connection.isValid(5);
        } catch (SQLException e) {
            return false;
        }
    }

    /** The URL of the driver, as an application may have it. */
    public String driverUrl() {
        return "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=postgres";
    }

    /** It stands still. */
    public void pause() throws IOException, InterruptedException {
        Signals.stop(process.process().pid());
    }

    /** It goes on. */
    public void resume() throws IOException, InterruptedException {
        Signals.cont(process.process().pid());
    }

    /** Where it listens. */
    public InetSocketAddress address() {
        return new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
    }

    /** A connection as another application has it, which names no statements. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(driverUrl() + "&prepareThreshold=0");
    }

    /** How many sessions it has with the server at most, if it gives one to each transaction. */
    public int sessions() {
        return SESSIONS;
    }

    @Override
    public void close() throws IOException {
        process.close();
        for (String file : List.of("users.txt", "pgbouncer.ini", "")) {
            Files.deleteIfExists(directory.resolve(file));
        }
    }
}
