// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockStatus;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeoutException;

/** Rules 402, 403, 406 and 408: what becomes of a request whose caller gives up, and of those behind it. */
final class GivingUpChecks {
    /** A request that waits, and how its caller ends it. */
    private interface Waiter {
        /** Ends it; returns when the caller knows that it has no lease. */
        void giveUp() throws Exception;
    }

    private interface Way {
        Waiter ask(CheckContext t, LockClient client, String name);
    }

    /** A wait that ends by itself; its limit is long enough for others to queue behind it. */
    private static Waiter timesOut(CheckContext t, LockClient client, String name) {
        Task<Optional<Lease>> task = t.trying("a wait with a limit", client, name, t.ttl(3, 2));
        return () -> t.expect(task.get().isEmpty(), "a wait ended with a lease of a lock that another client holds");
    }

    private static Waiter timesOutLater(CheckContext t, LockClient client, String name) {
        CompletableFuture<Optional<Lease>> future = client.lock(name).tryAcquireAsync(t.ttl(3, 2));
        return () -> t.expect(
                t.call("a future with a limit", future::get).isEmpty(),
                "a future was completed with a lease of a lock that another client holds");
    }

    private static Waiter interrupted(CheckContext t, LockClient client, String name) {
        Task<Lease> task = t.acquiring("the acquire of an interrupted thread", client, name);
        return () -> interrupt(t, task);
    }

    private static Waiter interruptedWithLimit(CheckContext t, LockClient client, String name) {
        Task<Optional<Lease>> task = t.trying(
                "the wait of an interrupted thread", client, name, t.patience().multipliedBy(3));
        return () -> interrupt(t, task);
    }

    private static void interrupt(CheckContext t, Task<?> task) throws InterruptedException {
        task.interrupt();
        boolean prompt = t.endsWithin(t.ttl(1, 2), task);
        Optional<Throwable> outcome = task.outcome();
        t.expect(
                outcome.isPresent() && outcome.get() instanceof InterruptedException,
                "a thread was interrupted while it waited for a lock: acquire should throw InterruptedException, and "
                        + "it "
                        + outcome.map(thrown -> "threw " + thrown).orElse("returned"));
        t.expect(prompt, "half a ttl after its thread was interrupted a wait had not ended");
    }

    private static Waiter cancelled(CheckContext t, LockClient client, String name) {
        CompletableFuture<Lease> future = client.lock(name).acquireAsync();
        return () -> {
            t.expect(!future.isDone(), "the future for a lock that another client holds is complete: " + future);
            future.cancel(false);
        };
    }

    private static Waiter completedByTheCaller(CheckContext t, LockClient client, String name) {
        CompletableFuture<Optional<Lease>> future =
                client.lock(name).tryAcquireAsync(t.patience().multipliedBy(3));
        // What orTimeout() does, without a clock.
        return () -> future.completeExceptionally(new TimeoutException("given up by the caller"));
    }

    private static void leavesNothing(CheckContext t, String how, Way way) throws Exception {
        LockClient holder = t.client("holder");
        LockClient next = t.client("next");
        Lease held = holder.lock(t.name()).acquire();
        Waiter waiter = way.ask(t, t.client("waiter"), t.name());
        t.untilWaiting(holder, t.name(), 1);
        waiter.giveUp();
        t.expect(held.isHeld(), how + ", and the holder's lease ended");
        if (t.has(Feature.LIST)) {
            boolean gone = t.happens(
                    t.ttl(1, 2),
                    () -> t.status(holder, t.key(t.name())).waiters().isEmpty());
            LockStatus status = t.status(holder, t.key(t.name()));
            t.expect(gone, how + ", and half a ttl later its request still waits: " + status.waiters());
        }
        t.pass(t.ttl(1, 4));
        held.release();
        Lease free = t.takesSoon(next, t.name(), how + ", and after the holder's release the lock is not free");
        // A grant to the request that was given up would end this one, or be found by the history.
        t.pass(t.ttl(5, 4));
        t.expect(free.isHeld(), how + ", and the lease of the next holder ended");
    }

