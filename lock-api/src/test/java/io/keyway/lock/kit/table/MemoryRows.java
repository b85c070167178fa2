// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Guarantee;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Rows as text in a map, with a version for each key that outlasts its row, as a table of a database would keep them.
 */
final class MemoryRows implements RowStore {

    private record Kept(String text, long version, long written) {}

    private final Map<LockKey, Kept> rows = new HashMap<>();
    long now = Long.MAX_VALUE - 1_000_000;
    int reads;
    int writes;

    /** By the last write. */
    long expected;

    /** It may forget that a row became free. */
    boolean forgets;

    @Override
    public long expected(Stored stands) {
        return forgets && stands.row().isFree() ? IF_FREE : stands.version();
    }

    /** The keys for which requests wait, of all clients, as often as it was said. */
    final List<LockKey> waited = new ArrayList<>();

    @Override
    public void waits(LockKey key, boolean waits) {
        assertThat(waits ? waited.add(key) : waited.remove(key)).isTrue();
    }

    /** Runs once, before the next write is carried out: somebody else is faster. */
    Runnable before = () -> {};

    /** Runs before each write of a row that is not locked: somebody else is always faster. */
    Runnable always = () -> {};

    /** Whether it can lock a row. */
    boolean locks;

    /** Runs when a row was locked, before it is read. */
    Runnable whenLocked = () -> {};

    /** How often a row was locked. */
    int locked;

    @Override
    public synchronized Optional<Written> writeLocked(
            Write missed, Function<Stored, Optional<Write>> decision, Deadline deadline) throws Exception {
        if (!locks) {
            return Optional.empty();
        }
        locked++;
        Runnable faster = always;
        always = () -> {};
        whenLocked.run();
        Stored stands = stored(missed.key());
        Optional<Write> write = decision.apply(stands);
        Written written = write.isEmpty() ? new Written(false, stands) : carryOut(write.get());
        always = faster;
        return Optional.of(written);
    }

    /** Leases of waiters are renewed apart from their row. */
    boolean leases;

    int renewed;

    @Override
    public boolean renewWaiters(LockKey key, List<Entry> waiters, Deadline deadline) {
        renewed += leases ? waiters.size() : 0;
        return leases;
    }

    boolean loseReply;

    /** Nothing is written, and what is expected is said to stand there. */
    boolean saysNo;

    /** The same, so many times. */
    int saysNoTimes;

    /** What the writes that were carried out said to others. */
    final List<Notice> told = new ArrayList<>();

    /** The next write is still under way when its writer gives up; it arrives with {@link #arrive}. */
    boolean delay;

    private @Nullable Write late;

    /** Nothing is read or written of the row of that key. */
    @Nullable
    LockKey failing;

    /** Whoever reads the row of that key waits in vain, until his time is over. */
    @Nullable
    LockKey hanging;

    /** A read returns when its time is just over. */
    boolean answersLate;

    /** The next write is surely not carried out. */
    boolean refuse;

    /** Each write needs one of these permits before it is carried out. */
    Semaphore mayWrite = new Semaphore(Integer.MAX_VALUE);

    @Override
    public synchronized Stored read(LockKey key, Deadline deadline) throws IOException, NotExecutedException {
        reads++;
        check(key);
        deadline.check("the row of " + key + " was read");
        if (key.equals(hanging)) {
            untilOver(deadline);
            throw new IOException("no answer in time");
        }
        if (answersLate) {
            untilOver(deadline);
        }
        return stored(key);
    }

    private static void untilOver(Deadline deadline) {
        while (deadline.nanos() > 0) {
            LockSupport.parkNanos(deadline.nanos());
        }
    }

    private void check(LockKey key) throws IOException {
        if (key.equals(failing)) {
            throw new IOException("no answer");
        }
    }

    /** Somebody writes what is no row. */
    void spoil(LockKey key) {
        rows.computeIfPresent(key, (same, kept) -> new Kept("a poem", kept.version() + 1, now));
    }

    private Stored stored(LockKey key) {
        Kept kept = rows.get(key);
        return kept == null
                ? new Stored(Row.FREE, 0, now)
                : new Stored(Row.parse(key, kept.text()).stamped(kept.version(), kept.written()), kept.version(), now);
    }

    @Override
    public Written write(Write write, Deadline deadline) throws Exception {
        if (!mayWrite.tryAcquire(deadline.nanos(), TimeUnit.NANOSECONDS)) {
            throw new IOException("no answer in time");
        }
        return carryOut(write);
    }

    private synchronized Written carryOut(Write write) throws IOException, NotExecutedException {
        writes++;
        expected = write.expected();
        if (refuse) {
            refuse = false;
            throw new NotExecutedException("the store is busy");
        }
        check(write.key());
        if (delay) {
            delay = false;
            late = write;
            throw new IOException("no answer yet");
        }
        Runnable faster = before;
        before = () -> {};
        faster.run();
        Runnable other = always;
        always = () -> {};
        other.run();
        always = other;
        Stored stands = stored(write.key());
        if (saysNo || --saysNoTimes >= 0 || !write.isFor(stands)) {
            return new Written(false, stands);
        }
        told.addAll(write.notices());
        rows.put(write.key(), new Kept(write.row().text(), stands.version() + 1, now));
        if (loseReply) {
            loseReply = false;
            throw new IOException("the reply was lost");
        }
        return new Written(true, stored(write.key()));
    }

    /** The write that was delayed is carried out; says whether it found what it expected. */
    boolean arrive() throws Exception {
        Write write = Objects.requireNonNull(late, "nothing is under way");
        late = null;
        return carryOut(write).done();
    }

    @Override
    public Set<Feature> features() {
        return RowBackend.FEATURES;
    }

    @Override
    public Guarantees guarantees() {
        return new Guarantees(
                new Guarantee(Grade.ALWAYS, "in a test"),
                new Guarantee(Grade.TIMED, "in a test"),
                new Guarantee(Grade.ALWAYS, "in a test"),
                new Guarantee(Grade.NO, "in a test"),
                Duration.ofMillis(100),
                Duration.ofHours(1));
    }

    int requests() {
        return reads + writes;
    }
}
