// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A JVM of this JVM's class path that runs a main class. It is told one line at a time and answers in lines: each
 * answer starts with a word, which is awaited, and lines before it are skipped. What it prints on standard error counts
 * as answers too. Every wait is bounded by {@link ChildProcess#LIMIT}. Closing kills it.
 */
public final class ChildJvm implements AutoCloseable {
    private final ChildProcess process;

    private ChildJvm(ChildProcess process) {
        this.process = process;
    }

    /** Starts a main class in a small JVM. */
    public static ChildJvm start(Class<?> main, String... arguments) {
        return start(List.of(), main, arguments);
    }

    /** Starts a main class in a small JVM with these further options, such as {@code -Dname=value}. */
    public static ChildJvm start(List<String> options, Class<?> main, String... arguments) {
        ProcessBuilder builder = new ProcessBuilder(command(options, main, arguments)).redirectErrorStream(true);
        return new ChildJvm(ChildProcess.start(builder, main.getSimpleName()));
    }

    /** Starts a main class in a small JVM of that class path. */
    public static ChildJvm startOn(String classPath, Class<?> main, String... arguments) {
        return startOn(List.of(), classPath, main, arguments);
    }

    /** The same, whose command follows those words. */
    static ChildJvm startOn(List<String> before, String classPath, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(before);
        command.addAll(command(List.of(), classPath, main, arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        return new ChildJvm(ChildProcess.start(builder, main.getSimpleName()));
    }

    /** Returns the command that starts a main class in a small JVM. */
    public static List<String> command(Class<?> main, String... arguments) {
        return command(List.of(), main, arguments);
    }

    private static List<String> command(List<String> options, Class<?> main, String... arguments) {
        return command(options, System.getProperty("java.class.path"), main, arguments);
    }

    private static List<String> command(List<String> options, String classPath, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx64m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1"));
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    /** Its id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it has not ended; a stopped process lives. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Sends a line.
     *
     * @throws java.io.UncheckedIOException if the process has ended
     */
    public void tell(String line) {
        process.type(line + "\n");
    }

    /** Waits for the next line that starts with this word, and returns its rest. */
    public String await(String word) throws InterruptedException {
        return process.protocol()
                .next(
                        line -> line.equals(word) || line.startsWith(word + " "),
                        "the line '" + word + "'",
                        ChildProcess.LIMIT)
                .substring(word.length())
                .trim();
    }

    /** Sends a line and waits for the answer that starts with this word. */
    public String ask(String line, String word) throws InterruptedException {
        tell(line);
        return await(word);
    }

    /** What it has printed up to now. */
    public String printed() {
        return process.out();
    }

    /** SIGKILL; returns when the process has ended. */
    public void kill9() throws InterruptedException {
        process.kill9();
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
        return process.exitCode();
    }

    @Override
    public void close() throws InterruptedException {
        kill9();
    }
}
