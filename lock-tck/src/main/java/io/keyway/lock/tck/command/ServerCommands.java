// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.command;

import io.keyway.lock.tck.TckSubject;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The commands of a shell by which the TCK ends and starts, and stops and continues, a provider's server, and counts
 * what it keeps. What they print goes to the provider's log, except a count.
 *
 * @param kill ends the server as a crash would; null, as {@code start}, if it cannot be killed
 * @param start starts it again as its operator would
 * @param pause makes it stand still; null, as {@code resume}, if it cannot
 * @param resume lets it go on
 * @param count prints how many things it keeps; null if nobody can count them
 */
record ServerCommands(
        @Nullable String kill,
        @Nullable String start,
        @Nullable String pause,
        @Nullable String resume,
        @Nullable String count) {
    private static final long LIMIT_SECONDS = 60;

    ServerCommands {
        inPairs("--kill-command", kill, "--start-command", start);
        inPairs("--pause-command", pause, "--resume-command", resume);
    }

    private static void inPairs(String one, @Nullable String first, String other, @Nullable String second) {
        if ((first == null) != (second == null)) {
            boolean lacksOther = second == null;
            throw new IllegalArgumentException((lacksOther ? one : other) + " needs " + (lacksOther ? other : one)
                    + " beside it: the checks after it need the server");
        }
    }

    /** Of a server that is left alone. */
    static ServerCommands none() {
        return new ServerCommands(null, null, null, null, null);
    }

    /** All of them; empty text for none. */
    List<String> fields() {
        return Stream.of(kill, start, pause, resume, count)
                .map(command -> command == null ? "" : command)
                .toList();
    }

    static ServerCommands of(List<String> fields) {
        return new ServerCommands(
                given(fields.get(0)),
                given(fields.get(1)),
                given(fields.get(2)),
                given(fields.get(3)),
                given(fields.get(4)));
    }

    private static @Nullable String given(String command) {
        return command.isEmpty() ? null : command;
    }

    /** The subject with these as controls. */
    TckSubject onto(TckSubject subject, Path log) {
        TckSubject controlled = subject;
        if (kill != null && start != null) {
            controlled = controlled.withServer(control(kill, log), control(start, log));
        }
        if (pause != null && resume != null) {
            controlled = controlled.withPause(control(pause, log), control(resume, log));
        }
        if (count != null) {
            String counting = count;
            controlled = controlled.withFootprint(() -> number(counting, log));
        }
        return controlled;
    }

    private static TckSubject.Control control(String command, Path log) {
        return () -> run(command, log);
    }

    private static long number(String command, Path log) throws IOException, InterruptedException {
        Path out = Files.createTempFile("keyway-count", ".txt");
        try {
            run(command, ProcessBuilder.Redirect.to(out.toFile()), ProcessBuilder.Redirect.appendTo(log.toFile()));
            String text = Files.readString(out).strip();
            try {
                return Long.parseLong(text);
            } catch (NumberFormatException e) {
                throw new IOException("the command printed no number: " + command + " printed '" + text + "'", e);
            }
        } finally {
            Files.deleteIfExists(out);
        }
    }

    private static void run(String command, Path log) throws IOException, InterruptedException {
        ProcessBuilder.Redirect both = ProcessBuilder.Redirect.appendTo(log.toFile());
        run(command, both, both);
    }

    private static void run(String command, ProcessBuilder.Redirect out, ProcessBuilder.Redirect err)
            throws IOException, InterruptedException {
        boolean windows = File.separatorChar == '\\';
        Process shell = new ProcessBuilder(windows ? "cmd" : "/bin/sh", windows ? "/c" : "-c", command)
                .redirectOutput(out)
                .redirectError(err)
                .start();
        try {
            shell.getOutputStream().close();
            if (!shell.waitFor(LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new IOException("the command did not end within " + LIMIT_SECONDS + " s: " + command
                        + " (a server is started in the background)");
            }
        } finally {
            shell.destroyForcibly();
        }
        if (shell.exitValue() != 0) {
            throw new IOException("the command ended with " + shell.exitValue() + ": " + command
                    + " (what it printed is in the provider's log)");
        }
    }
}