    @Check(rules = "LK-402 LK-401", from = Profile.SMOKE)
    @Hint("Is the request withdrawn at the store when its time is over?")
    void aWaitThatIsOverLeavesNothing(CheckContext t) throws Exception {
        leavesNothing(t, "a wait was over", GivingUpChecks::timesOut);
    }

    @Check(rules = "LK-402 LK-401")
    @Hint("Is the request withdrawn at the store when the time of its future is over?")
    void aFutureWhoseTimeIsOverLeavesNothing(CheckContext t) throws Exception {
        leavesNothing(t, "the time of a future was over", GivingUpChecks::timesOutLater);
    }

    @Check(rules = "LK-403 LK-402", from = Profile.SMOKE)
    @Hint("Where is InterruptedException thrown, and who withdraws the request then?")
    void anInterruptedThreadHoldsNothing(CheckContext t) throws Exception {
        leavesNothing(t, "a waiting thread was interrupted", GivingUpChecks::interrupted);
    }

    @Check(rules = "LK-403 LK-402")
    @Hint("Does tryAcquire(wait) take an interrupt for the end of its time, or for nothing?")
    void anInterruptedThreadWithALimitHoldsNothing(CheckContext t) throws Exception {
        leavesNothing(t, "a thread that waited with a limit was interrupted", GivingUpChecks::interruptedWithLimit);
    }

    @Check(rules = "LK-406 LK-402", from = Profile.SMOKE)
    @Hint("Does anything listen to the future that the caller has: is its cancellation seen?")
    void aCancelledFutureLeavesNothing(CheckContext t) throws Exception {
        leavesNothing(t, "a future was cancelled", GivingUpChecks::cancelled);
    }

    @Check(rules = "LK-406 LK-402")
    @Hint("Is every completion of the future by its caller seen, as by orTimeout()?")
    void aFutureThatItsCallerCompletedLeavesNothing(CheckContext t) throws Exception {
        leavesNothing(t, "a future was completed by its caller", GivingUpChecks::completedByTheCaller);
    }

    @Check(rules = "LK-402 LK-1401", from = Profile.SMOKE)
    @Hint("Can a wait end empty, or by an exception, after its request has been granted?")
    void whoIsToldNoHoldsNothing(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        LockClient next = t.client("next");
        for (boolean sync : new boolean[] {true, false}) {
            String name = t.freshName();
            Lease held = holder.lock(name).acquire();
            Duration wait = t.patience();
            Task<Optional<Lease>> waits = t.start(
                    "a wait with a limit",
                    () -> sync
                            ? waiter.lock(name).tryAcquire(wait)
                            : waiter.lock(name).tryAcquireAsync(wait).get());
            t.untilWaiting(holder, name, 1);
            held.release();
            boolean no = waits.outcome().isPresent() || waits.get().isEmpty();
            if (no) {
                t.takesSoon(
                        next,
                        name,
                        "a wait ended without a lease, and the lock that its holder has released is not free");
            } else {
                waits.get().orElseThrow().release();
            }
        }
    }

    @Check(rules = "LK-408 LK-310", from = Profile.SMOKE)
    @Hint("Who is told of a release if the first in the queue has left: is the wake-up his alone?")
    void theNextIsServedWhenTheFirstInTheQueueLeaves(CheckContext t) throws Exception {
        for (Way way : List.<Way>of(GivingUpChecks::timesOut, GivingUpChecks::interrupted, GivingUpChecks::cancelled)) {
            servesTheRest(t, way, 0);
        }
    }

    @Check(rules = "LK-408 LK-310")
    @Hint("How is the queue joined again around a request that leaves from its middle?")
    void theRestAreServedWhenOneInTheMiddleLeaves(CheckContext t) throws Exception {
        for (Way way : List.<Way>of(GivingUpChecks::interrupted, GivingUpChecks::cancelled)) {
            servesTheRest(t, way, 1);
        }
    }

