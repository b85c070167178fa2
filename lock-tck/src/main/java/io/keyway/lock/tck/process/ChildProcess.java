// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A real process whose lines can be waited for. It hears the signals that end a process, even if this JVM was started
 * to ignore them, as under nohup or behind an {@code &} in a script. Every wait is bounded by {@link #LIMIT}, which is
 * reached only when something hangs: then an {@link AssertionError} shows what was printed. Closing kills the process
 * and its descendants.
 */
public final class ChildProcess implements AutoCloseable {
    /** How long each wait lasts at most on an idle machine. */
    public static final Duration LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final OutputLines out;
    private final OutputLines err;

    private ChildProcess(Process process, String name) {
        this.process = process;
        this.out = new OutputLines(process.getInputStream(), name + "-" + process.pid());
        this.err = new OutputLines(process.getErrorStream(), name + "-" + process.pid() + "-err");
    }

    /** Starts a command with these variables added to the environment. */
    public static ChildProcess start(Map<String, String> environment, String... words) {
        return start(environment, List.of(words));
    }

    /** Starts a command with these variables added to the environment. */
    public static ChildProcess start(Map<String, String> environment, List<String> words) {
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().putAll(environment);
        return start(builder);
    }

    /**
     * Starts what the builder describes.
     *
     * @throws UncheckedIOException if there is no such command
     */
    public static ChildProcess start(ProcessBuilder builder) {
        return start(builder, builder.command().get(0));
    }

    static ChildProcess start(ProcessBuilder builder, String name) {
        try {
            return new ChildProcess(
                    builder.command(Signals.heard(builder.command())).start(), name);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Its id. */
    public long pid() {
        return process.pid();
    }

    /** The process itself. */
    public Process process() {
        return process;
    }

    /** Whether it has not ended; a stopped process lives. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns the first line of standard output that is like this, waited for. */
    public String line(Predicate<String> like) throws InterruptedException {
        return out.first(like, "such a line", LIMIT);
    }

    /** Returns the first line of standard output that starts so, waited for. */
    public String line(String start) throws InterruptedException {
        return out.first(line -> line.startsWith(start), "a line '" + start + "...'", LIMIT);
    }

    /** Returns the first line of standard error that has this in it, waited for. */
    public String errLine(String part) throws InterruptedException {
        return err.first(line -> line.contains(part), "a line '..." + part + "...'", LIMIT);
    }

    /** The standard output as a line protocol: each line is looked at once. */
    OutputLines protocol() {
        return out;
    }

    /** Waits for longer if the machine becomes busy meanwhile. */
    private boolean ends() throws InterruptedException {
        long begun = System.nanoTime();
        boolean ended = false;
        while (!ended && System.nanoTime() - begun < Patience.of(LIMIT).toNanos()) {
            ended = process.waitFor(1, TimeUnit.SECONDS);
        }
        return ended;
    }

    /** Returns the exit status, waited for, when all output has been read. */
    public int exitCode() throws InterruptedException {
        if (!ends()) {
            throw new AssertionError("process " + pid() + " did not end within " + Patience.of(LIMIT) + "; it printed: "
                    + out() + "\n" + err());
        }
        if (!out.awaitEnd(Patience.of(LIMIT)) || !err.awaitEnd(Patience.of(LIMIT))) {
            throw new AssertionError("somebody still holds the output of process " + pid() + ", which has ended");
        }
        return process.exitValue();
    }

    /** What it has printed on standard output up to now, without the last line's end. */
    public String out() {
        return out.text();
    }

    /** What it has printed on standard error up to now, without the last line's end. */
    public String err() {
        return err.text();
    }

    /** Types this, as into a terminal. */
    public void type(String text) {
        try {
            process.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
            process.getOutputStream().flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Closes its standard input. */
    public void endInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends a signal by its name, such as TERM. */
    public void signal(String name) throws IOException, InterruptedException {
        Signals.send(name, pid());
    }

    /** SIGKILL; returns when the process has ended. */
    public void kill9() throws InterruptedException {
        process.destroyForcibly();
        if (!ends()) {
            throw new AssertionError("process " + pid() + " outlived SIGKILL by " + Patience.of(LIMIT));
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
