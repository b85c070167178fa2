// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** What a comparison has started and written; all of it ends with it, also when this process is told to end. */
final class Ground implements AutoCloseable {
    private final Path directory;
    private final Thread hook = new Thread(this::end, "comparison-end");
    private final Deque<Runnable> ends = new ArrayDeque<>();
    private int programs;

    Ground() throws IOException {
        directory = Files.createTempDirectory("keyway-bench");
        Runtime.getRuntime().addShutdownHook(hook);
    }

    /** A new directory of that name. */
    Path directory(String name) throws IOException {
        return Files.createTempDirectory(directory, name);
    }

    /** Starts a program, which lives as long as this at most. */
    Program program(String name, List<String> command, Map<String, String> environment) throws IOException {
        Program program = Program.start(command, environment, directory.resolve(name + "-" + programs++ + ".log"));
        atEnd(program::close);
        return program;
    }

    /** Starts a process whose standard streams are the caller's, as they are. */
    Process process(List<String> command) throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        atEnd(() -> Program.end(process.toHandle()));
        return process;
    }

    /** Adds what has to be done at the end, before what was added so far. */
    synchronized void atEnd(Runnable end) {
        ends.push(end);
    }

    private synchronized void end() {
        while (!ends.isEmpty()) {
            ends.pop().run();
        }
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(file);
            }
        } catch (IOException | UncheckedIOException e) {
            // The system empties its directory of temporary files some time.
        }
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(hook);
        end();
    }
}
