// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/** A real process whose lines can be waited for. All bounds are generous: they are reached only when something hangs. */
public final class Child implements AutoCloseable {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Process process;
    private final List<String> out = new ArrayList<>();
    private final List<String> err = new ArrayList<>();
    private final Thread outReader;
    private final Thread errReader;

    private Child(Process process) {
        this.process = process;
        this.outReader = reader(process.getInputStream(), out);
        this.errReader = reader(process.getErrorStream(), err);
    }

    public static Child start(Map<String, String> environment, String... words) {
        return start(environment, List.of(words));
    }

    public static Child start(Map<String, String> environment, List<String> words) {
        ProcessBuilder builder = new ProcessBuilder(words);
        builder.environment().putAll(environment);
        return start(builder);
    }

    public static Child start(ProcessBuilder builder) {
        try {
            return new Child(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Thread reader(InputStream in, List<String> lines) {
        Thread thread = new Thread(() -> {
            try (BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
                for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                    add(lines, line);
                }
            } catch (IOException e) {
                add(lines, e.toString());
            }
        });
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private synchronized void add(List<String> lines, String line) {
        lines.add(line);
        notifyAll();
    }

    public long pid() {
        return process.pid();
    }

    public Process process() {
        return process;
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** The first line of standard output that is like this, waited for. */
    public String line(Predicate<String> like) throws InterruptedException {
        return await(out, like);
    }

    /** The first line of standard output that starts like this, waited for. */
    public String line(String start) throws InterruptedException {
        return line(line -> line.startsWith(start));
    }

    /** The first line of standard error that has this in it, waited for. */
    public String errLine(String part) throws InterruptedException {
        return await(err, line -> line.contains(part));
    }

    private synchronized String await(List<String> lines, Predicate<String> like) throws InterruptedException {
        long end = System.nanoTime() + LIMIT.toNanos();
        while (true) {
            for (String line : lines) {
                if (like.test(line)) {
                    return line;
                }
            }
            long left = end - System.nanoTime();
            if (left <= 0) {
                return fail("no such line; out " + out + ", err " + err);
            }
            wait(left / 1_000_000 + 1);
        }
    }

    /** The exit code, waited for, when all output has been read. */
    public int exitCode() throws InterruptedException {
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            fail("does not end; out " + out() + ", err " + err());
        }
        outReader.join(LIMIT.toMillis());
        errReader.join(LIMIT.toMillis());
        assertThat(outReader.isAlive() || errReader.isAlive())
                .as("somebody still holds the output of a process that has ended")
                .isFalse();
        return process.exitValue();
    }

    public synchronized String out() {
        return String.join("\n", out);
    }

    public synchronized String err() {
        return String.join("\n", err);
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

    public void signal(String name) {
        signal(name, pid());
    }

    /** Sends a signal as kill(1) does. */
    public static void signal(String name, long pid) {
        try {
            Process kill = new ProcessBuilder("/bin/sh", "-c", "kill -" + name + " " + pid).start();
            assertThat(kill.waitFor()).as("kill -%s %d", name, pid).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
