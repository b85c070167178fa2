// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongFunction;

/** A file with the last token and the places of all requests, which one client at a time reads and replaces. */
final class Table {

    /** A file lock is held by a process. This one is for its threads, and the same for all copies of this class. */
    private static final Lock THREADS =
            (Lock) System.getProperties().computeIfAbsent(Table.class.getName(), name -> new ReentrantLock());

    private final Path directory;

    /** What the file says, while {@link #change} runs: by request, in the order of their arrival, but for the expired. */
    final Map<String, Place> places = new LinkedHashMap<>();

    long token;

    Table(Path directory) {
        this.directory = directory;
    }

    void create() throws IOException {
        Files.createDirectories(directory);
    }

    /** Makes a change, which gets the time, in one step; before the file is replaced nothing has happened. */
    <T> T change(Duration limit, LongFunction<T> change) throws Exception {
        long start = System.nanoTime();
        if (!THREADS.tryLock(limit.toNanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException(directory + " was busy for " + limit);
        }
        try (FileChannel file = FileChannel.open(at("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            for (FileLock lock = file.tryLock(); lock == null; lock = file.tryLock()) {
                if (System.nanoTime() - start >= limit.toNanos()) {
                    throw new NotExecutedException("another process kept " + directory + " busy for " + limit);
                }
                // FileChannel.lock() has no limit.
                Thread.sleep(1);
            }
            List<String> before = read();
            long now = System.nanoTime();
            places.values().removeIf(place -> place.expired(now));
            T result = change.apply(now);
            replace(before);
            return result;
        } finally {
            THREADS.unlock();
        }
    }

    void put(Place place) {
        places.put(place.request(), place);
    }

    private List<String> read() throws IOException {
        Path file = Files.exists(at("table")) ? at("table") : at("fresh");
        List<String> lines = Files.exists(file) ? Files.readAllLines(file) : List.of("0");
        token = Long.parseLong(lines.get(0));
        places.clear();
        lines.stream().skip(1).map(Place::parse).forEach(this::put);
        return lines;
    }

    /**
     * Wherever this process ends, the table, or if there is none the fresh one, is whole. The old one is deleted first,
     * since a file that replaces another makes some file systems wait for the disk.
     */
    private void replace(List<String> before) throws IOException {
        List<String> lines = new ArrayList<>(List.of(Long.toString(token)));
        places.values().forEach(place -> lines.add(place.line()));
        if (!lines.equals(before)) {
            Files.write(at("partial"), lines);
            Files.move(at("partial"), at("fresh"), StandardCopyOption.ATOMIC_MOVE);
            Files.deleteIfExists(at("table"));
            Files.move(at("fresh"), at("table"), StandardCopyOption.ATOMIC_MOVE);
        }
    }

    private Path at(String file) {
        return directory.resolve(file);
    }
}
