// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.cli.supervisor.CommandProcesses;
import io.keyway.lock.tck.process.ChildProcess;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * Where the stories play: a `keyway` on the PATH, and a log into which commands write their name again and again while
 * they run. If two commands under one lock ever run at the same time, the log shows a name again after another one.
 */
final class Stage implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    final Path directory;
    private final Path locks;
    private final Path log;
    private final Map<String, String> environment;
    private final List<ChildProcess> children = new ArrayList<>();
    /** Whatever was started here has it in its environment. */
    private final String mark = "KEYWAY_STAGE_" + UUID.randomUUID().toString().replace('-', '_');

    /** {@code options}: of the URL. */
    Stage(Path place, String options) throws IOException {
        this.directory = Files.createDirectory(place.resolve("stage"));
        this.locks = place.resolve("locks");
        this.log = directory.resolve("log");
        Files.createFile(log);
        Path bin = Files.createDirectory(directory.resolve("bin"));
        tool("keyway", "exec '" + Installation.get().script() + "' \"$@\"");
        String url = "lock:native:local://" + locks + "?" + options;
        environment =
                Map.of("KEYWAY_URL", url, "PATH", bin + ":" + System.getenv("PATH"), "PS1", "", "ENV", "", mark, "");
    }

    /** Starts `keyway run` for a shell script that writes into the log. */
    ChildProcess run(String lock, String script) {
        return start(directory, "keyway", "run", lock, "--", "sh", "-c", script);
    }

    ChildProcess start(Path workingDirectory, String... words) {
        ProcessBuilder builder = new ProcessBuilder(words).directory(workingDirectory.toFile());
        builder.environment().putAll(environment);
        if (words[0].equals("keyway")) {
            // The PATH of a ProcessBuilder is this process's.
            builder.command().set(0, directory.resolve("bin/keyway").toString());
        }
        ChildProcess child = ChildProcess.start(builder);
        children.add(child);
        return child;
    }

    /** An interactive shell on a terminal of its own. */
    ChildProcess terminal() {
        return start(directory, "script", "-qfc", "exec sh -i", "/dev/null");
    }

    /** Puts a program on the PATH. */
    Path tool(String name, String script) throws IOException {
        return Executables.script(directory.resolve("bin").resolve(name), script);
    }

    /** Writes a name, and takes 20 ms. */
    String beat(String name) {
        return "echo " + name + " >>'" + log + "'; sleep 0.02";
    }

    /** A script that writes a name so many times. */
    String times(int count, String name) {
        return "i=0; while [ $i -lt " + count + " ]; do " + beat(name) + "; i=$((i+1)); done";
    }

    /** A script that writes a name until {@link #go}. */
    String untilGo(String name) {
        return "until [ -e '" + directory.resolve("go") + "' ]; do " + beat(name) + "; done";
    }

    void go() throws IOException {
        Files.createFile(directory.resolve("go"));
    }

    /** A script that writes a name forever and does not care for signals. */
    String stubborn(String name) {
        return "trap '' TERM INT HUP; " + forever(name);
    }

    String forever(String name) {
        return "while :; do " + beat(name) + "; done";
    }

    /** Waits until this name is written once more. */
    void awaitBeat(String name) {
        long before = count(name);
        Awaitility.await(name).atMost(Patience.of(LIMIT)).until(() -> count(name) > before);
    }

    long count(String name) {
        return names().stream().filter(name::equals).count();
    }

    /** That these names, and no others, ran one after the other. */
    void assertRanOneAfterTheOther(String... expected) {
        assertThat(turns()).containsExactly(expected);
    }

    /** As {@link #assertRanOneAfterTheOther}, whoever came first. */
    void assertRanOneAfterTheOtherInAnyOrder(String... expected) {
        assertThat(turns()).containsExactlyInAnyOrder(expected);
    }

    private List<String> turns() {
        List<String> turns = new ArrayList<>();
        for (String name : names()) {
            if (turns.isEmpty() || !turns.get(turns.size() - 1).equals(name)) {
                turns.add(name);
            }
        }
        return turns;
    }

    private List<String> names() {
        try {
            return Files.readAllLines(log);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    /** The pid of the supervisor that a keyway has started. */
    static long supervisorOf(ChildProcess keyway) {
        return Awaitility.await()
                .atMost(Patience.of(LIMIT))
                .until(
                        () -> keyway.process()
                                .toHandle()
                                .children()
                                .filter(child ->
                                        child.info().commandLine().orElse("").contains(".Supervisor "))
                                .map(ProcessHandle::pid)
                                .findFirst()
                                .orElse(0L),
                        pid -> pid != 0);
    }

    /** The pid of the command that a keyway has started. */
    static long commandOf(ChildProcess keyway) {
        return keyway.process()
                .toHandle()
                .children()
                .filter(child -> !child.info().commandLine().orElse("").contains("Supervisor"))
                .map(ProcessHandle::pid)
                .findFirst()
                .orElseThrow();
    }

    /** The process that serves the locks. */
    long hostPid() throws IOException {
        return Files.readAllLines(locks.resolve("host.info")).stream()
                .filter(line -> line.startsWith("pid="))
                .map(line -> Long.parseLong(line.substring(4)))
                .findFirst()
                .orElseThrow();
    }

    /** Returns when nothing of this stage runs: nobody writes into its directory any more. */
    @Override
    public void close() throws IOException {
        children.forEach(ChildProcess::close);
        try {
            new CommandProcesses(mark).killAll();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (Files.exists(locks.resolve("host.info"))) {
            ProcessHandle.of(hostPid()).ifPresent(host -> {
                host.destroyForcibly();
                host.onExit()
                        .orTimeout(Patience.seconds(LIMIT.toSeconds()), TimeUnit.SECONDS)
                        .join();
            });
        }
    }
}