    @Check(rules = "LK-408 LK-1203", needs = Feature.READ_WRITE)
    @Hint("Who looks at the queue when its first leaves, and nobody releases?")
    void readersBehindAWriterThatLeavesAreAdmitted(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease held = holder.readWriteLock(t.name()).read().acquire();
        leavesWayForTheNext(
                t,
                "a writer that waited behind a reader",
                GivingUpChecks::cancelled,
                client -> client.readWriteLock(t.name()).read().acquire());
        t.expect(held.isHeld(), "a writer gave up its wait for a reader, and that ended the reader's lease");
    }

    @Check(rules = "LK-408 LK-1303", needs = Feature.SEMAPHORE)
    @Hint("Who looks at the queue when its first leaves, and nobody releases?")
    void whoNeedsLessIsServedWhenOneThatNeedsMoreLeaves(CheckContext t) throws Exception {
        Lease held = t.client("holder").semaphore(t.name(), Capacity.of(3)).acquire(2);
        leavesWayForTheNext(
                t,
                "a request for 3 permits, of which 1 was left,",
                (context, client, name) -> {
                    CompletableFuture<Lease> future =
                            client.semaphore(name, Capacity.of(3)).acquireAsync(3);
                    return () -> future.cancel(false);
                },
                client -> client.semaphore(t.name(), Capacity.of(3)).acquire(1));
        t.expect(held.isHeld(), "a request for permits was given up, and that ended another's lease");
    }

    private interface Taking {
        Lease from(LockClient client) throws Exception;
    }

    /**
     * One waits whose turn is not yet, another behind it for what is there: when the first leaves, no release helps the
     * second.
     */
    private static void leavesWayForTheNext(CheckContext t, String who, Way way, Taking next) throws Exception {
        Waiter first = way.ask(t, t.client("first"), t.name());
        t.pass(t.ttl(1, 8));
        LockClient client = t.client("second");
        Task<Lease> second = t.start("the one behind " + who, () -> next.from(client));
        t.pass(t.ttl(1, 8));
        // Without an order it may have passed.
        first.giveUp();
        boolean prompt = !t.isVirtual() || !t.has(Feature.WAKE_UP) || t.happens(t.ttl(1, 8), second::isDone);
        t.expect(
                prompt,
                who + " left, and the one behind it, for which there was enough, was not granted within an eighth of "
                        + "the ttl");
        second.get().release();
    }

    private static void servesTheRest(CheckContext t, Way way, int leaver) throws Exception {
        String name = t.freshName();
        LockClient holder = t.client("holder");
        Lease held = holder.lock(name).acquire();
        List<Integer> order = new CopyOnWriteArrayList<>();
        List<Task<Lease>> stay = new ArrayList<>();
        List<Waiter> leave = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            LockClient client = t.client(name.substring(name.lastIndexOf('/') + 1) + "w" + i);
            if (i == leaver) {
                leave.add(way.ask(t, client, name));
            } else {
                stay.add(t.start("a waiter that stays", () -> {
                    Lease lease = client.lock(name).acquire();
                    order.add(number);
                    lease.release();
                    return lease;
                }));
            }
            t.untilWaiting(holder, name, i + 1);
        }
        leave.get(0).giveUp();
        held.release();
        for (Task<Lease> task : stay) {
            boolean prompt = !t.isVirtual() || !t.has(Feature.WAKE_UP) || t.happens(t.ttl(1, 4), task::isDone);
            t.expect(
                    prompt,
                    "one in the queue left, then the holder released, and the next was not granted within a quarter "
                            + "of the ttl");
            task.get();
        }
        if (t.has(Feature.FIFO)) {
            List<Integer> asked = new ArrayList<>(List.of(0, 1, 2));
            asked.remove(leaver);
            t.expectEqual("the order of those that stayed", asked, order);
        }
    }
}
