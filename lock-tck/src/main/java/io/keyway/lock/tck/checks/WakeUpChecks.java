// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Expectations.Act;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Rules 408 and 411: whoever brings about the turn of a waiter, the waiter is told. */
final class WakeUpChecks {
    private static final int ROUNDS = 8;

    /** More than a table of them has places whose author thought of a small number. */
    private static final int CROWD = 33;

    private static final String BEST = "the best of several turns is judged";

    /**
     * @param asked when the first of those that wait asked, or before
     * @param waiting those that wait
     * @param turn makes it their turn
     */
    private record Queue(long asked, List<Task<Lease>> waiting, Act turn) {}

    private interface Round {
        Queue begin(String name) throws Exception;
    }

    /**
     * One prompt round is enough. A round that took its time to begin is not judged: one that waits may then happen to
     * ask again just when its turn comes, which is no wake-up.
     */
    private static void wakes(CheckContext t, String otherwise, Round round) throws Exception {
        Duration limit = t.ttl(1, 10);
        int judged = 0;
        for (int i = 0; i < ROUNDS && !(t.isVirtual() && i > 0); i++) {
            Queue queue = round.begin(t.freshName());
            queue.turn().run();
            boolean fresh = t.now() - queue.asked() <= limit.toNanos();
            boolean prompt = t.happens(limit, () -> queue.waiting().stream().allMatch(Task::isDone));
            t.releaseEach(queue.waiting());
            if (fresh && prompt) {
                return;
            }
            judged += fresh ? 1 : 0;
        }
        if (judged == 0) {
            throw t.skipped(
                    Verdict.INCONCLUSIVE,
                    "in " + ROUNDS + " rounds it took longer than " + text(limit)
                            + " until those that wait had asked: a wake-up cannot be told from another question of "
                            + "theirs");
        }
        throw t.failure(otherwise + " within " + text(limit) + "; rounds judged: " + judged + "; WAKE_UP is declared");
    }

    @Check(rules = "LK-411", needs = Feature.WAKE_UP, statistical = BEST, from = Profile.SMOKE)
    @Hint("Is the waiter told of the release, or does it ask again after a while?")
    void aReleaseWakesTheWaiter(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        wakes(t, "a holder released, and the waiter was not granted", name -> behind(t, holder, waiter, name));
    }

    @Check(
            rules = "LK-411 LK-412",
            needs = Feature.WAKE_UP,
            requires = Requirement.LINK,
            statistical = BEST,
            limits = 2)
    @Hint("Who listens again when the connection by which a client is told of its turns was lost, and is made anew?")
    void aWakeUpOutlastsALostConnection(CheckContext t) throws Exception {
        ClientLink link = t.link("waiter");
        LockClient holder = t.client("holder");
        link.client().lock(t.freshName()).acquire().release();
        // Who listens anew for the first time may not do so for a second time.
        for (int i = 0; i < 2; i++) {
            if (!link.reset()) {
                link.cut();
                t.pass(t.ttl(1, 2));
                link.heal();
            }
            t.acquired("an acquire after the connection broke", link.client(), t.freshName())
                    .release();
            t.pass(t.ttl(1, 2));
        }
        wakes(
                t,
                "a holder released, and the waiter, whose connection had broken and stands again, was not granted",
                name -> behind(t, holder, link.client(), name));
    }

    private static Queue behind(CheckContext t, LockClient holder, LockClient waiter, String name) throws Exception {
        Lease held = holder.lock(name).acquire();
        return of(t, holder, name, () -> waiter.lock(name).acquire(), held::release);
    }

    /** Of one that waits behind what that holder has. */
    private static Queue of(CheckContext t, LockClient holder, String name, Callable<Lease> acquire, Act turn)
            throws Exception {
        long asked = t.now();
        Task<Lease> waits = t.start("the waiter's acquire", acquire);
        t.untilWaiting(holder, name, 1);
        return new Queue(asked, List.of(waits), turn);
    }

    @Check(rules = "LK-411", needs = Feature.WAKE_UP, statistical = BEST)
    @Hint("Is the client that gives back told too, if it has another request that waits?")
    void aReleaseWakesAWaiterOfItsOwnClient(CheckContext t) throws Exception {
        LockClient client = t.client("only");
        wakes(
                t,
                "a holder released, and another request of its client was not granted",
                name -> behind(t, client, client, name));
    }

