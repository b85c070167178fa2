// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;

/**
 * The jars of this build in one directory, with an archive of their classes and a script that starts them, as the
 * launcher makes it: once for all tests of a JVM, since starting from loose classes would take most of their time.
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
        try {
            // Not shared with another JVM of tests: it would write over jars that processes of this one run from.
            Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
            directory = Files.createTempDirectory(target, "installation-");
            script = directory.resolve("keyway");
            for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
                Path path = Path.of(entry);
                if (!entry.isEmpty() && Files.isDirectory(path)) {
                    jars.add(jar(path, directory.resolve(jars.size() + ".jar")));
                } else if (entry.matches(".*/(lock-|netty-|slf4j-|picocli|jspecify|jedis|redis-authx|commons-pool|gson|"
                        + "json-|zookeeper|HikariCP|postgresql)[^/]*\\.jar")) {
                    jars.add(entry);
                }
            }
            writeScript(String.join(File.pathSeparator, jars));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
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
        run(java + " -XX:DumpLoadedClassList=" + classes + " " + fast + " -Dio.netty.jfr.enabled=false -cp " + classPath
                + " io.keyway.lock.cli.ArchiveWarmup");
        run(java + " -Xshare:dump -XX:SharedClassListFile=" + classes + " -XX:SharedArchiveFile=" + archive
                + " -XX:+UseG1GC -cp " + classPath);
        Files.writeString(script, """
                #!/bin/sh
                terminal=
                [ -t 1 ] && terminal=out
                [ -t 2 ] && terminal=$terminal,err
                exec '%s' %s -Xshare:auto -XX:SharedArchiveFile='%s' -Dkeyway.archive='%s' -Xlog:disable \\
                    -Dkeyway.terminal="$terminal" -cp '%s' io.keyway.lock.cli.Main "$@"
                """.formatted(java, fast, archive, archive, classPath));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    }

    private void run(String command) throws IOException, InterruptedException {
        Path log = directory.resolve("log");
        int code = new ProcessBuilder(command.split(" ", -1))
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start()
                .waitFor();
        assertThat(code).as("%s: %s", command, Files.readString(log)).isZero();
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
