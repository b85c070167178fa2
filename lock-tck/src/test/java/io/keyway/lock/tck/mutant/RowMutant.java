// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.mutant;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowStore;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Leftovers;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/** Rows in a file that processes share, with one defect, as an author of a provider by rows may write it. */
final class RowMutant implements RowStore {

    /** What is wrong. */
    enum Defect {
        /** Nothing. */
        NONE,
        /** The wall clock of each client says when an entry ends. */
        WALL_CLOCK,
        /** The wall clock of each client makes the tokens. */
        TOKENS_OF_THE_WALL_CLOCK,
        /** A row hangs on the lease of the client that wrote it last. */
        ROW_OF_THE_LAST_WRITER,
        /** A withdrawal is remembered for one ttl, by the lease that the request had. */
        MEMORY_OF_ONE_TTL,
        /** No entry ends before five seconds have passed, and nothing says so. */
        LEAST_TERM,
        /** Who gives a floor ends the JVM. */
        ENDS_THE_JVM,
        /** Who gives a floor waits forever. */
        HANGS,
        /** Nobody may use the place for tests. */
        FORBIDDEN_PLACE,
        /** What is left in the place for tests cannot be removed. */
        STICKY_PLACE
    }

    static final Set<Feature> FEATURES = RowBackend.FEATURES;

    private static final ReentrantLock THREADS = new ReentrantLock();
    private static final Duration LEAST = Duration.ofSeconds(5);

    private record Line(long version, long written, long ends, String text) {
        static final Line NONE = new Line(0, 0, Long.MAX_VALUE, Row.FREE.text());

        static Line parse(String line) {
            String[] parts = line.split("\t", 4);
            return new Line(
                    Long.parseLong(parts[0]),
                    Long.parseLong(parts[1]),
                    Long.parseLong(parts[2]),
                    parts[3].replace('\t', '\n'));
        }

        String line() {
            return version + "\t" + written + "\t" + ends + "\t" + text.replace('\n', '\t');
        }
    }

    private final Path file;
    private final Defect defect;
    private final long floor;

    RowMutant(Path file, Defect defect, long floor) {
        this.file = file;
        this.defect = defect;
        this.floor = floor;
    }

    private long now() {
        return defect == Defect.WALL_CLOCK ? System.currentTimeMillis() * 1_000_000 : System.nanoTime();
    }

    /** Of the last version there is a line of its own. */
    private interface Work<T> {
        T on(Map<String, String> lines) throws IOException;
    }

    private <T> T with(Deadline deadline, Work<T> work) throws Exception {
        if (!THREADS.tryLock(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("other threads were at it all the time");
        }
        try (FileChannel channel = FileChannel.open(
                        file.resolveSibling("lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock held = channel.lock()) {
            Map<String, String> lines = new TreeMap<>();
            for (String line : Files.exists(file) ? Files.readAllLines(file) : List.<String>of()) {
                String[] parts = line.split("\t", 2);
                lines.put(parts[0], parts[1]);
            }
            Map<String, String> before = Map.copyOf(lines);
            T result = work.on(lines);
            if (!lines.equals(before)) {
                Files.write(
                        file,
                        lines.entrySet().stream()
                                .map(each -> each.getKey() + "\t" + each.getValue())
                                .toList());
            }
            return result;
        } finally {
            THREADS.unlock();
        }
    }

    private Stored stored(Map<String, String> lines, LockKey key) {
        String text = lines.get(key.flat());
        Line line = text == null ? Line.NONE : Line.parse(text);
        long now = now();
        Row row = now - line.ends() > 0 ? Row.FREE : Row.parse(key, line.text());
        return new Stored(row, line.version(), now);
    }

    @Override
    public Stored read(LockKey key, Deadline deadline) throws Exception {
        return with(deadline, lines -> stored(lines, key));
    }

    @Override
    public Written write(Write write, Deadline deadline) throws Exception {
        Written written = writes(write, deadline);
        if (floor > 0 && defect == Defect.ENDS_THE_JVM) {
            Runtime.getRuntime().halt(7);
        }
        if (floor > 0 && defect == Defect.HANGS) {
            new CountDownLatch(1).await();
        }
        return written;
    }

    private Written writes(Write write, Deadline deadline) throws Exception {
        return with(deadline, lines -> {
            LockKey key = write.key();
            Stored stands = stored(lines, key);
            if (!write.isFor(stands)) {
                return new Written(false, stands);
            }
            long now = now();
            long version = version(lines);
            Row row = spoiled(write.row()).stamped(version, now);
            long ends =
                    defect == Defect.ROW_OF_THE_LAST_WRITER && !write.heard().isEmpty()
                            ? now + write.heard().get(0).lasts()
                            : Long.MAX_VALUE;
            lines.put(key.flat(), new Line(version, now, ends, row.text()).line());
            return new Written(true, new Stored(row, version, now));
        });
    }

    private long version(Map<String, String> lines) {
        if (defect == Defect.TOKENS_OF_THE_WALL_CLOCK) {
            return System.currentTimeMillis() * 1000 + System.nanoTime() / 1000 % 1000;
        }
        long next = Math.max(floor, Long.parseLong(lines.getOrDefault("version", "0"))) + 1;
        lines.put("version", Long.toString(next));
        return next;
    }

    private Row spoiled(Row row) {
        List<Entry> entries = new ArrayList<>();
        for (Entry entry : row.entries()) {
            long lasts = entry.lasts();
            if (defect == Defect.MEMORY_OF_ONE_TTL && entry.state() == Entry.State.WITHDRAWN) {
                lasts = entry.request().ttl().toNanos();
            } else if (defect == Defect.LEAST_TERM) {
                lasts = Math.max(lasts, LEAST.toNanos());
            }
            entries.add(new Entry(
                    entry.client(),
                    entry.request(),
                    entry.state(),
                    entry.token(),
                    entry.since(),
                    entry.heard(),
                    lasts,
                    entry.reason(),
                    entry.before()));
        }
        return new Row(entries);
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        Leftovers leftovers = limit -> {
            if (defect == Defect.STICKY_PLACE) {
                throw new IOException("this user may not remove it");
            }
            Files.deleteIfExists(file);
        };
        return type.isInstance(leftovers) ? Optional.of(type.cast(leftovers)) : Optional.empty();
    }

    @Override
    public Set<Feature> features() {
        return FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, "on one machine, until it starts again"),
                new Guarantee(Grade.TIMED, "if the answer is used at once"),
                new Guarantee(Grade.ALWAYS, "on one machine"),
                new Guarantee(Grade.NO, "a machine that starts again has another clock"),
                Duration.ofMillis(100),
                Duration.ofHours(1));
    }
}
