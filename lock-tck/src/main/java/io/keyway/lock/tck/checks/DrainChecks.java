// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.WriterPolicy;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Rules 1207 to 1211: writers that keep no reader waiting. */
final class DrainChecks {
    /** A limit that no check reaches. */
    private static final Duration LONG = Duration.ofHours(1);

    @Check(rules = "LK-1207 LK-1208", needs = Feature.DRAIN, from = Profile.SMOKE)
    @Hint("Does a soft writer have a place in the queue? Is it told when the last reader leaves?")
    void aSoftWriterKeepsNoReaderWaiting(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        LockClient late = t.client("late");
        Lease read = reader.readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> writes = waitsSoftly(t, WriterPolicy.soft());
        untilYielding(t, reader);
        Lease beside = reads(t, late, "a reader was refused beside a reader while nobody but a soft writer waited");
        read.release();
        t.pass(t.ttl(1, 2));
        t.expect(!writes.isDone(), "a soft writer was granted beside a reader");
        beside.release();
        Lease written = written(t, writes, "the last reader has left, and nobody waits but a soft writer");
        t.expectEqual("the mode of a soft writer's lease", LockMode.EXCLUSIVE, written.mode());
        t.expectTaken(late.readWriteLock(t.name()).read(), "a reader was admitted beside a soft writer that holds");
        written.release();
        t.expectFreeSoon(late, t.name(), "a soft writer has released its lease");
    }

    @Check(rules = "LK-1208 LK-1207", needs = Feature.DRAIN)
    @Hint("Does a soft writer pass those that queue, when the lock gets free?")
    void aSoftWriterStandsBehindAllThatQueue(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Task<Optional<Lease>> writes = waitsSoftly(t, WriterPolicy.soft());
        untilYielding(t, holder);
        Task<Lease> first = t.acquiring("the hard writer's acquire", t.client("hard"), t.name());
        untilQueued(t, holder, 1);
        Task<Lease> second = t.acquiring(
                "the reader's acquire",
                t.client("reader").readWriteLock(t.name()).read());
        untilQueued(t, holder, 2);
        held.release();
        for (Task<Lease> before : List.of(first, second)) {
            t.expectEnd(
                    t.ttl(), before, "one that queued was not granted when its turn came, while a soft writer waits");
            t.expect(!writes.isDone(), "a soft writer was granted before one that queued");
            before.get().release();
        }
        written(t, writes, "all that queued have left").release();
    }

    @Check(rules = "LK-1208", needs = Feature.DRAIN)
    @Hint("Does a request of a soft writer that does not wait leave anything behind?")
    void aSoftWriterMayAskOnce(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        DistributedLock soft = one.readWriteLock(t.name(), WriterPolicy.soft()).write();
        t.expectFree(soft, "nobody holds the lock, and a soft writer was refused")
                .release();
        t.expectFreeSoon(other, t.name(), "a soft writer has come and gone");
        Lease read = other.readWriteLock(t.name()).read().acquire();
        t.expectTaken(soft, "a soft writer was granted beside a reader");
        read.release();
        t.expectFreeSoon(other, t.name(), "a soft writer asked once and was refused, and the reader has left");
    }

    @Check(rules = "LK-401 LK-1209", needs = Feature.DRAIN, from = Profile.SMOKE)
    @Hint("Does the store answer a soft writer that waits for nobody, only for its time without readers?")
    void aSoftWriterWhoseTimeHasNotComeIsNotAcquired(CheckContext t) throws Exception {
        DistributedLock soft = t.client("writer")
                .readWriteLock(t.name(), WriterPolicy.softAfter(LONG))
                .write();
        Duration limit = t.ttl(1, 2);
        for (boolean sync : new boolean[] {true, false}) {
            Task<Optional<Lease>> writes = t.start(
                    "the wait of a soft writer for its time without readers",
                    () -> sync
                            ? soft.tryAcquire(limit)
                            : soft.tryAcquireAsync(limit).get());
            Optional<Throwable> failure = writes.outcome();
            t.expect(
                    failure.isEmpty(),
                    "the limit of a soft writer, " + text(limit) + ", was over before its time without readers, "
                            + text(LONG) + "; nobody reads, and that is no acquire, but no failure either: "
                            + failure.orElse(null));
            t.expect(writes.get().isEmpty(), "a soft writer was granted before its time without readers was over");
        }
        t.expectFreeSoon(t.client("other"), t.name(), "a soft writer gave up");
    }

    @Check(rules = "LK-1207", needs = Feature.DRAIN)
    @Hint("Is a soft writer whose limit is over taken out by LockBackend.withdraw?")
    void aSoftWriterThatGaveUpIsGone(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        Lease read = reader.readWriteLock(t.name()).read().acquire();
        DistributedLock soft =
                t.client("soft").readWriteLock(t.name(), WriterPolicy.soft()).write();
        Task<Optional<Lease>> gaveUp = t.start("the soft writer's acquire", () -> soft.tryAcquire(t.ttl(1, 2)));
        t.expectEnd(t.ttl(), gaveUp, "a soft writer that was to wait for half a ttl has waited for one");
        t.expect(gaveUp.get().isEmpty(), "a soft writer was granted beside a reader");
        read.release();
        t.expectFreeSoon(reader, t.name(), "a soft writer has given up, and the reader has left");
    }

