// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Signals to processes, and what ps says about them. */
public final class Signals {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private Signals() {}

    /** Sends a signal by its name, such as STOP. */
    public static void send(String signal, long pid) throws IOException, InterruptedException {
        run("kill", "-" + signal, Long.toString(pid));
    }

    /** Stops a process and returns when it is stopped. */
    public static void stop(long pid) throws IOException, InterruptedException {
        send("STOP", pid);
        until("process " + pid + " is stopped", () -> ps(pid, "stat").startsWith("T"));
    }

    /** Lets a stopped process go on and returns when it does. */
    public static void cont(long pid) throws IOException, InterruptedException {
        send("CONT", pid);
        until("process " + pid + " goes on", () -> !ps(pid, "stat").startsWith("T"));
    }

    /** Returns a column of ps for a process; empty if there is no such process. */
    public static String ps(long pid, String column) {
        try {
            return run("ps", "-o", column + "=", "-p", Long.toString(pid));
        } catch (IOException e) {
            throw new AssertionError(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /** Waits, at most 20 s, until something outside of this JVM is so. */
    public static void until(String what, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > LIMIT.toNanos()) {
                throw new AssertionError("Not within " + LIMIT + ": " + what);
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
