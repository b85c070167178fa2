// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package application;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import redis.embedded.RedisServer;

/**
 * The application with exactly the libraries that its own pom brings about, in a JVM of its own. The reactor hands our
 * jars to that pom as it would hand over installed ones, so nothing has to be installed for it.
 */
class ApplicationTest {
    @TempDir
    Path directory;

    @Test
    void itTakesLocksOnTheLibrariesThatItsBuildManages() throws Exception {
        int port = freePort();
        RedisServer redis = RedisServer.newRedisServer()
                .port(port)
                .setting("bind 127.0.0.1")
                .setting("appendonly yes")
                .setting("dir " + directory)
                .build();
        redis.start();
        try (TestingServer ensemble = new TestingServer()) {
            List<String> urls = List.of(
                    "lock:native:local://" + Files.createDirectory(directory.resolve("locks")),
                    "lock:native:mem://world",
                    "lock:redis://127.0.0.1:" + port,
                    "lock:zookeeper://" + ensemble.getConnectString());

            List<String> said = run(urls);

            List<String> wanted = new ArrayList<>();
            urls.forEach(url -> wanted.add("held at " + url));
            assertThat(said).containsAll(wanted);
            assertThat(said).anySatisfy(line -> assertThat(line).startsWith("on " + System.getProperty("netty")));
            assertThat(said).anySatisfy(line -> assertThat(line).startsWith("on " + System.getProperty("jedis")));
        } finally {
            redis.stop();
        }
    }

    private List<String> run(List<String> urls) throws IOException, InterruptedException {
        Path log = directory.resolve("log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                Path.of("target", "classes") + File.pathSeparator
                        + Files.readString(Path.of("target", "runtime.classpath")),
                "application.Application"));
        command.addAll(urls);
        Process application = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        try {
            assertThat(application.waitFor(2, TimeUnit.MINUTES)).as("it ends").isTrue();
        } finally {
            application.destroyForcibly();
        }
        List<String> said = Files.readAllLines(log);
        assertThat(application.exitValue()).as(String.join("\n", said)).isZero();
        return said;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }
}
