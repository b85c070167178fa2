// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;
import java.util.stream.Stream;

/**
 * The last token and the places of all requests. Each version is a file that is never changed, named by its number; a
 * change makes the next one, which fails if another process was faster. So nobody waits for a process that stands still.
 */
final class Table {

    private static final int KEPT = 20;

    /** Spares the threads of this process the vain attempts to be the faster one. */
    private static final ReentrantLock THREADS = new ReentrantLock();

    private final Path directory;
    private final Path fresh;

    /** What the version says, while {@link #change} runs: by request, in the order of their arrival, but for the expired. */
    final Map<String, Place> places = new LinkedHashMap<>();

    long token;

    Table(Path directory) {
        this.directory = directory;
        this.fresh = directory.resolve("fresh-" + UUID.randomUUID());
    }

    /** Makes a change, which gets the time, in one step; it may be tried more than once. */
    <T> T change(Duration limit, LongFunction<T> change) throws Exception {
        Deadline deadline = Deadline.after(limit);
        if (!THREADS.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("other threads were at it for " + limit + " in " + directory);
        }
        try {
            while (deadline.nanos() > 0) {
                long version = latest();
                List<String> before = read(version);
                long now = System.nanoTime();
                places.values().removeIf(place -> place.expired(now));
                T result = change.apply(now);
                if (write(version + 1, before)) {
                    return result;
                }
            }
            throw new NotExecutedException("others were faster for " + limit + " in " + directory);
        } finally {
            THREADS.unlock();
        }
    }

    Place put(Place place) {
        places.put(place.request(), place);
        return place;
    }

    private long latest() throws IOException {
        try (Stream<Path> files = Files.list(Files.createDirectories(directory))) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> !name.startsWith("fresh"))
                    .mapToLong(Long::parseLong)
                    .max()
                    .orElse(0);
        }
    }

    private List<String> read(long version) throws IOException {
        List<String> lines = version == 0 ? List.of("0") : Files.readAllLines(file(version));
        token = Long.parseLong(lines.get(0));
        places.clear();
        lines.stream().skip(1).map(Place::parse).forEach(this::put);
        return lines;
    }

    /** False if another process has made that version. */
    private boolean write(long version, List<String> before) throws IOException {
        List<String> lines = new ArrayList<>(List.of(Long.toString(token)));
        places.values().forEach(place -> lines.add(place.line()));
        if (lines.equals(before)) {
            return true;
        }
        try {
            Files.createLink(file(version), Files.write(fresh, lines));
        } catch (FileAlreadyExistsException e) {
            return false;
        } finally {
            Files.deleteIfExists(fresh);
        }
        Files.deleteIfExists(file(version - KEPT));
        if (latest() - version >= KEPT) {
            // That number may have been free because it was given, and deleted, long ago.
            Files.deleteIfExists(file(version));
            throw new IOException("this process stood still while it wrote version " + version + " of " + directory);
        }
        return true;
    }

    private Path file(long version) {
        return directory.resolve(Long.toString(version));
    }
}
