// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rules 310, 311, 401, 404, 409 and 411: who waits, how long, and in which order. */
final class WaitChecks {
    @Check(rules = "LK-401", from = Profile.SMOKE)
    @Hint("Is the time limit of a wait kept on the client's own clock, and what ends it early?")
    void aWaitLastsAsLongAsItsLimit(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        DistributedLock lock = t.client("waiter").lock(t.name());
        Lease held = holder.lock(t.name()).acquire();
        Duration limit = t.ttl();
        List<Callable<Optional<Lease>>> forms = List.of(
                () -> lock.tryAcquire(limit), () -> lock.tryAcquireAsync(limit).get());
        for (Callable<Optional<Lease>> form : forms) {
            long before = t.now();
            Task<Optional<Lease>> waits = t.start("a wait with a limit", form);
            // Up to just before the limit: nothing may have ended it.
            t.expect(
                    t.goesOnAt(before + limit.toNanos() * 7 / 8, waits, before + limit.toNanos()),
                    "a wait of " + text(limit) + " for a lock that is held ended within 7/8 of that");
            t.expectEnd(t.ttl(1, 2), waits, "a wait of " + text(limit) + " had not ended 3/8 of the ttl after that");
            t.expect(waits.get().isEmpty(), "a wait ended with a lease of a lock that another client holds");
        }
        t.expect(held.isHeld(), "somebody waited for a lock, and its holder's lease ended");
    }

    @Check(rules = "LK-401 LK-411")
    @Hint("Is a waiter looked after when the holder releases during its wait?")
    void aWaitEndsWithTheLockThatComesFree(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        for (int i = 0; i < t.rounds(2, 4, 10); i++) {
            String name = t.freshName();
            boolean sync = i % 2 == 0;
            Lease held = holder.lock(name).acquire();
            Task<Optional<Lease>> waits = t.start(
                    "a wait with a long limit",
                    () -> sync
                            ? waiter.lock(name).tryAcquire(t.patience().multipliedBy(2))
                            : waiter.lock(name)
                                    .tryAcquireAsync(t.patience().multipliedBy(2))
                                    .get());
            t.untilWaiting(holder, name, 1);
            t.expect(!waits.isDone(), "a wait for a lock that is held ended");
            held.release();
            Lease got = t.expectGranted(waits.get(), "the lock came free during a wait, and the waiter was refused");
            t.expect(got.isHeld(), "a waiter was given a lease that is not held");
            got.release();
        }
    }

    @Check(rules = "LK-409", from = Profile.SMOKE)
    @Hint("How is a wait of zero, or a negative one, turned into a timer or a parameter of the store?")
    void aWaitOfZeroOrLessIsOneAttempt(CheckContext t) throws Exception {
        DistributedLock lock = t.client("asks").lock(t.name());
        LockClient holder = t.client("holder");
        List<Duration> waits = List.of(
                Duration.ZERO, Duration.ofNanos(-1), Duration.ofSeconds(-5), Duration.ofSeconds(Long.MIN_VALUE));
        for (Duration wait : waits) {
            Optional<Lease> free = t.call("a wait of " + wait, () -> lock.tryAcquire(wait));
            t.expect(free.isPresent(), "tryAcquire(" + wait + ") of a free lock was refused");
            free.orElseThrow().release();
            Lease later = t.expectGranted(
                    t.call("a wait of " + wait, () -> lock.tryAcquireAsync(wait).get()),
                    "tryAcquireAsync(" + wait + ") of a free lock was refused");
            later.release();
        }
        Lease held = holder.lock(t.name()).acquire();
        for (Duration wait : waits) {
            List<Task<Optional<Lease>>> both = List.of(
                    t.start("tryAcquire(" + wait + ")", () -> lock.tryAcquire(wait)),
                    t.start(
                            "tryAcquireAsync(" + wait + ")",
                            () -> lock.tryAcquireAsync(wait).get()));
            for (Task<Optional<Lease>> task : both) {
                t.expectEnd(
                        t.ttl(1, 2),
                        task,
                        "a wait of " + wait + " for a lock that is held had not ended after half a ttl");
                t.expect(task.get().isEmpty(), "a wait of " + wait + " took a lock that another client holds");
            }
        }
        held.release();
    }