    @Check(rules = "LK-411", needs = Feature.WAKE_UP, statistical = BEST)
    @Hint("Is a client told of a lock again for which it was told before?")
    void aSecondReleaseWakesTheWaiterToo(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        wakes(t, "a holder released, and the waiter, whom a release had woken before, was not granted", name -> {
            Queue first = behind(t, holder, waiter, name);
            first.turn().run();
            first.waiting().get(0).get().release();
            return behind(t, holder, waiter, name);
        });
    }

    @Check(rules = "LK-411", needs = Feature.WAKE_UP, statistical = BEST, limits = 3)
    @Hint("How does a signal find its client if a process has many of them?")
    void eachOfManyClientsIsWoken(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<LockClient> crowd = new ArrayList<>();
        List<Queue> all = new ArrayList<>();
        for (int i = 0; i < CROWD; i++) {
            LockClient waiter = t.client("waiter-" + i);
            crowd.add(waiter);
            all.add(behind(t, holder, waiter, t.freshName()));
        }
        for (Queue queue : all) {
            queue.turn().run();
            queue.waiting().get(0).get().release();
        }
        for (LockClient waiter : crowd) {
            wakes(
                    t,
                    CROWD + " clients have waited, and " + waiter.name() + " was not granted when a holder released",
                    name -> behind(t, holder, waiter, name));
        }
    }

    @Check(
            rules = "LK-411",
            needs = {Feature.WAKE_UP, Feature.READ_WRITE},
            statistical = BEST)
    @Hint("Who is told when the last of several readers leaves?")
    void theLastReaderThatLeavesWakesTheWriter(CheckContext t) throws Exception {
        LockClient one = t.client("reader-1");
        LockClient two = t.client("reader-2");
        LockClient writer = t.client("writer");
        wakes(t, "the last of two readers left, and the writer that waited was not granted", name -> {
            Lease first = one.readWriteLock(name).read().acquire();
            Lease second = two.readWriteLock(name).read().acquire();
            return of(t, one, name, () -> writer.readWriteLock(name).write().acquire(), () -> {
                first.release();
                second.release();
            });
        });
    }

    @Check(
            rules = "LK-411",
            needs = {Feature.WAKE_UP, Feature.SEMAPHORE},
            statistical = BEST)
    @Hint("Who is told when permits come back?")
    void permitsThatComeBackWakeWhoWaits(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        wakes(t, "two permits came back, and who waited for one was not granted", name -> {
            Lease held = holder.semaphore(name, Capacity.of(2)).acquire(2);
            return ofPermits(t, waiter, name, held::release);
        });
    }

    @Check(
            rules = "LK-411",
            needs = {Feature.WAKE_UP, Feature.SEMAPHORE},
            statistical = BEST)
    @Hint("Is who waits told of permits that come back while others are still out?")
    void somePermitsThatComeBackWakeWhoWaits(CheckContext t) throws Exception {
        LockClient one = t.client("holder-1");
        LockClient two = t.client("holder-2");
        LockClient waiter = t.client("waiter");
        wakes(t, "one of two permits came back, the other is out, and who waited for one was not granted", name -> {
            // Given back by the close of its client.
            var unused = one.semaphore(name, Capacity.of(2)).acquire();
            Lease second = two.semaphore(name, Capacity.of(2)).acquire();
            return ofPermits(t, waiter, name, second::release);
        });
    }

    @Check(
            rules = "LK-411",
            needs = {Feature.WAKE_UP, Feature.SEMAPHORE},
            statistical = BEST)
    @Hint("Who is told when permits are granted: the next in the queue, if there are some for it too?")
    void permitsForTwoWakeTwo(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        LockClient other = t.client("other");
        wakes(t, "two permits came back, and two that waited for one each were not both granted", name -> {
            Lease held = holder.semaphore(name, Capacity.of(2)).acquire(2);
            Queue first = ofPermits(t, waiter, name, held::release);
            Queue second = ofPermits(t, other, name, held::release);
            List<Task<Lease>> both =
                    List.of(first.waiting().get(0), second.waiting().get(0));
            return new Queue(first.asked(), both, held::release);
        });
    }

    @Check(
            rules = "LK-411 LK-1308",
            needs = {Feature.WAKE_UP, Feature.SEMAPHORE},
            statistical = BEST)
    @Hint("Who is told when permits come back: the first that waits, or the first that they are enough for?")
    void permitsWakeTheFirstThatTheyAreEnoughFor(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient narrow = t.client("narrow");
        LockClient wide = t.client("wide");
        String otherwise =
                "one of two permits came back, and who waited for it under a capacity of two, behind one that "
                        + "waits under a capacity of one, was not granted";
        wakes(t, otherwise, name -> {
            Lease one = holder.semaphore(name, Capacity.of(2)).acquire();
            // Both that are left are given back by the close of their clients.
            var unused = holder.semaphore(name, Capacity.of(2)).acquire();
            Queue first = ofPermits(t, narrow, name, 1, one::release);
            Queue second = ofPermits(t, wide, name, 2, one::release);
            return new Queue(first.asked(), second.waiting(), one::release);
        });
    }

