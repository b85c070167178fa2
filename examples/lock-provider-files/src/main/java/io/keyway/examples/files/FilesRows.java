// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.examples.files;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Stream;

/**
 * The rows of all locks. Each version of them is a file that is never changed, named by its number; a write makes the
 * next one, which fails if another process was faster. So nobody waits for a process that stands still.
 */
class FilesRows implements RowStore {

    static final Set<Feature> FEATURES = RowBackend.featuresWith(Feature.LIST);

    private static final Line NONE = new Line(0, System.nanoTime(), Row.FREE.text());
    private static final RowRules RULES = new RowRules();
    private static final int KEPT = 20;

    /** Spares the threads of this process the vain attempts to be the faster one. */
    private static final ReentrantLock THREADS = new ReentrantLock();

    private final Path directory;
    private final Path fresh;

    /** A row: the version that wrote it, when that was by the machine's clock, and its text. */
    record Line(long version, long written, String text) {
        String line() {
            return version + "\t" + written + "\t" + text.replace('\n', '\t');
        }
    }

    FilesRows(Path directory) {
        this.directory = directory;
        this.fresh = directory.resolve("fresh-" + UUID.randomUUID());
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        String disk = "a file system of this machine with hard links, and nobody else writes to the directory";
        String clock = "System.nanoTime() is one clock for all processes of the machine; " + disk;
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, disk),
                new Guarantee(Grade.TIMED, clock),
                new Guarantee(Grade.ALWAYS, "the machine does not lose its power; " + disk),
                new Guarantee(Grade.NO, "one disk"),
                Duration.ofMillis(1500),
                Duration.ofHours(24));
    }

    @Override
    public Stored read(LockKey key, Deadline deadline) throws IOException {
        return stored(table(latest()).getOrDefault(key.flat(), NONE), key, System.nanoTime());
    }

    @Override
    public Written write(Write write, Deadline deadline) throws Exception {
        return writeAll(List.of(write), deadline).get(0);
    }

    @Override
    public List<Written> writeAll(List<Write> writes, Deadline deadline) throws Exception {
        if (!THREADS.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("other threads were at it all the time in " + directory);
        }
        try {
            while (deadline.nanos() > 0) {
                long version = latest() + 1;
                Map<String, Line> table = table(version - 1);
                long now = System.nanoTime();
                List<Written> all = new ArrayList<>();
                for (Write write : writes) {
                    String key = write.key().flat();
                    Stored stands = stored(table.getOrDefault(key, NONE), write.key(), now);
                    Row row = write.row().stamped(version, now);
                    boolean done = write.isFor(stands);
                    if (done) {
                        table.put(key, new Line(version, now, row.text()));
                    }
                    all.add(new Written(done, done ? new Stored(row, version, now) : stands));
                }
                table.entrySet().removeIf(each -> isOver(each.getValue(), LockKey.unflat(each.getKey()), now));
                if (all.stream().noneMatch(Written::done) || link(version, table)) {
                    return all;
                }
            }
            throw new NotExecutedException("others were faster all the time in " + directory);
        } finally {
            THREADS.unlock();
        }
    }

    @Override
    public Page list(String prefix, Optional<String> after, int max, Deadline deadline) throws IOException {
        long now = System.nanoTime();
        List<Listed> rows = table(latest()).tailMap(after.orElse(""), false).entrySet().stream()
                .map(each -> Map.entry(LockKey.unflat(each.getKey()), each.getValue()))
                .filter(each -> each.getKey().name().value().startsWith(prefix))
                .limit(max)
                .map(each -> new Listed(each.getKey(), stored(each.getValue(), each.getKey(), now)))
                .toList();
        return new Page(
                rows,
                rows.size() < max
                        ? Optional.empty()
                        : Optional.of(rows.get(max - 1).key().flat()));
    }

    private static Stored stored(Line line, LockKey key, long now) {
        // What was written later than now was written before the machine, and its clock, started anew.
        Row row = line.written() - now > 0 ? Row.FREE : Row.parse(key, line.text());
        return new Stored(row, line.version(), now);
    }

    private static boolean isOver(Line line, LockKey key, long now) {
        return RULES.expired(stored(line, key, now).row(), now).isFree();
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

    private NavigableMap<String, Line> table(long version) throws IOException {
        NavigableMap<String, Line> table = new TreeMap<>();
        for (String line : version == 0 ? List.<String>of() : Files.readAllLines(file(version))) {
            String[] parts = line.split("\t", 4);
            long[] at = {Long.parseLong(parts[1]), Long.parseLong(parts[2])};
            table.put(parts[0], new Line(at[0], at[1], parts[3].replace('\t', '\n')));
        }
        return table;
    }

    /** False if another process has made that version. */
    boolean link(long version, Map<String, Line> table) throws IOException {
        List<String> lines = table.entrySet().stream()
                .map(each -> each.getKey() + "\t" + each.getValue().line())
                .toList();
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
