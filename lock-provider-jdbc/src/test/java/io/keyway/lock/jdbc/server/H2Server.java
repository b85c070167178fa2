// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.tools.Server;

/**
 * H2 as a server on the loopback address, in a process of its own. All test classes of a JVM share one, with databases
 * in memory; who wants to kill one starts it. Thread-bound to the test.
 */
public final class H2Server implements AutoCloseable {

    private static final AtomicInteger DATABASES = new AtomicInteger();
    private static H2Server shared;

    private final int port;
    private Process process;

    private H2Server(int port) throws IOException, URISyntaxException {
        this.port = port;
        run();
    }

    /** The URL of clients that keep locks in a database of its own, which stays in memory as long as this server. */
    public static synchronized String url(String name) throws IOException, URISyntaxException {
        if (shared == null) {
            shared = start();
            Runtime.getRuntime().addShutdownHook(new Thread(shared::close, "h2-end"));
        }
        return shared.inMemory(name) + ";DB_CLOSE_DELAY=-1";
    }

    /** Another one; returns when it serves. */
    public static H2Server start() throws IOException, URISyntaxException {
        return new H2Server(Ports.free());
    }

    /** The URL of clients that keep locks in a database of its own, in the memory of this one. */
    public String inMemory(String name) {
        return "lock:jdbc:h2:tcp://127.0.0.1:" + port + "/mem:" + name + DATABASES.incrementAndGet();
    }

    /** The URL of clients that keep locks in a database of its own, in files in that folder. */
    public String inFiles(Path folder) {
        return "lock:jdbc:h2:tcp://127.0.0.1:" + port + "/" + folder.toAbsolutePath() + "/db"
                + DATABASES.incrementAndGet();
    }

    /** Its port on 127.0.0.1. */
    public int port() {
        return port;
    }

    private void run() throws IOException, URISyntaxException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path jar = Path.of(
                Server.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Process started = new ProcessBuilder(
                        java,
                        "-Xmx256m",
                        "-XX:+UseSerialGC",
                        "-XX:TieredStopAtLevel=1",
                        "-Dh2.bindAddress=127.0.0.1",
                        "-cp",
                        jar.toString(),
                        Server.class.getName(),
                        "-tcp",
                        "-tcpPort",
                        Integer.toString(port),
                        "-ifNotExists")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        process = started;
        Signals.until("H2 serves", Duration.ofMinutes(1), () -> !started.isAlive() || serves());
        if (!started.isAlive()) {
            throw new IOException("H2 does not start on port " + port);
        }
    }

    private boolean serves() {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }

    /** SIGKILL. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Starts it again, after {@link #kill()}; returns when it serves. */
    public void restart() throws IOException, URISyntaxException {
        run();
    }

    /** SIGSTOP; returns when it stands still. */
    public void pause() throws IOException, InterruptedException {
        Signals.stop(process.pid());
    }

    /** SIGCONT; returns when it goes on. */
    public void resume() throws IOException, InterruptedException {
        Signals.cont(process.pid());
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
