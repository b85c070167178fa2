// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class HostLauncherTest {
    @TempDir
    Path directory;

    Path seen;
    long host;

    @BeforeEach
    void name() {
        seen = directory.resolve("seen");
    }

    @AfterEach
    void end() throws IOException {
        Files.createFile(directory.resolve("stop"));
        if (host != 0) {
            Signals.until("the host has ended", () -> !Signals.lives(host));
        }
    }

    private void awaitHost(String pid) {
        host = Long.parseLong(pid);
        Signals.until("the host runs", () -> Files.exists(seen));
    }

    /** INT, HUP and TSTP are ignored; QUIT makes a JVM print its threads, which is harmless. */
    private void assertDeaf() throws Exception {
        if (Files.exists(Path.of("/proc/self/status"))) {
            String mask = Files.readAllLines(Path.of("/proc", Long.toString(host), "status")).stream()
                    .filter(line -> line.startsWith("SigIgn:"))
                    .map(line -> line.substring("SigIgn:".length()).trim())
                    .findFirst()
                    .orElseThrow();
            for (int signal : new int[] {1, 2, 20}) {
                assertThat(Long.parseUnsignedLong(mask, 16) >> (signal - 1) & 1)
                        .as("signal " + signal + " in " + mask)
                        .isOne();
            }
        }
        for (String signal : List.of("INT", "HUP", "QUIT", "TSTP")) {
            Signals.send(signal, host);
        }
        Signals.until("QUIT prints the threads", () -> readLog().contains("Full thread dump"));
        assertThat(Signals.lives(host)).isTrue();
        assertThat(Signals.isStopped(host)).isFalse();
    }

    private String readLog() {
        try {
            return Files.readString(directory.resolve("host.log"));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void theHostHasNothingOfItsLauncher() throws Exception {
        try (ChildJvm launcher = ChildJvm.start(LaunchingProcess.class, directory.toString())) {
            awaitHost(launcher.await("launched"));
            List<String> lines = Files.readAllLines(seen);
            assertThat(lines).contains("cwd=/", "arguments=3");
            assertThat(lines).anyMatch(l -> l.startsWith("environment=[") && l.contains("PATH"));
            assertThat(lines).noneMatch(l -> l.contains("KEYWAY_SECRET"));
            if (Files.exists(Path.of("/proc/self/fd/0"))) {
                Path log = directory.resolve("host.log").toRealPath();
                assertThat(lines).contains("0=/dev/null", "1=" + log, "2=" + log);
            }
            assertThat(Signals.parent(host)).isNotEqualTo(Long.toString(launcher.pid()));
            assertThat(ProcessHandle.of(launcher.pid()).orElseThrow().descendants())
                    .as("who ends the launcher's tree does not end the host")
                    .noneMatch(p -> p.pid() == host);
            assertThat(Signals.session(host)).isNotEqualTo(Signals.session(launcher.pid()));
        }
        assertThat(Signals.lives(host)).as("survives its launcher").isTrue();
        assertThat(Files.readString(directory.resolve("host.log"))).contains("a line for the log");
    }

    @Test
    void theSignalsOfATerminalDoNotEndOrStopTheHost() throws Exception {
        try (ChildJvm launcher = ChildJvm.start(LaunchingProcess.class, directory.toString())) {
            awaitHost(launcher.await("launched"));
            assertDeaf();
        }
        Signals.send("TERM", host);
        Signals.until("TERM ends the host", () -> !Signals.lives(host));
    }

    @Test
    void aPipeBehindTheLauncherDoesNotHang() throws Exception {
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "\"$@\" | cat", "sh"));
        command.addAll(ChildJvm.command(LaunchingProcess.class, directory.toString(), "end"));
        Process pipe = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(pipe.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(pipe.waitFor(Patience.seconds(20), TimeUnit.SECONDS)).isTrue();
        assertThat(output).startsWith("launched ");
        awaitHost(output.trim().substring("launched ".length()));
        assertThat(Signals.lives(host)).as("the host runs on").isTrue();
    }

    @Test
    void withoutSetsidTheHostIsStillDeaf() throws Exception {
        Path bin = Files.createDirectory(directory.resolve("bin"));
        List<String> command = new ArrayList<>(List.of(
                "/usr/bin/env",
                "PATH=" + bin,
                ChildJvm.command(LaunchingProcess.class).get(0)));
        command.addAll(ChildJvm.command(LaunchingProcess.class, directory.toString(), "end")
                .subList(1, ChildJvm.command(LaunchingProcess.class).size() + 2));
        Process launcher = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(launcher.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(output).startsWith("launched ");
        awaitHost(output.trim().substring("launched ".length()));
        assertDeaf();
    }

    @Test
    void aProcessThatWouldNotFindItsClassesIsRefusedBeforeItIsStarted() throws Exception {
        LockUrl url = LockUrl.parse("lock:native:local://?host=process");
        String ours = HostLauncher.classPath();
        Path packed = jar("application.jar", ""); // what it has inside is for its own class loader
        Path list = jar("list.jar", entriesOf(ours));

        HostMain.check(url, ours);
        HostMain.check(url, list.toString());
        assertThatExceptionOfType(InvalidLockUrlException.class)
                .isThrownBy(() -> HostMain.check(url, packed.toString()))
                .withMessageContaining("host=process")
                .withMessageContaining(packed.toString());
    }

    private Path jar(String name, String classPath) throws IOException {
        Manifest manifest = new Manifest();
        manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
        manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, classPath);
        Path jar = directory.resolve(name);
        new JarOutputStream(Files.newOutputStream(jar), manifest).close();
        return jar;
    }

    private static String entriesOf(String classPath) {
        return Stream.of(classPath.split(File.pathSeparator))
                .map(entry -> Path.of(entry).toUri().toString())
                .collect(Collectors.joining(" "));
    }

    @Test
    void aLargeLogIsSetAside() throws Exception {
        Path log = directory.resolve("host.log");
        Files.write(log, new byte[(1 << 20) + 1]);
        try (ChildJvm launcher = ChildJvm.start(LaunchingProcess.class, directory.toString())) {
            awaitHost(launcher.await("launched"));
        }
        assertThat(Files.size(log)).isLessThan(1000);
        assertThat(directory.resolve("host.log.old")).exists();
    }

    @Test
    void aLogThatDoesNotOpenHoldsUpNobodyButTheHost() throws Exception {
        Path log = directory.resolve("host.log");
        assertThat(new ProcessBuilder("mkfifo", log.toString()).start().waitFor())
                .isZero(); // nobody reads it
        HostLauncher launcher =
                new HostLauncher(List.of(), LaunchedHost.class.getName(), List.of(seen.toString()), log);
        CompletableFuture<ProcessHandle> launched = new CompletableFuture<>();
        Thread launching = new Thread(() -> {
            try {
                launched.complete(launcher.launch());
            } catch (IOException | InterruptedException e) {
                launched.completeExceptionally(e);
            }
        });
        launching.setDaemon(true);
        launching.start();
        assertThat(launched).succeedsWithin(Duration.ofSeconds(30));
        host = launched.get().pid();
        assertThat(launched.get().destroyForcibly()).isTrue();
    }
}
