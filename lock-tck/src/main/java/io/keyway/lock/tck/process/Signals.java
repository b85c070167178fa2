// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Signals to processes, and what the system says about them. Needs a POSIX shell, and ps where there is no /proc. */
public final class Signals {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private Signals() {}

    /**
     * The command, so changed that its process hears HUP, INT, QUIT and TERM. A process inherits what its parent
     * ignores, and neither a JVM nor a shell can take that back for itself. Unchanged where this process ignores none
     * of them, and where the system has no means.
     */
    static List<String> heard(List<String> command) {
        String program = command.get(0);
        boolean missing = program.contains("/") && !Files.isExecutable(Path.of(program));
        if (Resetting.PREFIX.isEmpty() || missing) {
            return command;
        }
        List<String> changed = new ArrayList<>(Resetting.PREFIX);
        changed.addAll(command);
        return changed;
    }

    /** What goes before a command to reset signals that this process ignores. */
    private static final class Resetting {
        /** Bits of HUP, INT, QUIT and TERM. */
        private static final long ENDING = 0b100_0000_0000_0111;

        /** Empty if it ignores none of them, which does not change while it runs. */
        static final List<String> PREFIX = prefix();

        private static List<String> prefix() {
            try {
                if ((ignored() & ENDING) == 0) {
                    return List.of();
                }
                List<String> env = List.of("env", "--default-signal=HUP,INT,QUIT,TERM");
                List<String> perl =
                        List.of("perl", "-e", "@SIG{qw(HUP INT QUIT TERM)} = ('DEFAULT') x 4; exec { $ARGV[0] } @ARGV");
                return works(env) ? env : works(perl) ? perl : List.of();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError(e);
            }
        }

        private static long ignored() throws IOException, InterruptedException {
            Path status = Path.of("/proc/self/status");
            String mask = "";
            if (Files.exists(status)) {
                for (String line : Files.readAllLines(status)) {
                    mask = line.startsWith("SigIgn:") ? line.substring("SigIgn:".length()) : mask;
                }
            } else {
                mask = run(
                        "ps",
                        "-o",
                        "ignored=",
                        "-p",
                        Long.toString(ProcessHandle.current().pid()));
            }
            return mask.isBlank() ? 0 : Long.parseUnsignedLong(mask.strip(), 16);
        }

        private static boolean works(List<String> prefix) throws IOException, InterruptedException {
            String tried = String.join(
                    " ",
                    prefix.stream()
                            .map(word -> "'" + word.replace("'", "'\\''") + "'")
                            .toList());
            return run("/bin/sh", "-c", tried + " echo yes 2>/dev/null").equals("yes");
        }
    }

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

    /** Waits, at most a minute of an idle machine, until something outside of this JVM is so. */
    public static void until(String what, BooleanSupplier condition) {
        until(what, LIMIT, condition);
    }

    /** As above, for what takes longer on a busy machine, as that servers find a leader. */
    public static void until(String what, Duration limit, BooleanSupplier condition) {
        long start = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - start > Patience.of(limit).toNanos()) {
                throw new AssertionError("Not within " + Patience.of(limit) + ": " + what);
            }
            LockSupport.parkNanos(2_000_000);
        }
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(Patience.seconds(LIMIT.toSeconds()), TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("Did not end: " + String.join(" ", command));
        }
        return output.trim();
    }
}
