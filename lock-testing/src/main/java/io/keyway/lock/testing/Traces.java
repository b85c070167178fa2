// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.Signals;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Instant;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What the processes of histories record for {@code keyway trace}: a directory that the option {@code trace} of their
 * URLs names. When a history breaks a rule, the files are kept where nobody deletes them with the test.
 */
public final class Traces {
    private static final Path KEPT = Path.of("target", "traces");
    /** Name, process, number. */
    private static final Pattern FILE = Pattern.compile(".*-(\\d+)-\\d+\\.trace(\\.1)?");

    private final Path directory;
    private final String name;
    private Instant before = Instant.EPOCH;
    private Instant last = Instant.EPOCH;

    /**
     * Makes the directory.
     *
     * @param name of the test, for the name of what is kept
     */
    public Traces(Path directory, String name) throws IOException {
        this.directory = Files.createDirectories(directory);
        this.name = name;
    }

    /** Where the processes write. */
    public Path directory() {
        return directory;
    }

    /** A history begins: what processes wrote that had ended before the history before it is deleted. */
    public void next() {
        try {
            for (Path file : files()) {
                Matcher parts = FILE.matcher(file.getFileName().toString());
                if (parts.matches()
                        && Files.getLastModifiedTime(file).toInstant().isBefore(before)
                        && !Signals.lives(Long.parseLong(parts.group(1)))) {
                    Files.delete(file);
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        before = last;
        last = Instant.now();
    }

    /** Keeps what is there. Returns how to look at it, in a sentence. */
    public String keep() {
        Path kept = KEPT.resolve(name + "-" + Instant.now().toEpochMilli()).toAbsolutePath();
        try {
            Files.createDirectories(kept);
            for (Path file : files()) {
                Files.copy(file, kept.resolve(file.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
            return "What all processes recorded is kept; see it with: keyway trace --files " + kept
                    + " --html history.html";
        } catch (IOException e) {
            return "What the processes recorded could not be kept: " + e;
        }
    }

    private List<Path> files() throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.sorted().toList();
        }
    }
}
