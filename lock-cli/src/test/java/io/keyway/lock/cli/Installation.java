// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The jars of this build in one directory, with an archive of their classes and a script that starts them, as the
 * launcher makes it: once for all tests of a build, since starting from loose classes would take most of their time.
 *
 * <p>Each state of the classes has a directory of its own: nothing is ever written over jars that processes run from.
 * The first JVM of tests that needs one makes it, while the others wait.
 */
final class Installation {
    private static final Installation ONLY = new Installation();

    private final Path directory;
    private final Path script;
    private final List<String> jars = new ArrayList<>();

    static Installation get() {
        return ONLY;
    }

    private Installation() {
        List<String> classPath = List.of(System.getProperty("java.class.path").split(File.pathSeparator, -1));
        try {
            Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
            directory = target.resolve("installation-" + Integer.toHexString(state(classPath)));
            script = directory.resolve("keyway");
            Path lock = target.resolve("installation.lock");
            try (FileChannel channel = FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
                channel.lock();
                make(classPath);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /** Another one for each change of a class, and for each place in which they are. */
    private static int state(List<String> classPath) throws IOException {
        int state = classPath.hashCode();
        for (String entry : classPath) {
            Path path = Path.of(entry);
            if (!entry.isEmpty() && Files.isDirectory(path)) {
                try (Stream<Path> files = Files.walk(path)) {
                    for (Path file : files.sorted().toList()) {
                        state = 31 * state + Objects.hash(file, Files.getLastModifiedTime(file), Files.size(file));
                    }
                }
            }
        }
        return state;
    }

    private void make(List<String> classPath) throws IOException, InterruptedException {
        Files.createDirectories(directory);
        boolean made = Files.exists(script);
        for (String entry : classPath) {
            Path path = Path.of(entry);
            if (!entry.isEmpty() && Files.isDirectory(path)) {
                Path jar = directory.resolve(jars.size() + ".jar");
                jars.add(made ? jar.toString() : jar(path, jar));
            } else if (entry.matches(".*/(lock-|netty-|slf4j-|picocli|jspecify|jedis|redis-authx|commons-pool|gson|"
                    + "json-|zookeeper|HikariCP|postgresql)[^/]*\\.jar")) {
                jars.add(entry);
            }
        }
        if (!made) {
            writeScript(String.join(File.pathSeparator, jars));
        }
    }

    /** All jars that keyway needs. */
    List<String> jars() {
        return jars;
    }

    /** `keyway`, started without a look at the sources. */
    Path script() {
        return script;
    }

    private void writeScript(String classPath) throws IOException, InterruptedException {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        String archive = directory.resolve("keyway.jsa").toString();
        String classes = directory.resolve("keyway.classes").toString();
        String fast = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC";
        run(
                java,
                "-XX:DumpLoadedClassList=" + classes,
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-Dio.netty.jfr.enabled=false",
                "-cp",
                classPath,
                "io.keyway.lock.cli.ArchiveWarmup");
        run(
                java,
                "-Xshare:dump",
                "-XX:SharedClassListFile=" + classes,
                "-XX:SharedArchiveFile=" + archive,
                "-XX:+UseG1GC",
                "-cp",
                classPath);
        Path written =
                Executables.script(directory.resolve("script"), """
            terminal=
            [ -t 1 ] && terminal=out
            [ -t 2 ] && terminal=$terminal,err
            exec '%s' %s -Xshare:auto -XX:SharedArchiveFile='%s' -Dkeyway.archive='%s' -Xlog:disable \\
                -Dkeyway.terminal="$terminal" -cp '%s' io.keyway.lock.cli.Main "$@"
            """.formatted(java, fast, archive, archive, classPath));
        // Last: where it is, all is.
        Files.move(written, script, StandardCopyOption.ATOMIC_MOVE);
    }

    private void run(String... command) throws IOException, InterruptedException {
        Path log = directory.resolve("log");
        int code = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
        assertThat(code).as("%s: %s", List.of(command), Files.readString(log)).isZero();
    }

    /** Makes a jar of loose classes. */
    static String jar(Path classes, Path jar) throws IOException {
        try (OutputStream out = Files.newOutputStream(jar);
                JarOutputStream entries = new JarOutputStream(out);
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                entries.putNextEntry(
                        new JarEntry(classes.relativize(file).toString().replace('\\', '/')));
                Files.copy(file, entries);
            }
        }
        return jar.toString();
    }
}