    private static Queue ofPermits(CheckContext t, LockClient waiter, String name, Act turn) throws Exception {
        return ofPermits(t, waiter, name, 2, turn);
    }

    private static Queue ofPermits(CheckContext t, LockClient waiter, String name, int capacity, Act turn)
            throws Exception {
        long asked = t.now();
        Task<Lease> waits = t.start(
                "the acquire of who waits",
                () -> waiter.semaphore(name, Capacity.of(capacity)).acquire());
        t.pass(t.ttl(1, 24));
        return new Queue(asked, List.of(waits), turn);
    }

    @Check(
            rules = "LK-411 LK-1206",
            needs = {Feature.WAKE_UP, Feature.READ_WRITE, Feature.UPGRADE},
            statistical = BEST)
    @Hint("Who is told when a writer becomes a reader?")
    void aDowngradeWakesTheReader(CheckContext t) throws Exception {
        LockClient writer = t.client("writer");
        LockClient reader = t.client("reader");
        wakes(t, "a writer became a reader, and the reader that waited was not granted", name -> {
            DistributedReadWriteLock lock = writer.readWriteLock(name);
            Lease written = lock.write().acquire();
            // The reader it becomes is given back by the close of its client.
            return of(
                    t, writer, name, () -> reader.readWriteLock(name).read().acquire(), () -> lock.downgrade(written));
        });
    }

    @Check(
            rules = "LK-411 LK-1105",
            needs = {Feature.WAKE_UP, Feature.BREAK},
            statistical = BEST)
    @Hint("Who is told when the holder of a broken grant has released it? In an engine: is the lock passed on when "
            + "ended() has returned?")
    void aBrokenHolderThatHasStoppedWakesTheWaiter(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        LockClient operator = t.client("operator");
        wakes(t, "a grant was broken and its holder is there to answer, and the waiter was not granted", name -> {
            Lease held = holder.lock(name).acquire();
            return of(
                    t,
                    holder,
                    name,
                    () -> waiter.lock(name).acquire(),
                    () -> operator.admin().breakLease(t.key(name), held.token(), "in favour of the waiter"));
        });
    }

    @Check(
            rules = "LK-411 LK-1203",
            needs = {Feature.READ_WRITE, Feature.FIFO, Feature.WAKE_UP},
            statistical = BEST)
    @Hint("Who is told when a reader is granted: the next in the queue, if it reads too?")
    void readersThatWaitAreWokenTogether(CheckContext t) throws Exception {
        LockClient writer = t.client("writer");
        List<LockClient> readers = List.of(t.client("reader-0"), t.client("reader-1"), t.client("reader-2"));
        wakes(
                t,
                "a writer released, and the three readers that waited one behind the other were not all granted",
                name -> {
                    Lease written = writer.lock(name).acquire();
                    long asked = t.now();
                    List<Task<Lease>> waiting = new ArrayList<>();
                    for (LockClient reader : readers) {
                        waiting.add(t.acquiring(
                                "the acquire of " + reader.name(),
                                reader.readWriteLock(name).read()));
                        t.untilWaiting(writer, name, waiting.size());
                    }
                    return new Queue(asked, waiting, written::release);
                });
    }

    @Check(
            rules = "LK-408 LK-411",
            needs = {Feature.READ_WRITE, Feature.FIFO, Feature.WAKE_UP},
            statistical = BEST)
    @Hint("Who is told when a waiter is withdrawn: is the one behind it, which may be first now?")
    void aWriterThatLeavesTheQueueWakesTheReaderBehindIt(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient writer = t.client("writer");
        LockClient reader = t.client("reader");
        wakes(
                t,
                "a writer that waited for a reader gave up, and the reader behind it, which nobody was in the way of "
                        + "any more, was not granted",
                name -> {
                    // Given back by the close of its client.
                    var unused = holder.readWriteLock(name).read().acquire();
                    CompletableFuture<Lease> leaves = writer.lock(name).acquireAsync();
                    t.untilWaiting(holder, name, 1);
                    long asked = t.now();
                    Task<Lease> behind = t.acquiring(
                            "the acquire of the reader behind the writer",
                            reader.readWriteLock(name).read());
                    t.untilWaiting(holder, name, 2);
                    return new Queue(asked, List.of(behind), () -> leaves.cancel(false));
                });
    }
}
