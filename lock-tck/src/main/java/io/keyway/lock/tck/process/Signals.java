// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Signals to processes, and what the system says about them. Needs a POSIX shell, and ps where there is no /proc. */
public final class Signals {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Signals() {}

    /**
     * Sends a signal by its name, such as STOP.
     *
     * @throws AssertionError if there is no such process
     */
    public static void send(String signal, long pid) throws IOException, InterruptedException {
        String complaint = run("/bin/sh", "-c", "kill -" + signal + " " + pid); // the shell's own: nothing to install
        if (!complaint.isEmpty()) {
            throw new AssertionError("kill -" + signal + " " + pid + ": " + complaint);
        }
    }

    /** Stops a process and returns when it is stopped. */
    public static void stop(long pid) throws IOException, InterruptedException {
        send("STOP", pid);
        until("process " + pid + " is stopped", () -> isStopped(pid));
    }

    /** Lets a stopped process go on and returns when it does. */
    public static void cont(long pid) throws IOException, InterruptedException {
        send("CONT", pid);
        until("process " + pid + " goes on", () -> !isStopped(pid));
    }

    /** Whether there is such a process and it has not ended, stopped or not. */
    public static boolean lives(long pid) {
        String state = column(pid, 0, "stat");
        return !state.isEmpty() && !state.startsWith("Z") && !state.startsWith("X");
    }

    /** Whether it is stopped by a signal. */
    public static boolean isStopped(long pid) {
        return column(pid, 0, "stat").startsWith("T");
    }

    /** The parent's id; empty if there is no such process. */
    public static String parent(long pid) {
        return column(pid, 1, "ppid");
    }

    /** The session's id; empty if there is no such process. */
    public static String session(long pid) {
        return column(pid, 3, "sess");
    }

    /** A field of /proc/PID/stat, counted from the state, or a column of ps where there is no /proc. */
    private static String column(long pid, int field, String name) {
        try {
            if (!Files.exists(Path.of("/proc/self/stat"))) {
                return run("ps", "-o", name + "=", "-p", Long.toString(pid));
            }
            String stat = Files.readString(Path.of("/proc", Long.toString(pid), "stat"));
            return stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1)[field];
        } catch (NoSuchFileException e) {
            return "";
        } catch (IOException e) {
            if (ProcessHandle.of(pid).isEmpty()) {
                return ""; // it ended while its entry was read
            }
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Waits, at most a minute, until something outside of this JVM is so. */
    public static void until(String what, BooleanSupplier condition) {
        until(what, LIMIT, condition);
    }

    /** As above, for what takes longer on a busy machine, as that servers find a leader. */
    public static void until(String what, Duration limit, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > limit.toNanos()) {
                throw new AssertionError("Not within " + limit + ": " + what);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("Did not end: " + String.join(" ", command));
        }
        return output.trim();
    }
}
