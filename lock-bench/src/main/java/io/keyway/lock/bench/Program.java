// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** A process that this one has started and talks to by lines; it ends with {@link #close}. One thread. */
final class Program implements AutoCloseable {
    private static final long END_SECONDS = 10;

    private final Process process;
    private final Path log;
    private final BufferedReader answers;
    private final Writer orders;

    private Program(Process process, Path log) {
        this.process = process;
        this.log = log;
        this.answers = process.inputReader(StandardCharsets.UTF_8);
        this.orders = process.outputWriter(StandardCharsets.UTF_8);
    }

    /**
     * Starts it.
     *
     * @param log takes what it prints as errors
     */
    static Program start(List<String> command, Map<String, String> environment, Path log) throws IOException {
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(log.toFile());
        builder.environment().putAll(environment);
        return new Program(builder.start(), log);
    }

    /** The command of a JVM like this one. */
    static List<String> java(List<String> options, String classPath, String main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(options);
        command.addAll(List.of("-cp", classPath, main));
        command.addAll(List.of(arguments));
        return command;
    }

    /** The class path of this JVM, for a process that may be started elsewhere. */
    static String classPath() {
        List<String> entries = new ArrayList<>();
        for (String entry : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            if (!entry.isEmpty()) {
                entries.add(Path.of(entry).toAbsolutePath().toString());
            }
        }
        return String.join(File.pathSeparator, entries);
    }

    ProcessHandle handle() {
        return process.toHandle();
    }

    /** The next line that it prints. */
    String read() throws IOException {
        String line = answers.readLine();
        if (line == null) {
            throw failed("it has ended");
        }
        return line;
    }

    /** What it answers to a line. */
    String ask(String order) throws IOException {
        orders.write(order + "\n");
        orders.flush();
        return answer();
    }

    /** Its next line, unless that says that it failed. */
    String answer() throws IOException {
        String answer = read();
        if (answer.startsWith("failed")) {
            throw failed(answer);
        }
        return answer;
    }

    /** What to throw about it: with what it said. */
    IOException failed(String what) throws IOException {
        String said = Files.readString(log, StandardCharsets.UTF_8);
        return new IOException("A process of this comparison (" + log.getFileName() + ") failed: " + what
                + System.lineSeparator() + said.substring(Math.max(0, said.length() - 4000)));
    }

    boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void close() {
        end(process.toHandle());
    }

    /** Ends a process: in order if it likes. */
    static void end(ProcessHandle process) {
        process.destroy();
        try {
            process.onExit().get(END_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        } catch (java.util.concurrent.ExecutionException | java.util.concurrent.TimeoutException e) {
            process.destroyForcibly();
        }
    }
}
