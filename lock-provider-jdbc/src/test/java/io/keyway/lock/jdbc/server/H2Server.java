// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc.server;

import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.tck.proxy.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.h2.tools.Server;

/**
 * H2 as a server on the loopback address, in a process of its own, with databases in memory; all test classes of a JVM
 * share one.
 */
public final class H2Server {

    private static final AtomicInteger DATABASES = new AtomicInteger();
    private static int port;

    private H2Server() {}

    /** Its port on 127.0.0.1, once it has given a URL. */
    public static synchronized int port() {
        return port;
    }

    /** The URL of clients that keep locks in a database of its own. */
    public static synchronized String url(String name) throws Exception {
        if (port == 0) {
            int free = Ports.free();
            start(free);
            port = free;
        }
        return "lock:jdbc:h2:tcp://127.0.0.1:" + port + "/mem:" + name + DATABASES.incrementAndGet()
                + ";DB_CLOSE_DELAY=-1";
    }

    private static void start(int at) throws Exception {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        Path jar = Path.of(
                Server.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        Process process = new ProcessBuilder(
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
                        Integer.toString(at),
                        "-ifNotExists")
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly, "h2-end"));
        Signals.until("H2 serves", Duration.ofMinutes(1), () -> !process.isAlive() || serves(at));
        if (!process.isAlive()) {
            throw new IOException("H2 does not start on port " + at);
        }
    }

    private static boolean serves(int at) {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), at)) {
            return socket.isConnected();
        } catch (IOException e) {
            return false;
        }
    }
}
