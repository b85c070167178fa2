// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Expectations.Act;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import org.jspecify.annotations.Nullable;

/**
 * Rules 305, 403, 405, 407 and 408: several that try at the same moment, and a grant and its caller's leaving at the
 * same moment.
 */
final class RaceChecks {
    private static final String CHANCE = "a window of 1 ms is found in 9 of 10 full runs";

    private static final int RIVALS = 4;

    /** A request that waits, and a leaving that comes together with the grant. */
    private interface Race {
        /** Leaves; at the same moment as the holder releases. */
        void leave() throws Exception;

        /** What came of it: a lease, or null if there is none. */
        @Nullable
        Lease outcome() throws Exception;
    }

    private interface Entry {
        Race enter(CheckContext t, LockClient client, String name);
    }

    private static void race(CheckContext t, String what, Entry entry) throws Exception {
        LockClient holder = t.client("holder");
        LockClient third = t.client("third");
        LockClient waiter = t.client("waiter");
        int won = 0;
        int rounds = t.rounds(4, 20, 40);
        for (int i = 0; i < rounds; i++) {
            String name = t.freshName();
            Lease held = holder.lock(name).acquire();
            Race race = entry.enter(t, waiter, name);
            t.untilWaiting(holder, name, 1);
            int lead = i % 3;
            together(
                    t,
                    () -> {
                        pause(lead == 1);
                        held.release();
                    },
                    () -> {
                        pause(lead == 2);
                        race.leave();
                    });
            Lease lease = race.outcome();
            if (lease == null) {
                won++;
                t.expectFreeSoon(
                        third, name, what + " came together with the grant and won, and the lock stayed taken");
            } else {
                t.expect(lease.isHeld(), what + " came together with the grant and lost, and the lease is not held");
                t.expectTaken(
                        third,
                        name,
                        what + " came together with the grant and lost, and another client was granted the lock too");
                lease.release();
                t.expectFreeSoon(
                        third,
                        name,
                        what + " came together with the grant, the lease was released, and the lock stayed taken");
            }
        }
        t.note("of " + rounds + " races the grant won " + (rounds - won));
    }

    /** The release and the leaving, as nearly at the same moment as two threads can; returns when both are done. */
    private static void together(CheckContext t, Act release, Act leave) throws InterruptedException {
        CyclicBarrier both = new CyclicBarrier(2);
        List<Task<Boolean>> acts = new ArrayList<>();
        for (Act act : List.of(release, leave)) {
            acts.add(t.start(act == release ? "the release" : "leaving", () -> {
                both.await();
                act.run();
            }));
        }
        t.join(acts);
    }

    private static void pause(boolean wanted) {
        for (int i = 0; wanted && i < 200; i++) {
            Thread.onSpinWait();
        }
    }

    @Check(rules = "LK-405 LK-403", from = Profile.SMOKE, statistical = CHANCE)
    @Hint("If the thread is interrupted when the grant is there already: is it given back, or returned?")
    void anInterruptAndAGrantMakeOneEnd(CheckContext t) throws Exception {
        race(t, "an interrupt", (context, client, name) -> {
            Task<Lease> task = context.acquiring("the interrupted acquire", client, name);
            return new Race() {
                @Override
                public void leave() {
                    task.interrupt();
                }

                @Override
                public @Nullable Lease outcome() throws InterruptedException {
                    Optional<Throwable> thrown = task.outcome();
                    thrown.ifPresent(e ->
                            context.expect(e instanceof InterruptedException, "an interrupted acquire threw " + e));
                    return thrown.isPresent() ? null : task.get();
                }
            };
        });
    }

    @Check(rules = "LK-405 LK-406 LK-407", from = Profile.SMOKE, statistical = CHANCE)
    @Hint("If cancel() comes first and the grant after it: who releases the grant?")
    void aCancellationAndAGrantMakeOneEnd(CheckContext t) throws Exception {
        race(t, "cancel()", (context, client, name) -> {
            CompletableFuture<Lease> future = client.lock(name).acquireAsync();
            return new Race() {
                @Override
                public void leave() {
                    future.cancel(false);
                }

                @Override
                public @Nullable Lease outcome() {
                    context.expect(future.isDone(), "a future was cancelled, and is not done");
                    try {
                        return future.join();
                    } catch (CancellationException e) {
                        return null;
                    }
                }
            };
        });
    }

