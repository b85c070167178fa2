// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockName;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Rules 1307 and 1308, and 1301 where a cache would pass them: whose turn it is when permits come back. */
final class PermitOrderChecks {

    @Check(
            rules = "LK-1307",
            needs = {Feature.SEMAPHORE, Feature.FIFO},
            from = Profile.SMOKE)
    @Hint("Who is granted when some permits come back: the first that waits, or the first that fits?")
    void whoWaitsForManyIsNotPassedByWhoWaitsForFew(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<Lease> out = taken(t, holder, 3);
        Task<Lease> many = waits(t, holder, "many", 2, 3, 1);
        Task<Lease> few = waits(t, holder, "few", 1, 3, 2);
        out.get(0).release();
        t.pass(t.ttl(1, 4));
        t.expect(
                !few.isDone(),
                "of three permits one came back; the first in the queue waits for two, the second for one of the same "
                        + "three, and the second was granted: a stream of small requests would starve a large one");
        t.expect(!many.isDone(), "two permits were granted when one of three had come back");
        out.get(1).release();
        Lease two = many.get();
        t.expect(!few.isDone() || !out.get(2).isHeld(), "a fourth permit of three was granted");
        out.get(2).release();
        few.get().release();
        two.release();
    }

    @Check(
            rules = "LK-1307 LK-1308",
            needs = {Feature.SEMAPHORE, Feature.FIFO})
    @Hint("Whom does one that states a larger capacity pass: those that state less, or all that do not fit?")
    void whoPassesANarrowWaiterPassesNoOther(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<Lease> out = taken(t, holder, 2);
        Task<Lease> narrow = waits(t, holder, "narrow", 1, 2, 1);
        Task<Lease> many = waits(t, holder, "many", 3, 4, 2);
        Task<Lease> between = waits(t, holder, "between", 1, 3, 3);
        Task<Lease> few = waits(t, holder, "few", 1, 4, 4);
        t.pass(t.ttl(1, 4));
        String waiting = "two permits are out; one waits for three of four";
        t.expect(!few.isDone(), waiting + ", and one that asked later, for one of four, was granted");
        t.expect(!between.isDone(), waiting + ", and one that asked later, for one of three, was granted");
        t.expect(!narrow.isDone() && !many.isDone(), "more was granted than the capacity that was stated");
        out.get(0).release();
        Lease one = narrow.get();
        t.expect(
                !many.isDone() && !few.isDone() && !between.isDone(),
                waiting + ", and of those that asked later one was granted");
        out.get(1).release();
        one.release();
        Lease three = many.get();
        t.expect(!between.isDone(), "with three permits out a fourth was granted under a capacity of three");
        three.release();
        t.releaseEach(List.of(few, between));
    }

