// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.io.BufferedWriter;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A JVM of this test's class path that runs a main class. It is told one line at a time and answers in lines; every wait is bounded. Closing kills it. */
public final class ChildJvm implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Process process;
    private final BufferedWriter in;
    private final LineQueue out;

    private ChildJvm(Process process, String name) {
        this.process = process;
        this.in = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        this.out = new LineQueue(process.getInputStream(), name + "-" + process.pid());
    }

    /** Starts a main class of the test class path. What it prints on standard error can be awaited too. */
    public static ChildJvm start(Class<?> main, String... arguments) throws IOException {
        return new ChildJvm(
                new ProcessBuilder(command(main, arguments))
                        .redirectErrorStream(true)
                        .start(),
                main.getSimpleName());
    }

    /** Returns the command that starts a main class of the test class path in a small JVM. */
    public static List<String> command(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    public long pid() {
        return process.pid();
    }

    /** Sends a line. */
    public void tell(String line) throws IOException {
        in.write(line);
        in.newLine();
        in.flush();
    }

    /** Waits for the first line that starts with this word and returns its rest. */
    public String await(String word) throws InterruptedException {
        return out.await(word, LIMIT);
    }

    /** Sends a line and waits for the answer that starts with this word. */
    public String ask(String line, String word) throws IOException, InterruptedException {
        tell(line);
        return await(word);
    }

    /** SIGKILL; returns when the process has ended. */
    public void kill9() throws InterruptedException {
        process.destroyForcibly();
        awaitExit();
    }

    /** SIGSTOP; returns when the process is stopped. */
    public void stop() throws IOException, InterruptedException {
        Signals.stop(pid());
    }

    /** SIGCONT; returns when the process goes on. */
    public void cont() throws IOException, InterruptedException {
        Signals.cont(pid());
    }

    /** Waits for the end of the process and returns its exit status. */
    public int awaitExit() throws InterruptedException {
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            throw new AssertionError("Process " + pid() + " did not end within " + LIMIT);
        }
        return process.exitValue();
    }

    @Override
    public void close() throws InterruptedException {
        kill9();
    }
}