    @Check(rules = "LK-401")
    @Hint("Does a very long wait overflow when it is added to the clock?")
    void aWaitOfAgesIsAWait(CheckContext t) throws Exception {
        Lease held = t.client("holder").lock(t.name()).acquire();
        LockClient client = t.client("waits");
        List<Task<Optional<Lease>>> all = new ArrayList<>();
        for (Duration wait : List.of(Duration.ofDays(365_000), Duration.ofSeconds(Long.MAX_VALUE))) {
            all.add(t.trying("a wait of " + wait, client, t.name(), wait));
        }
        t.pass(t.ttl(1, 4));
        for (Task<Optional<Lease>> task : all) {
            t.expect(!task.isDone(), "a wait of ages for a lock that is held ended at once");
        }
        held.release();
        // They hold it one after the other, in whichever order.
        t.until("one of two that wait is granted", () -> all.stream().anyMatch(Task::isDone));
        int first = all.get(0).isDone() ? 0 : 1;
        all.get(first).get().orElseThrow().release();
        all.get(1 - first).get().orElseThrow().release();
    }

    @Check(rules = "LK-404", from = Profile.SMOKE)
    @Hint("Is the interrupt flag looked at before the request is sent?")
    void anInterruptedThreadAsksForNothing(CheckContext t) throws Exception {
        LockClient client = t.client("interrupted");
        LockClient other = t.client("other");
        DistributedLock lock = client.lock(t.name());
        List<Callable<Object>> calls = new ArrayList<>(List.of(
                lock::acquire,
                lock::tryAcquire,
                () -> lock.tryAcquire(t.patience()),
                () -> lock.tryAcquire(Duration.ZERO),
                () -> lock.callLocked(lease -> "ran"),
                () -> lock.tryRunLocked(t.patience(), lease -> {})));
        if (t.has(Feature.SEMAPHORE)) {
            DistributedSemaphore semaphore = client.semaphore(t.name(), Capacity.of(2));
            calls.addAll(List.of(semaphore::acquire, () -> semaphore.tryAcquire(2)));
        }
        for (Callable<Object> call : calls) {
            Task<Object> task = t.start("a call by an interrupted thread", () -> {
                Thread.currentThread().interrupt();
                return call.call();
            });
            Optional<Throwable> outcome = task.outcome();
            t.expect(
                    outcome.isPresent() && outcome.get() instanceof InterruptedException,
                    "a call by a thread whose interrupt flag was set should throw InterruptedException, and "
                            + outcome.map(thrown -> "threw " + thrown).orElse("returned"));
            t.expect(!task.interruptedAtEnd(), "InterruptedException was thrown, and the interrupt flag is still set");
            Lease free = t.expectGranted(
                    other.lock(t.name()).tryAcquire(), "an interrupted thread asked for a lock, and it is not free");
            free.release();
        }
    }

    @Check(rules = "LK-310", needs = Feature.FIFO, from = Profile.SMOKE)
    @Hint("In which order does the store keep those that wait, and who is granted first when the lock comes free?")
    void waitersAreServedInTheOrderOfTheirRequests(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        int waiters = t.rounds(4, 5, 8);
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Task<Integer>> all = new ArrayList<>();
        List<Integer> asked = new ArrayList<>();
        for (int i = 0; i < waiters; i++) {
            int number = i;
            asked.add(number);
            LockClient client = t.client("w" + i);
            all.add(t.start("waiter " + i, () -> {
                Lease lease = client.lock(t.name()).acquire();
                order.add(number);
                lease.release();
                return number;
            }));
            t.untilWaiting(holder, t.name(), i + 1);
        }
        held.release();
        t.join(all);
        t.expectEqual("the order of grants", asked, order);
    }