    @Check(rules = "LK-1308", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Does the first in the queue stop all behind it, whatever capacity they state?")
    void aNarrowWaiterDoesNotHoldUpAWiderOne(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<Lease> out = taken(t, holder, 2);
        Task<Lease> narrow = waits(t, holder, "narrow", 1, 2, 1);
        DistributedSemaphore wide = t.client("wide").semaphore(t.name(), Capacity.of(3));
        Lease third = t.expectGranted(
                wide.tryAcquire(),
                "two permits are out, and one waits for a third under a capacity of two; an attempt under a capacity "
                        + "of three was refused");
        t.expect(wide.tryAcquire().isEmpty(), "a fourth permit was granted under a capacity of three");
        Task<Lease> next = waits(t, holder, "next", 1, 3, 2);
        t.expect(!next.isDone() && !narrow.isDone(), "a fourth permit was granted under a capacity of three");
        out.get(0).release();
        t.until(
                "of two that wait when two of three permits are out, the second, under a capacity of three, is granted "
                        + "though the first has to wait, under a capacity of two",
                next::isDone);
        t.expect(!narrow.isDone(), "with two permits out one more was granted under a capacity of two");
        next.get().release();
        third.release();
        narrow.get().release();
        out.get(1).release();
    }

    @Check(rules = "LK-1308 LK-1302", needs = Feature.SEMAPHORE)
    @Hint("What does the queue know of a waiter who was passed?")
    void whoWasPassedKeepsItsPlace(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<Lease> out = taken(t, holder, 2);
        Task<Lease> first = waits(t, holder, "first", 2, 2, 1);
        Task<Lease> second = waits(t, holder, "second", 1, 2, 2);
        DistributedSemaphore wide = t.client("wide").semaphore(t.name(), Capacity.of(3));
        for (int i = 0; i < 3; i++) {
            Lease passes = t.expectGranted(
                    wide.tryAcquire(),
                    "two permits are out, and one under a capacity of three was refused, since others wait under two");
            passes.release();
        }
        out.get(0).release();
        t.pass(t.ttl(1, 4));
        boolean fifo = t.has(Feature.FIFO);
        t.expect(!first.isDone(), "two permits of two were granted while one was out");
        t.expect(!second.isDone() || !fifo, "one who waits for two permits was passed by one who states no more");
        out.get(1).release();
        t.releaseEach(List.of(first, second));
    }

    @Check(
            rules = "LK-602 LK-1308",
            needs = {Feature.SEMAPHORE, Feature.FENCING},
            lacks = Feature.CACHING)
    @Hint("Is a token made when a request comes, or when it is granted?")
    void whoWasPassedHasTheHigherToken(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<Lease> out = taken(t, holder, 1);
        Task<Lease> narrow = waits(t, holder, "narrow", 1, 1, 1);
        Lease passes = t.expectGranted(
                t.client("wide").semaphore(t.name(), Capacity.of(2)).tryAcquire(),
                "one permit is out, and one under a capacity of two was refused, since another waits under one");
        passes.release();
        out.get(0).release();
        Lease later = narrow.get();
        t.expect(
                later.token() > passes.token(),
                "one that was passed was granted later, with token " + later.token() + "; who passed it had token "
                        + passes.token());
        later.release();
    }

    @Check(rules = "LK-1301", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("By which capacity is a permit taken again that the client has kept in its cache?")
    void whatAClientGaveBackIsGrantedAnewByTheCapacityOfThatCall(CheckContext t) throws Exception {
        LockClient client = t.client("client");
        AtomicInteger resources = new AtomicInteger(2);
        DistributedSemaphore own = client.semaphore(t.name(), Capacity.perResource(1, resources::get));
        own.acquire().release();
        DistributedSemaphore wider = t.client("wider").semaphore(t.name(), Capacity.of(3));
        Lease two = t.expectGranted(wider.tryAcquire(2), "two permits of three were refused while none was out");
        t.expect(
                own.tryAcquire().isEmpty(),
                "with two permits out a client that had held one before was granted one under a capacity of two");
        two.release();
        t.until("a permit of two can be had when none is out", () -> released(own.tryAcquire()));
        Lease one = t.expectGranted(wider.tryAcquire(1), "one permit of three was refused while none was out");
        resources.set(1);
        t.expect(
                own.tryAcquire().isEmpty(),
                "with one permit out a client that had held one before was granted one under a capacity of one");
        one.release();
        t.until("a permit of one can be had when none is out", () -> released(own.tryAcquire()));
        resources.set(0);
        t.expect(
                own.tryAcquire().isEmpty(),
                "a client that had held a permit before was granted one under a capacity of zero");
    }

    private static boolean released(Optional<Lease> lease) {
        lease.ifPresent(Lease::release);
        return lease.isPresent();
    }

    /** All permits of that capacity, in leases of one each. */
    private static List<Lease> taken(CheckContext t, LockClient holder, int permits) throws Exception {
        DistributedSemaphore semaphore = holder.semaphore(t.name(), Capacity.of(permits));
        List<Lease> out = new ArrayList<>();
        for (int i = 0; i < permits; i++) {
            out.add(semaphore.acquire());
        }
        return out;
    }

    /** A client that waits for permits, as the last of so many. */
    private static Task<Lease> waits(
            CheckContext t, LockClient holder, String client, int permits, int capacity, int place) throws Exception {
        DistributedSemaphore semaphore = t.client(client).semaphore(t.name(), Capacity.of(capacity));
        Task<Lease> waits = t.start(
                "the acquire of " + permits + " of " + capacity + " permits by " + client,
                () -> semaphore.acquire(permits));
        t.untilWaiting(holder, LockKey.semaphore(LockName.of(t.name())), place);
        return waits;
    }
}
