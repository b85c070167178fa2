// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Rules 1301 to 1306: permits. */
final class PermitChecks {
    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Are all permits that are out counted, by whichever client, in the step that grants?")
    void noMorePermitsAreOutThanTheCapacity(CheckContext t) throws Exception {
        List<Lease> out = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            Optional<Lease> lease =
                    t.client("c" + i).semaphore(t.name(), Capacity.of(3)).tryAcquire();
            t.expect(lease.isPresent(), "permit " + (i + 1) + " of 3 was refused");
            out.add(lease.orElseThrow());
        }
        t.expectEqual(
                "the mode of a semaphore's lease", LockMode.PERMITS, out.get(0).mode());
        DistributedSemaphore semaphore = t.client("late").semaphore(t.name(), Capacity.of(3));
        t.expectEqual("the available permits", 0, semaphore.availablePermits());
        t.expect(semaphore.tryAcquire().isEmpty(), "a fourth permit of 3 was granted");
        out.get(1).release();
        t.until(
                "a permit that was released can be acquired",
                () -> semaphore.tryAcquire().isPresent());
        t.expect(semaphore.tryAcquire().isEmpty(), "one permit came back, and two were granted");
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Are the permits of the grants counted, or the grants?")
    void permitsAreCountedAndNotTheirHolders(CheckContext t) throws Exception {
        DistributedSemaphore one = t.client("one").semaphore(t.name(), Capacity.of(5));
        DistributedSemaphore two = t.client("two").semaphore(t.name(), Capacity.of(5));
        Lease three = one.acquire(3);
        t.expectEqual("the available permits with a lease of 3 of 5 out", 2, two.availablePermits());
        t.expect(two.tryAcquire(3).isEmpty(), "with a lease of 3 permits of 5 out, 3 more were granted");
        Lease rest = t.expectGranted(two.tryAcquire(2), "with a lease of 3 permits of 5 out, 2 were refused");
        t.expect(one.tryAcquire(1).isEmpty(), "with leases of 3 and 2 permits of 5 out, a sixth was granted");
        three.release();
        t.until(
                "the 3 permits of a lease that was released can be had at once",
                () -> one.tryAcquire(3).isPresent());
        rest.release();
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Is the capacity taken from each request, or from the one that was first?")
    void theCapacityIsThatOfTheCallerAtEachAttempt(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lease one = client.semaphore(t.name(), Capacity.of(1)).acquire();
        t.expect(
                client.semaphore(t.name(), Capacity.of(1)).tryAcquire().isEmpty(),
                "a second permit was granted to a caller that stated a capacity of 1");
        Lease two = t.expectGranted(
                t.client("wider").semaphore(t.name(), Capacity.of(2)).tryAcquire(),
                "a caller that stated a capacity of 2 was refused while 1 permit was out");
        AtomicInteger resources = new AtomicInteger(1);
        DistributedSemaphore elastic = t.client("elastic").semaphore(t.name(), Capacity.perResource(2, resources::get));
        t.expect(
                elastic.tryAcquire().isEmpty(),
                "with 2 permits out, and 2 for each of 1 resource, a third was granted");
        resources.set(2);
        Lease three = t.expectGranted(
                elastic.tryAcquire(),
                "the capacity was not asked for again: with 2 resources of 2 permits a third was refused");
        one.release();
        two.release();
        three.release();
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE)
    @Hint("Is the capacity asked for anew at the next attempt?")
    void theNextAttemptStatesTheNewCapacity(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease one = client.semaphore(t.name(), Capacity.of(1)).acquire();
        AtomicInteger resources = new AtomicInteger(1);
        LockClient other = t.client("elastic");
        other.lock(t.name()).acquire().release(); // it is connected then, which may take longer than the wait
        DistributedSemaphore elastic = other.semaphore(t.name(), Capacity.perResource(1, resources::get));
        Task<Optional<Lease>> waits = t.start("a wait for a second permit", () -> elastic.tryAcquire(t.ttl(1, 4)));
        t.expect(waits.get().isEmpty(), "a second permit of 1 was granted");
        resources.set(3);
        t.expectEqual("the available permits by the new capacity", 2, elastic.availablePermits());
        // The request that was given up may stand before it until its withdrawal has arrived.
        t.until(
                "a permit is granted after the capacity has grown",
                () -> elastic.tryAcquire().isPresent());
        one.release();
    }

    @Check(rules = "LK-1302 LK-1306", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("What happens to permits that are out when a caller states a lower capacity?")
    void aLowerCapacityRevokesNothingAndBlocks(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        List<Lease> out = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            out.add(client.semaphore(t.name(), Capacity.of(4)).acquire());
        }
        DistributedSemaphore narrow = t.client("narrow").semaphore(t.name(), Capacity.of(2));
        t.expect(narrow.tryAcquire().isEmpty(), "with 4 permits out a caller with a capacity of 2 was granted one");
        int available = narrow.availablePermits();
        t.expectEqual("the available permits with 4 out and a capacity of 2", 0, available);
        t.pass(t.ttl(5, 4));
        t.expect(out.stream().allMatch(Lease::isHeld), "a caller stated a lower capacity, and a lease was lost");
        out.get(0).release();
        out.get(1).release();
        t.expect(narrow.tryAcquire().isEmpty(), "with 2 permits out a caller with a capacity of 2 was granted one");
        out.get(2).release();
        t.until(
                "with 1 permit out a caller with a capacity of 2 is granted one",
                () -> narrow.tryAcquire().isPresent());
        out.get(3).release();
    }

    @Check(rules = "LK-1303", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Are several permits taken one by one?")
    void thePermitsOfOneRequestAreGrantedTogether(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        DistributedSemaphore semaphore = client.semaphore(t.name(), Capacity.of(3));
        Lease two = semaphore.acquire(2);
        t.expectEqual("the permits of the lease", 2, two.permits());
        t.expect(semaphore.tryAcquire(2).isEmpty(), "2 permits were granted while 1 of 3 was left");
        Lease one = t.expectGranted(
                semaphore.tryAcquire(1), "an attempt for 2 permits that was refused has taken the one that was left");
        one.release();
        LockClient other = t.client("other");
        Task<Lease> all = t.start(
                "an acquire of all 3 permits",
                () -> other.semaphore(t.name(), Capacity.of(3)).acquire(3));
        t.pass(t.ttl(1, 4));
        t.expect(!all.isDone(), "3 permits were granted while 2 of 3 were out");
        two.release();
        Lease three = all.get();
        t.expectEqual("the permits of the lease", 3, three.permits());
        three.release();
    }

    @Check(
            rules = "LK-310 LK-1303",
            needs = {Feature.SEMAPHORE, Feature.FIFO})
    @Hint("Does a request that needs little pass one that waits for more?")
    void aSmallRequestDoesNotPassALargeOne(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        DistributedSemaphore small = holder.semaphore(t.name(), Capacity.of(3));
        Lease two = small.acquire(2);
        LockClient other = t.client("other");
        Task<Lease> large = t.start(
                "an acquire of all 3 permits",
                () -> other.semaphore(t.name(), Capacity.of(3)).acquire(3));
        t.pass(t.ttl(1, 4));
        t.expect(
                small.tryAcquire(1).isEmpty(),
                "one waits for 3 permits, of which 1 is left, and a later request for 1 was granted: with a stream "
                        + "of small requests the large one would wait forever");
        two.release();
        large.get().release();
    }

    @Check(rules = "LK-1304", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Is the number of permits looked at before anything is sent?")
    void permitsThatCannotBeAreRefused(CheckContext t) throws Exception {
        DistributedSemaphore semaphore = t.client("first").semaphore(t.name(), Capacity.of(3));
        for (int permits : new int[] {0, -1, Integer.MIN_VALUE, 4, Integer.MAX_VALUE}) {
            t.expectThrows(
                    "tryAcquire(" + permits + ") of 3 permits",
                    IllegalArgumentException.class,
                    () -> semaphore.tryAcquire(permits));
        }
        t.expectEqual("the available permits", 3, semaphore.availablePermits());
    }

    @Check(rules = "LK-1305", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Is a release idempotent by its token?")
    void permitsComeBackOnce(CheckContext t) throws Exception {
        DistributedSemaphore semaphore = t.client("first").semaphore(t.name(), Capacity.of(3));
        Lease two = semaphore.acquire(2);
        Lease one = semaphore.acquire(1);
        two.release();
        two.release();
        two.close();
        t.expectEqual(
                "the available permits after a lease of 2 of 3 was released twice", 2, semaphore.availablePermits());
        t.expect(semaphore.tryAcquire(3).isEmpty(), "a lease that was released twice gave its permits back twice");
        one.release();
        t.expectEqual("the available permits after all were released", 3, semaphore.availablePermits());
    }

    @Check(rules = "LK-1305 LK-513", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Do permits expire with their grant?")
    void permitsOfALeaseThatEndedComeBack(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lease silent =
                client.semaphore(t.name(), Capacity.of(2)).with(t.unrenewed()).acquire(2);
        t.until("a lease that is not renewed is lost", () -> silent.state() == Lease.State.LOST);
        DistributedSemaphore other = t.client("other").semaphore(t.name(), Capacity.of(2));
        t.until(
                "the permits of a lost lease are back",
                () -> other.tryAcquire(2).isPresent());
    }

    @Check(rules = "LK-1305 LK-402", needs = Feature.SEMAPHORE)
    @Hint("Does a waiter that gives up leave the queue, and a grant on its way go back?")
    void waitersThatGiveUpCostNoPermits(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        DistributedSemaphore semaphore = holder.semaphore(t.name(), Capacity.of(2));
        for (int i = 0; i < t.rounds(1, 3, 20); i++) {
            Lease all = semaphore.acquire(2);
            LockClient client = t.client("waiter-" + i);
            Task<Optional<Lease>> waits = t.start(
                    "a wait for a permit",
                    () -> client.semaphore(t.name(), Capacity.of(2)).tryAcquire(1, t.ttl(1, 4)));
            t.expect(waits.get().isEmpty(), "a third permit of 2 was granted");
            all.release();
            t.until(
                    "all permits can be had again",
                    () -> semaphore
                            .tryAcquire(2)
                            .map(lease -> {
                                lease.release();
                                return lease;
                            })
                            .isPresent());
        }
    }

    @Check(rules = "LK-1306", needs = Feature.SEMAPHORE)
    @Hint("Are the permits that are out taken from the capacity of whoever asks, and nothing more done?")
    void aStoreNeverSaysThatPermitsAreNegative(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("holder");
        Grant held = probe.granted(probe.permits(t.name(), 4, 4, t.longer(4)), "free permits were not granted");
        int available = probe.availablePermits(held.key(), 1);
        t.never(
                available < 0,
                "with 4 permits out and a capacity of 1 the backend says that " + available + " are available");
        probe.release(held);
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE)
    @Hint("Are the permits that are available those that are not out, or are those that are waited for taken off, too?")
    void whoWaitsTakesNoPermits(CheckContext t) throws Exception {
        DistributedSemaphore holds = t.client("holder").semaphore(t.name(), Capacity.of(3));
        DistributedSemaphore asks = t.client("waits").semaphore(t.name(), Capacity.of(3));
        Lease held = holds.acquire();
        Task<Lease> waits = t.start("the acquire of all three permits", () -> asks.acquire(3));
        t.pass(t.ttl(1, 8));
        t.expect(!waits.isDone(), "with one of three permits out three more were granted");
        t.expectEqual(
                "the available permits with one of three out, while somebody waits for three",
                2,
                holds.availablePermits());
        held.release();
        waits.get().release();
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("What does the store make of a capacity of zero, which a caller has while it sees no resources?")
    void withoutResourcesThereAreNoPermits(CheckContext t) throws Exception {
        AtomicInteger resources = new AtomicInteger();
        DistributedSemaphore semaphore =
                t.client("client").semaphore(t.name(), Capacity.perResource(2, resources::get));
        t.expectEqual("the available permits without resources", 0, semaphore.availablePermits());
        t.expect(semaphore.tryAcquire().isEmpty(), "a permit was granted under a capacity of zero");
        resources.set(1);
        t.expectEqual("the available permits of one resource", 2, semaphore.availablePermits());
        t.expect(semaphore.tryAcquire().isPresent(), "a permit of the first resource was refused");
        resources.set(0);
        t.expectEqual("the available permits when the resource is gone, with one out", 0, semaphore.availablePermits());
        t.expect(semaphore.tryAcquire().isEmpty(), "a permit was granted under a capacity of zero");
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE)
    @Hint("Are permits added in 32 bits?")
    void theSumOfPermitsDoesNotOverflow(CheckContext t) throws Exception {
        Capacity most = Capacity.of(Integer.MAX_VALUE);
        DistributedSemaphore one = t.client("one").semaphore(t.name(), most);
        DistributedSemaphore two = t.client("two").semaphore(t.name(), most);
        Lease nearly = one.acquire(Integer.MAX_VALUE - 1);
        t.never(
                two.tryAcquire(2).isPresent() && nearly.isHeld(),
                "with all but one of " + Integer.MAX_VALUE + " permits out two more were granted");
        t.expectEqual("the available permits with all but one out", 1, two.availablePermits());
        t.expect(two.tryAcquire().isPresent(), "the last of " + Integer.MAX_VALUE + " permits was refused");
        nearly.release();
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE)
    @Hint("Is the capacity that a waiter states at its last attempt used, or that of the attempt that queued it?")
    void aWaiterMayStateAnotherCapacity(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe waiter = t.probe("waiter");
        long end = t.now() + t.longer(8).toNanos() / 100 * 90;
        Grant one = holder.granted(holder.permits(t.name(), 1, 2, t.longer(8)), "a free permit was not granted");
        Grant two = holder.granted(holder.permits(t.name(), 1, 2, t.longer(8)), "a free permit was not granted");
        Request waits = waiter.permits(t.name(), 1, 2, t.longer(8));
        t.neverBefore(end, waiter.isGranted(waits), "a third of two permits was granted");
        // Before the release, which may grant unasked what the last attempt asked for.
        t.neverBefore(end, waiter.isGranted(BackendProbe.stating(1, waits)), "a third of two permits was granted");
        holder.release(one);
        // Whoever is told of it has been told.
        t.pass(t.ttl(1, 24));
        t.neverBefore(
                end,
                waiter.isGranted(BackendProbe.stating(1, waits)),
                "who waits stated a capacity of 1 at this attempt and the one before, one permit was out, and it was "
                        + "granted by the capacity that it had stated first");
        Grant three = waiter.grantedInTime(
                BackendProbe.stating(2, waits),
                "who waits stated a capacity of 2 at this attempt, one permit was out, and it was not granted, by "
                        + "the capacity that it had stated before");
        waiter.release(three);
        holder.release(two);
    }
}