    @Check(rules = "LK-1209", needs = Feature.DRAIN)
    @Hint("Is the time without readers counted from the writer's request at the earliest?")
    void aSoftWriterWaitsForATimeWithoutReaders(CheckContext t) throws Exception {
        Duration quiet = t.ttl(3, 2);
        DistributedLock soft = t.client("reader")
                .readWriteLock(t.name(), WriterPolicy.softAfter(quiet))
                .write();
        t.expectTaken(soft, "a writer that waits for a time without readers was granted at its first attempt");
        long sent = t.now();
        Task<Optional<Lease>> writes = waitsSoftly(t, WriterPolicy.softAfter(quiet));
        notBefore(t, writes, sent, quiet, "it asked");
    }

    @Check(rules = "LK-1209 LK-1207", needs = Feature.DRAIN)
    @Hint("Does each grant of a reader begin the time anew for soft writers that wait?")
    void aReaderBeginsTheTimeWithoutReadersAnew(CheckContext t) throws Exception {
        Duration quiet = t.ttl(3, 2);
        LockClient reader = t.client("reader");
        Task<Optional<Lease>> writes = waitsSoftly(t, WriterPolicy.softAfter(quiet));
        untilYielding(t, reader);
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Lease read = reads(t, reader, "a reader was refused while nobody but a soft writer waited");
        read.release();
        notBefore(t, writes, sent, quiet, "a reader was granted");
    }

    @Check(rules = "LK-1210", needs = Feature.DRAIN, from = Profile.SMOKE)
    @Hint("The kit refuses it; a client of your own has to")
    void aSoftWriterSaysHowLongItWaits(CheckContext t) throws Exception {
        DistributedLock soft =
                t.client("soft").readWriteLock(t.name(), WriterPolicy.soft()).write();
        t.expectThrows("acquire of a soft writer", UnsupportedOperationException.class, soft::acquire);
        t.expectThrows(
                "acquireAsync of a soft writer",
                UnsupportedOperationException.class,
                () -> soft.acquireAsync().isDone());
        t.expectFree(t.client("other"), "an acquire of a soft writer that was refused has taken the lock")
                .release();
    }

    @Check(
            rules = "LK-1211",
            needs = {Feature.DRAIN, Feature.LIST})
    @Hint("LockStatus.softWriters is their list")
    void aSoftWriterIsShownApart(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        Lease read = reader.readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> writes = waitsSoftly(t, WriterPolicy.soft());
        untilYielding(t, reader);
        LockStatus status = t.status(reader, t.key(t.name()));
        t.expectEqual("the waiters in the queue, while nobody but a soft writer waits", List.of(), status.waiters());
        t.expectEqual("the soft writers", 1, status.softWriters().size());
        t.expectEqual(
                "the mode of a soft writer",
                LockMode.EXCLUSIVE,
                status.softWriters().get(0).mode());
        read.release();
        written(t, writes, "the reader has left").release();
        LockStatus after = t.status(reader, t.key(t.name()));
        t.expectEqual("the soft writers when it has come and gone", List.of(), after.softWriters());
    }

    private static Task<Optional<Lease>> waitsSoftly(CheckContext t, WriterPolicy policy) {
        DistributedLock soft = t.client("soft").readWriteLock(t.name(), policy).write();
        return t.start("the soft writer's acquire", () -> soft.tryAcquire(LONG));
    }

    /** Reads at once: what it asks the store may meet an attempt of the writer there, and be repeated. */
    private static Lease reads(CheckContext t, LockClient client, String otherwise) throws Exception {
        DistributedLock lock = client.readWriteLock(t.name()).read();
        Task<Optional<Lease>> asked = t.start("the reader's acquire", () -> lock.tryAcquire());
        t.expectEnd(t.ttl(1, 2), asked, otherwise);
        return t.expectGranted(asked.get(), otherwise);
    }

    private static void untilYielding(CheckContext t, LockClient by) throws InterruptedException {
        if (t.has(Feature.LIST)) {
            t.until(
                    "a soft writer is shown",
                    () -> !t.status(by, t.key(t.name())).softWriters().isEmpty());
        } else {
            t.untilWaiting(by, t.name(), 1);
        }
    }

    private static void untilQueued(CheckContext t, LockClient by, int waiters) throws InterruptedException {
        if (t.has(Feature.LIST)) {
            t.untilWaiting(by, t.name(), waiters);
        } else {
            t.pass(t.ttl(1, 4));
        }
    }

    private static Lease written(CheckContext t, Task<Optional<Lease>> writes, String when) throws Exception {
        t.expectEnd(t.ttl(), writes, when + ", and it is not granted for a ttl");
        return writes.get().orElseThrow(() -> t.failure("a soft writer gave up after less than " + text(LONG)));
    }

    private static void notBefore(CheckContext t, Task<Optional<Lease>> writes, long sent, Duration quiet, String since)
            throws Exception {
        // Clocks may differ by a little.
        long end = sent + quiet.toNanos() / 100 * 98;
        for (Duration piece = quiet.dividedBy(8); !writes.isDone() && t.now() - end < 0; ) {
            t.passUntil(Math.min(end, t.now() + piece.toNanos()));
        }
        String time = text(quiet) + " without readers";
        t.never(
                writes.isDone() && t.now() - end < 0,
                "a writer that waits for " + time + " was granted sooner after " + since);
        written(t, writes, time + " have passed since " + since).release();
    }
}
