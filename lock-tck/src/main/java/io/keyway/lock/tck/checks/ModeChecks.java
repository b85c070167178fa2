// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Rules 1201 to 1203: readers and writers. */
final class ModeChecks {
    @Check(rules = "LK-1201 LK-301", needs = Feature.READ_WRITE, from = Profile.SMOKE)
    @Hint("Do lock(n) and readWriteLock(n) come to one key of the store?")
    void aLockIsTheWriteLockOfItsName(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        Lease plain = one.lock(t.name()).acquire();
        t.expectTaken(other.readWriteLock(t.name()).read(), "a reader was admitted beside the holder of lock(n)");
        t.expectTaken(other.readWriteLock(t.name()).write(), "a writer was admitted beside the holder of lock(n)");
        t.expectEqual("the mode of lock(n)", LockMode.EXCLUSIVE, plain.mode());
        plain.release();
        Lease read = other.readWriteLock(t.name()).read().acquire();
        t.expectEqual("the mode of a read lease", LockMode.SHARED, read.mode());
        t.expectTaken(one, "lock(n) was granted beside a reader");
        read.release();
        t.expectFree(one, "lock(n) was refused after the reader had left");
    }

    @Check(rules = "LK-1202", needs = Feature.READ_WRITE, from = Profile.SMOKE)
    @Hint("Is a SHARED request compatible with SHARED holders, of other clients and of its own?")
    void readersHoldTogether(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        List<Lease> readers = new ArrayList<>();
        for (LockClient client : List.of(one, other, one)) {
            Lease lease = t.expectGranted(
                    client.readWriteLock(t.name()).read().tryAcquire(),
                    "a reader was refused while only " + readers.size() + " readers held the lock");
            readers.add(lease);
        }
        readers.get(0).release();
        t.expectTaken(t.client("writer"), "one of three readers has left, and a writer was admitted");
        t.expect(readers.get(1).isHeld() && readers.get(2).isHeld(), "the release of one reader ended another");
        readers.get(1).release();
        readers.get(2).release();
        t.expectFree(t.client("last"), "all readers left, and a writer is refused");
    }

    @Check(rules = "LK-301 LK-1202", needs = Feature.READ_WRITE)
    @Hint("Does each reader expire on its own?")
    void readersExpireEachOnItsOwn(CheckContext t) throws Exception {
        LockClient client = t.client("reader");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease silent = lock.read().with(t.unrenewed()).acquire();
        Lease renewed = t.client("other").readWriteLock(t.name()).read().acquire();
        t.until("the reader that does not renew has lost its lease", () -> silent.state() == Lease.State.LOST);
        t.pass(t.ttl());
        t.expect(renewed.isHeld(), "the end of one reader's lease ended another's, which is renewed");
        t.expectTaken(t.client("writer"), "a writer was admitted beside a reader");
        renewed.release();
        t.until(
                "a writer is admitted when the last reader has left",
                () -> t.client("next").lock(t.name()).tryAcquire().isPresent());
    }

    @Check(
            rules = "LK-1203",
            needs = {Feature.READ_WRITE, Feature.FIFO},
            from = Profile.SMOKE)
    @Hint("Does a reader look at the queue, or only at the holders?")
    void aReaderDoesNotPassAWriterThatAskedEarlier(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        LockClient writer = t.client("writer");
        LockClient late = t.client("late");
        Lease read = reader.readWriteLock(t.name()).read().acquire();
        Task<Lease> writes = t.acquiring("the writer's acquire", writer, t.name());
        t.untilWaiting(reader, t.name(), 1);
        t.expectTaken(
                late.readWriteLock(t.name()).read(), "a reader was admitted before a writer that had asked earlier");
        Task<Lease> reads = t.acquiring(
                "the late reader's acquire", late.readWriteLock(t.name()).read());
        t.untilWaiting(reader, t.name(), 2);
        read.release();
        Lease written = writes.get();
        t.expect(!reads.isDone(), "the late reader was admitted beside the writer");
        written.release();
        reads.get().release();
    }

    @Check(
            rules = "LK-1203",
            needs = {Feature.READ_WRITE, Feature.FIFO},
            from = Profile.SMOKE)
    @Hint("Does a client that reads already pass the queue, at the store or by its own cache?")
    void aClientThatReadsDoesNotPassAWriterEither(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        DistributedLock lock = reader.readWriteLock(t.name()).read();
        Lease read = lock.acquire();
        Task<Lease> writes = t.acquiring("the writer's acquire", t.client("writer"), t.name());
        t.untilWaiting(reader, t.name(), 1);
        // The recall of what a cache lends is on its way for a moment.
        Duration moment = t.has(Feature.CACHING) ? t.patience() : Duration.ZERO;
        t.expectWithin(
                moment,
                "a second reader, of a client that reads already, was admitted before a writer that had asked earlier",
                () -> isRefused(lock));
        Task<Lease> again = t.start("the second reader's acquire", lock::acquire);
        t.pass(t.ttl(1, 2));
        t.expect(
                !again.isDone(),
                "a second reader, of a client that reads already, waited with a writer that had asked earlier, and "
                        + "was granted before it");
        read.release();
        Lease written = writes.get();
        t.expect(!again.isDone(), "the second reader was admitted beside the writer");
        written.release();
        again.get().release();
    }

    private static boolean isRefused(DistributedLock lock) throws InterruptedException {
        Optional<Lease> lease = lock.tryAcquire();
        lease.ifPresent(Lease::close);
        return lease.isEmpty();
    }

    @Check(
            rules = "LK-1203",
            needs = {Feature.READ_WRITE, Feature.FIFO})
    @Hint("When a writer leaves, are all readers up to the next writer admitted?")
    void readersThatWaitTogetherAreAdmittedTogether(CheckContext t) throws Exception {
        LockClient writer = t.client("writer");
        Lease written = writer.lock(t.name()).acquire();
        List<Task<Lease>> readers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            LockClient reader = t.client("reader-" + i);
            readers.add(t.acquiring(
                    "the acquire of reader " + i, reader.readWriteLock(t.name()).read()));
            t.untilWaiting(writer, t.name(), i + 1);
        }
        written.release();
        List<Lease> leases = new ArrayList<>();
        for (Task<Lease> reader : readers) {
            leases.add(reader.get());
        }
        t.expect(leases.stream().allMatch(Lease::isHeld), "three readers that waited do not hold the lock together");
        leases.forEach(Lease::close);
    }
}