    @Check(rules = "LK-405 LK-401", from = Profile.SMOKE, statistical = CHANCE)
    @Hint("If the time is over when the grant is under way: is it waited for, or given back?")
    void theEndOfAWaitAndAGrantMakeOneEnd(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient third = t.client("third");
        LockClient waiter = t.client("waiter");
        Duration wait = t.ttl(1, 8);
        for (int i = 0; i < t.rounds(4, 12, 25); i++) {
            String name = t.freshName();
            Lease held = holder.lock(name).acquire();
            long before = t.now();
            Task<Optional<Lease>> waits = t.trying("a wait with a limit", waiter, name, wait);
            long jitter = t.random().nextLong(-1_500_000, 1_500_000);
            t.passUntil(before + wait.toNanos() + (t.isVirtual() && i % 2 == 0 ? 0 : jitter));
            held.release();
            Optional<Throwable> thrown = waits.outcome();
            if (thrown.isPresent()) {
                // On a slow machine the wait may be over before the first answer.
                t.expectType("a wait with a limit", LockUnavailableException.class, thrown.orElseThrow());
            }
            Optional<Lease> got = thrown.isPresent() ? Optional.empty() : waits.get();
            if (got.isPresent()) {
                Lease lease = got.orElseThrow();
                t.expect(lease.isHeld(), "a wait ended with a lease that is not held");
                t.expectTaken(
                        third,
                        name,
                        "a wait ended with a lease at its limit, and another client was granted the lock too");
                lease.release();
            }
            t.expectFreeSoon(third, name, "a wait ended at about the time of the release, and the lock stayed taken");
        }
    }

    @Check(rules = "LK-405 LK-1002", statistical = CHANCE)
    @Hint("If the client is closed while the grant is under way: who gives it back?")
    void aCloseAndAGrantMakeOneEnd(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient third = t.client("third");
        for (int i = 0; i < t.rounds(3, 8, 25); i++) {
            String name = t.freshName();
            LockClient waiter = t.client("waiter" + i);
            Lease held = holder.lock(name).acquire();
            Task<Lease> waits = t.acquiring("a waiter whose client is closed", waiter, name);
            t.untilWaiting(holder, name, 1);
            together(t, held::release, waiter::close);
            Optional<Throwable> thrown = waits.outcome();
            if (thrown.isPresent()) {
                t.expectType("an acquire whose client is closed", ClientClosedException.class, thrown.orElseThrow());
            } else {
                t.expect(!waits.get().isHeld(), "a lease of a client that is closed says that it is held");
            }
            t.expectFreeSoon(
                    third, name, "a client was closed at about the time of its grant, and the lock stayed taken");
        }
    }

    @Check(rules = "LK-408 LK-405", statistical = CHANCE)
    @Hint("If the first in the queue leaves while the release wakes it: who wakes the second?")
    void aWakeUpOfOneWhoLeavesGoesToTheNext(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient first = t.client("first");
        LockClient second = t.client("second");
        for (int i = 0; i < t.rounds(4, 20, 40); i++) {
            String name = t.freshName();
            Lease held = holder.lock(name).acquire();
            CompletableFuture<Lease> leaves = first.lock(name).acquireAsync();
            t.untilWaiting(holder, name, 1);
            Task<Lease> stays = t.acquiring("the second waiter", second, name);
            t.untilWaiting(holder, name, 2);
            together(t, held::release, () -> leaves.cancel(false));
            if (!leaves.isCancelled()) {
                leaves.join().release();
            }
            stays.get().release();
        }
    }

    @Check(rules = "LK-305 LK-402 LK-301", from = Profile.SMOKE, statistical = CHANCE)
    @Hint("What is left of an attempt that does not queue if another was faster between its look and its taking?")
    void ofTriesAtOnceNoneIsLeft(CheckContext t) throws Exception {
        List<LockClient> clients = new ArrayList<>();
        for (int i = 0; i < RIVALS; i++) {
            clients.add(t.client("rival-" + i));
        }
        for (int i = 0; i < t.rounds(4, 12, 25); i++) {
            String name = t.freshName();
            CyclicBarrier all = new CyclicBarrier(RIVALS);
            List<Task<Optional<Lease>>> tries = new ArrayList<>();
            for (LockClient client : clients) {
                tries.add(t.start("a try of several at once", () -> {
                    all.await();
                    return client.lock(name).tryAcquire();
                }));
            }
            List<Lease> won = new ArrayList<>();
            for (Task<Optional<Lease>> each : tries) {
                each.get().ifPresent(won::add);
            }
            t.expect(!won.isEmpty(), "of " + RIVALS + " that tried a free lock at once none was granted");
            for (Lease lease : won) {
                lease.release();
            }
            if (t.has(Feature.LIST)) {
                Callable<Boolean> empty = () -> {
                    LockStatus status = t.status(clients.get(0), t.key(name));
                    return status.holders().isEmpty() && status.waiters().isEmpty();
                };
                // A server that lags shows for a moment what was there.
                t.expectWithin(
                        t.ttl(1, 2),
                        "of " + RIVALS
                                + " that tried at once one was granted and has released, and half a ttl later this "
                                + "is left: "
                                + t.status(clients.get(0), t.key(name)),
                        empty);
            }
            t.expectFreeSoon(
                    clients.get(i % RIVALS),
                    name,
                    "of several that tried at once the winner has released, and the lock stayed taken");
        }
    }
}