    @Check(rules = "LK-310 LK-402", needs = Feature.FIFO)
    @Hint("What keeps the place of one that waits for longer than its ttl?")
    void aLongWaitKeepsItsPlace(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> first = t.acquiring("the first waiter", t.client("first"), t.name());
        t.untilWaiting(holder, t.name(), 1);
        t.pass(t.ttl(3, 4));
        Task<Lease> second = t.acquiring("the second waiter", t.client("second"), t.name());
        t.untilWaiting(holder, t.name(), 2);
        // The first has waited for longer than its ttl then, the second has not.
        t.pass(t.ttl(5, 8));
        held.release();
        t.until("one of two that wait is granted", () -> first.isDone() || second.isDone());
        t.expect(
                first.isDone(),
                "one waited for longer than its ttl, and one that had asked after it was granted before it");
        first.get().release();
        second.get().release();
    }

    @Check(rules = "LK-310", needs = Feature.FIFO)
    @Hint("In which order does a client ask for its own threads?")
    void waitersOfOneClientAreServedInTheirOrder(CheckContext t) throws Exception {
        LockClient client = t.client("waits");
        Lease held = t.client("holder").lock(t.name()).acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<CompletableFuture<Integer>> all = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            int number = i;
            all.add(client.lock(t.name()).acquireAsync().thenApply(lease -> {
                order.add(number);
                lease.releaseAsync();
                return number;
            }));
        }
        t.pass(t.ttl(1, 8));
        held.release();
        for (CompletableFuture<Integer> future : all) {
            t.call("a request of the waiting client", future::get);
        }
        t.expectEqual("the order of grants", List.of(0, 1, 2, 3, 4, 5), order);
    }

    @Check(rules = "LK-310", needs = Feature.FIFO, from = Profile.SMOKE)
    @Hint("Does an attempt look at the queue, or only whether the lock is held?")
    void aNewcomerDoesNotOvertakeAWaiter(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        LockClient newcomer = t.client("newcomer");
        for (int i = 0; i < t.rounds(3, 10, 40); i++) {
            String name = t.freshName();
            Lease held = holder.lock(name).acquire();
            Task<Lease> waits = t.acquiring("the waiter", waiter, name);
            t.untilWaiting(holder, name, 1);
            LockClient late = i % 2 == 0 ? newcomer : holder;
            held.release();
            Optional<Lease> got = late.lock(name).tryAcquire();
            t.expect(
                    got.isEmpty(),
                    "a lock came free that one waits for, and an attempt that was made later, by "
                            + (i % 2 == 0 ? "a third client" : "the one that had released it") + ", took it");
            waits.get().release();
        }
    }

    @Check(rules = "LK-311", from = Profile.SMOKE)
    @Hint("How does a waiter that was not granted at one release hear of the next one?")
    void everyoneWhoWaitsIsServedInTheEnd(CheckContext t) throws Exception {
        int clients = t.rounds(3, 4, 8);
        int times = t.rounds(2, 4, 10);
        List<Task<Integer>> all = new ArrayList<>();
        for (int i = 0; i < clients; i++) {
            LockClient client = t.client("c" + i);
            for (int j = 0; j < 2; j++) {
                all.add(t.start("one of " + 2 * clients + " users", () -> {
                    int granted = 0;
                    for (int k = 0; k < times; k++) {
                        try (Lease lease = client.lock(t.name()).acquire()) {
                            granted += lease.isHeld() ? 1 : 0;
                            Thread.onSpinWait();
                        }
                    }
                    return granted;
                }));
            }
        }
        for (Task<Integer> task : all) {
            t.expectEqual("the number of leases that were held when they were handed out", times, task.get());
        }
    }
}
