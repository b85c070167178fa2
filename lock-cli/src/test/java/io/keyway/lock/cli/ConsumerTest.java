// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.tck.process.ChildProcess;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program of somebody else, with a provider of its own, on the class path and on the module path. */
class ConsumerTest {
    private static final String PROGRAM = """
            package consumer;

            import io.keyway.lock.Lease;
            import io.keyway.lock.LockClient;
            import io.keyway.lock.Locks;
            import java.util.TreeSet;

            public final class Program {
                public static void main(String[] urls) throws Exception {
                    System.out.println("module " + Locks.class.getModule().getName());
                    Locks.discover(Program.class.getClassLoader()).providers()
                            .forEach(each -> System.out.println("provider " + new TreeSet<>(each.schemes())));
                    for (String url : urls) {
                        try (LockClient client = Locks.open(url); Lease lease = client.lock("a").acquire()) {
                            System.out.println(client.url().protocol().orElseThrow() + " " + lease.isHeld());
                        }
                    }
                }
            }
            """;

    private static final String PROVIDER = """
            package consumer;

            import io.keyway.lock.*;
            import io.keyway.lock.spi.*;
            import java.util.*;

            public final class Shelf implements LockProvider {
                @Override public Set<String> schemes() { return Set.of("shelf"); }
                @Override public ProviderInfo info() {
                    return new ProviderInfo("Shelf", "1", ProviderInfo.API_LEVEL, List.of());
                }
                @Override public Set<Feature> features(LockUrl url) { return Set.of(); }
                @Override public LockClient open(OpenRequest request) { throw new UnsupportedOperationException(); }
            }
            """;

    private static final String MODULE = """
            module consumer {
                requires io.keyway.lock;
                provides io.keyway.lock.spi.LockProvider with consumer.Shelf;
            }
            """;

    @TempDir
    Path directory;

    private final List<ChildProcess> children = new ArrayList<>();
    private Path program;
    private String libraries;

    /** The provider for ZooKeeper, which stands on jars that share packages: no module path takes them. */
    private String zooKeeper;

    @BeforeEach
    void buildTheProgram() throws Exception {
        libraries = String.join(File.pathSeparator, libraries(false));
        zooKeeper = String.join(File.pathSeparator, libraries(true));
        program = directory.resolve("program");
        Path services = program.resolve("META-INF/services/io.keyway.lock.spi.LockProvider");
        Files.createDirectories(services.getParent());
        Files.writeString(services, "consumer.Shelf\n");
        Path sources = Files.createDirectories(directory.resolve("sources"));
        ChildProcess compiler = tool(
                "javac",
                "-d",
                program.toString(),
                "-p",
                libraries,
                Files.writeString(sources.resolve("module-info.java"), MODULE).toString(),
                Files.writeString(sources.resolve("Program.java"), PROGRAM).toString(),
                Files.writeString(sources.resolve("Shelf.java"), PROVIDER).toString());
        assertThat(compiler.exitCode()).as(compiler.err()).isZero();
    }

    @AfterEach
    void endAll() {
        children.forEach(ChildProcess::close);
    }

    @Test
    @Tag("soak")
    void itRunsOnTheClassPath() throws Exception {
        ChildProcess child = java(
                "-cp", String.join(File.pathSeparator, program.toString(), libraries, zooKeeper), "consumer.Program");

        assertThat(child.exitCode()).as(child.err()).isZero();
        assertThat(child.out().lines())
                .containsExactlyInAnyOrder(
                        "module null",
                        "provider [shelf]",
                        "provider [native]",
                        "provider [redis, rediss]",
                        "provider [jdbc]",
                        "provider [zookeeper]",
                        "mem true",
                        "local true");
    }

    @Test
    void itRunsOnTheModulePath() throws Exception {
        ChildProcess child = java(
                "-p", program + File.pathSeparator + libraries, "-cp", zooKeeper, "-m", "consumer/consumer.Program");

        assertThat(child.exitCode()).as(child.err()).isZero();
        assertThat(child.out().lines())
                .containsExactlyInAnyOrder(
                        "module io.keyway.lock",
                        "provider [shelf]",
                        "provider [native]",
                        "provider [redis, rediss]",
                        "provider [jdbc]",
                        "provider [zookeeper]",
                        "mem true",
                        "local true");
    }

    @Test
    void theCommandRunsOnTheModulePath() throws Exception {
        ChildProcess child = start(
                "-p",
                libraries,
                "-m",
                "io.keyway.lock.cli/io.keyway.lock.cli.Main",
                "run",
                "--url",
                local() + "?host=inprocess",
                "n",
                "--",
                "echo",
                "done");

        assertThat(child.exitCode()).as(child.err()).isZero();
        assertThat(child.out()).isEqualTo("done");
    }

    private ChildProcess java(String... words) {
        List<String> all = new ArrayList<>(List.of(words));
        all.add("lock:native:mem://" + "consumer");
        all.add(local());
        return start(all.toArray(String[]::new));
    }

    private String local() {
        return "lock:native:local://" + directory.resolve("locks");
    }

    private ChildProcess start(String... words) {
        return tool("java", words);
    }

    private ChildProcess tool(String name, String... words) {
        List<String> all = new ArrayList<>();
        all.add(Path.of(System.getProperty("java.home"), "bin", name).toString());
        all.addAll(List.of(words));
        ChildProcess child = ChildProcess.start(new ProcessBuilder(all));
        children.add(child);
        return child;
    }

    /** The jars of this project and what they need; where Maven has made no jar yet, one is made as Maven would. */
    private List<String> libraries(boolean forZooKeeper) throws IOException {
        List<String> jars = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Path path = Path.of(entry);
            if (entry.matches(".*[/-](zookeeper|curator)[^/]*(\\.jar|/target/classes)") != forZooKeeper) {
                continue;
            }
            if (entry.endsWith("classes") && !entry.endsWith("test-classes")) {
                jars.add(Installation.jar(path, directory.resolve((forZooKeeper ? "z" : "") + jars.size() + ".jar")));
            } else if (entry.matches(".*/(lock-|netty-|slf4j-|picocli|jspecify|jedis|redis-authx|commons-pool|gson|"
                            + "json-|zookeeper|curator|HikariCP)[^/]*\\.jar")
                    && !entry.contains("-tests")) {
                jars.add(entry);
            }
        }
        return jars;
    }
}
