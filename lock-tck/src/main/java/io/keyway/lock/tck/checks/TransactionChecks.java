// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Rules 1901 to 1909 and 1912: transactions over several locks. */
final class TransactionChecks {
    private static final String VICTIM = "Who gives way is to be decided alike by all, of a circle that stands.";

    /** A transaction of that client, as the subject begins them. */
    static LockTransaction begin(CheckContext t, LockClient client) {
        return t.subject().transactions().over(client, TransactionOptions.defaults());
    }

    @Check(rules = "LK-1901 LK-1902", needs = Feature.TRANSACTIONS, from = Profile.SMOKE)
    @Hint("Does a transaction take the locks of client.lock(name), and wait for each?")
    void aTransactionHoldsAllThatItSaysItHolds(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        Lease second = other.lock(t.name("2")).acquire();
        try (LockTransaction transaction = begin(t, one)) {
            t.expectEqual("the status of a new transaction", Status.NO_LOCKS, transaction.status());
            transaction.lockAsync(List.of(LockRequest.exclusive(t.name("1")), LockRequest.exclusive(t.name("2"))));
            Task<Boolean> all = t.start("a wait for two locks", () -> transaction.awaitAll(t.patience()));
            t.pass(t.ttl(1, 2));
            t.expect(!all.isDone(), "a transaction said that all is held while another client had one of its locks");
            t.expectEqual("the status of one that waits", Status.WAITING, transaction.status());
            second.release();
            t.expect(all.get(), "the other holder left, and the transaction still waits");
            t.expectEqual("the status of one that holds all", Status.HELD, transaction.status());
            t.expectTaken(other, t.name("1"), "lock(n) was granted beside a transaction that holds it");
            t.expectTaken(other, t.name("2"), "lock(n) was granted beside a transaction that holds it");
            t.expect(transaction.token(t.name("2")) > second.token(), "the token is not higher than the one before");
        }
        t.expectFreeSoon(other, t.name("1"), "a transaction was closed, and its lock is not free");
        t.expectFreeSoon(other, t.name("2"), "a transaction was closed, and its lock is not free");
    }

    @Check(rules = "LK-1902", needs = Feature.TRANSACTIONS)
    @Hint("Do SHARED and EXCLUSIVE of a transaction mean what they mean elsewhere?")
    void readersOfTransactionsStandBesideOtherReaders(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        try (LockTransaction transaction = begin(t, one)) {
            transaction.lock(t.name(), LockMode.SHARED);
            Lease reader = other.readWriteLock(t.name()).read().acquire();
            t.expectTaken(
                    other.readWriteLock(t.name()).write(), "a writer was admitted beside a transaction that reads");
            t.expect(
                    !transaction.tryLock(t.name(), LockMode.EXCLUSIVE, Duration.ZERO),
                    "a transaction became the writer beside another reader");
            t.expectEqual("the status after a try that failed", Status.HELD, transaction.status());
            reader.release();
            t.expect(
                    transaction.tryLock(t.name(), LockMode.EXCLUSIVE, t.patience()),
                    "the only reader was refused the upgrade");
            t.expectTaken(other.readWriteLock(t.name()).read(), "a reader was admitted beside an upgraded transaction");
        }
        t.expectFreeSoon(other, t.name(), "a transaction was closed, and its lock is not free");
    }

    @Check(rules = "LK-1912", needs = Feature.TRANSACTIONS)
    @Hint("Does whoever waits look whether all is held, before it waits to be told?")
    void whoeverWaitsIsTold(CheckContext t) throws Exception {
        Lease holder = t.client("other").lock(t.name()).acquire();
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            t.expect(transaction.awaitAll(t.patience()), "nothing was asked for, and a wait for all was not answered");
            transaction.lockAsync(List.of(LockRequest.exclusive(t.name())));
            Task<Boolean> first = t.start("a wait for all", () -> transaction.awaitAll(t.patience()));
            Task<Boolean> second = t.start("another wait for all", () -> transaction.awaitAll(t.patience()));
            t.pass(t.ttl(1, 4));
            holder.release();
            t.expect(first.get() && second.get(), "all is held, and one of two who waited for that was not told");
            t.expect(transaction.awaitAll(t.patience()), "all was held before somebody waited, who was not told");
            t.expectEqual("the status of one that holds all", Status.HELD, transaction.status());
        }
    }

    @Check(rules = "LK-1903 LK-1905", needs = Feature.TRANSACTIONS, from = Profile.SMOKE)
    @Hint(VICTIM)
    void ofTwoThatWaitForEachOtherOneIsAborted(CheckContext t) throws Exception {
        circle(t, 2);
    }

    @Check(rules = "LK-1903 LK-1905", needs = Feature.TRANSACTIONS)
    @Hint(VICTIM)
    void ofFourThatWaitInACircleOneIsAborted(CheckContext t) throws Exception {
        circle(t, 4);
    }

    /** Each has a lock and wants the next one's. */
    private static void circle(CheckContext t, int size) throws Exception {
        List<LockTransaction> transactions = new ArrayList<>();
        List<Task<Optional<DeadlockException>>> tasks = new ArrayList<>();
        try {
            for (int i = 0; i < size; i++) {
                LockTransaction transaction = begin(t, t.client("client" + i));
                transactions.add(transaction);
                transaction.lock(t.name(String.valueOf(i)));
            }
            for (int i = 0; i < size; i++) {
                LockTransaction transaction = transactions.get(i);
                String next = t.name(String.valueOf((i + 1) % size));
                tasks.add(t.start("the wait of client " + i, () -> {
                    try {
                        transaction.lock(next);
                        return Optional.empty();
                    } catch (DeadlockException e) {
                        return Optional.of(e);
                    }
                }));
            }
            t.expectWithin(
                    t.patience().dividedBy(2),
                    size + " transactions wait for each other, and none gives way",
                    () -> tasks.stream().anyMatch(Task::isDone));
            t.pass(t.ttl(1, 2));
            int victim = -1;
            for (int i = 0; i < size; i++) {
                if (tasks.get(i).isDone()) {
                    t.expect(victim < 0, "two transactions of one circle gave way");
                    victim = i;
                }
            }
            Optional<DeadlockException> thrown = tasks.get(victim).get();
            t.expect(thrown.isPresent(), "a transaction of a circle was granted what another one holds");
            LockTransaction aborted = transactions.get(victim);
            Deadlock deadlock = thrown.orElseThrow().deadlock().orElseThrow();
            t.expectEqual(
                    "the length of the circle that is named",
                    size,
                    deadlock.cycle().size());
            t.expectEqual(
                    "the lock that the victim holds",
                    t.name(String.valueOf(victim)),
                    deadlock.gaveUp().toString());
            t.expectEqual("the status of the victim", Status.ABORTED, aborted.status());
            t.expectTaken(
                    t.client("visitor"),
                    t.name(String.valueOf(victim)),
                    "an aborted transaction has let go of a lock that its user was told is held");
            t.expectThrows("a request of an aborted transaction", DeadlockException.class, () -> {
                aborted.lockAsync(t.name(String.valueOf(size + 1)), LockMode.EXCLUSIVE);
                return null;
            });
            aborted.close();
            for (int i = 1; i < size; i++) {
                int next = Math.floorMod(victim - i, size);
                t.expect(tasks.get(next).get().isEmpty(), "a second transaction of one circle gave way");
                transactions.get(next).close();
            }
        } finally {
            transactions.forEach(LockTransaction::close);
        }
    }

    @Check(
            rules = "LK-1906 LK-1903",
            needs = {Feature.TRANSACTIONS, Feature.LIST},
            from = Profile.SMOKE)
    @Hint("Does a lock that was surrendered count as wanted again?")
    void whatIsAskedForAtOnceIsSurrenderedAndGrantedAgain(CheckContext t) throws Exception {
        LockClient keeper = t.client("keeper");
        Lease first = keeper.lock(t.name("1")).acquire();
        Lease second = keeper.lock(t.name("2")).acquire();
        Lease never = keeper.lock(t.name("3")).acquire();
        List<LockTransaction> transactions = new ArrayList<>();
        List<Task<Boolean>> tasks = new ArrayList<>();
        AtomicReference<LockTransaction> inside = new AtomicReference<>();
        try {
            for (int i = 0; i < 2; i++) {
                LockTransaction transaction = begin(t, t.client("client" + i));
                transactions.add(transaction);
                // The first is first in the queue of the first lock, the second in that of the second one.
                transaction.lockAsync(t.name(String.valueOf(1 + i)), LockMode.EXCLUSIVE);
                t.untilWaiting(keeper, t.name(String.valueOf(1 + i)), 1);
            }
            for (int i = 0; i < 2; i++) {
                transactions.get(i).lockAsync(t.name(String.valueOf(2 - i)), LockMode.EXCLUSIVE);
                t.untilWaiting(keeper, t.name(String.valueOf(2 - i)), 2);
            }
            for (LockTransaction each : transactions) {
                tasks.add(t.start("a wait for both locks", () -> {
                    boolean all = each.awaitAll(t.patience());
                    boolean alone = inside.compareAndSet(null, each);
                    // So long it is inside: nobody gives it that lock.
                    alone &= !each.tryLock(t.name("3"), LockMode.EXCLUSIVE, t.ttl(1, 4));
                    each.ensureHeld();
                    for (String name : List.of("1", "2")) {
                        LockStatus shown =
                                keeper.admin().show(t.key(t.name(name))).orElseThrow();
                        alone &= shown.holders().size() == 1
                                && shown.holders().get(0).token().orElse(-1) == each.token(t.name(name));
                    }
                    inside.compareAndSet(each, null);
                    each.close();
                    return all && alone;
                }));
            }
            first.release();
            second.release();
            for (Task<Boolean> each : tasks) {
                t.expect(
                        each.get(),
                        "of two transactions that were asked for two locks at once one did not get both,"
                                + " alone and without an error");
            }
        } finally {
            transactions.forEach(LockTransaction::close);
            never.release();
        }
    }

    @Check(rules = "LK-1904", needs = Feature.TRANSACTIONS)
    @Hint("Does somebody take a long wait for a deadlock?")
    void whoWaitsForLongIsNotInADeadlock(CheckContext t) throws Exception {
        try (LockTransaction holder = begin(t, t.client("holder"));
                LockTransaction middle = begin(t, t.client("middle"));
                LockTransaction last = begin(t, t.client("last"))) {
            holder.lock(t.name("1"));
            middle.lock(t.name("2"));
            last.lock(t.name("3"));
            Task<Boolean> waits =
                    t.start("the middle's wait", () -> middle.tryLock(t.name("1"), LockMode.EXCLUSIVE, t.patience()));
            Task<Boolean> waitsToo =
                    t.start("the last one's wait", () -> last.tryLock(t.name("2"), LockMode.EXCLUSIVE, t.patience()));
            t.pass(t.ttl(3, 1));
            t.expect(!waits.isDone() && !waitsToo.isDone(), "a wait in no circle has ended within 3 ttl");
            t.expectEqual("the status of one that waits in no circle", Status.WAITING, last.status());
            holder.close();
            t.expect(waits.get(), "the holder left, and who waited for it was not granted");
            middle.close();
            t.expect(waitsToo.get(), "the holder left, and who waited for it was not granted");
            t.expect(
                    middle.deadlocks().isEmpty() && last.deadlocks().isEmpty(),
                    "a deadlock is told where there was none");
        }
    }

    @Check(
            rules = "LK-1907 LK-1905",
            needs = {Feature.TRANSACTIONS, Feature.UPGRADE})
    @Hint("Is a second upgrade told that it cannot be granted?")
    void ofTwoReadersThatUpgradeTheSecondIsAborted(CheckContext t) throws Exception {
        try (LockTransaction one = begin(t, t.client("one"));
                LockTransaction two = begin(t, t.client("two"))) {
            one.lock(t.name(), LockMode.SHARED);
            two.lock(t.name(), LockMode.SHARED);
            Task<Boolean> first =
                    t.start("the first upgrade", () -> one.tryLock(t.name(), LockMode.EXCLUSIVE, t.patience()));
            t.pass(t.ttl(1, 4));
            Task<Optional<Throwable>> second = t.start("the second upgrade", () -> failure(() -> two.lock(t.name())));
            t.expectWithin(t.patience().dividedBy(2), "two upgrades of one lock wait for each other", second::isDone);
            Throwable thrown = second.get().orElse(null);
            t.expect(thrown instanceof DeadlockException, "the second upgrade ended with " + thrown);
            t.pass(t.ttl(1, 4));
            t.expect(!first.isDone(), "a reader became the writer beside another reader, whose read lock has vanished");
            two.close();
            t.expect(first.get(), "the second reader left, and the first one's upgrade was not granted");
        }
    }

    interface Ask {
        void now() throws InterruptedException;
    }

    static Optional<Throwable> failure(Ask ask) throws InterruptedException {
        try {
            ask.now();
            return Optional.empty();
        } catch (RuntimeException e) {
            return Optional.of(e);
        }
    }

    @Check(rules = "LK-1908", needs = Feature.TRANSACTIONS, from = Profile.SMOKE)
    @Hint("Does close withdraw what is waited for, and wake who waits?")
    void closeLeavesNothingHeldOrWaitedFor(CheckContext t) throws Exception {
        LockClient keeper = t.client("keeper");
        Lease kept = keeper.lock(t.name("2")).acquire();
        LockTransaction transaction = begin(t, t.client("one"));
        transaction.lock(t.name("1"));
        t.expect(
                !transaction.tryLock(t.name("2"), LockMode.EXCLUSIVE, Duration.ZERO),
                "a transaction was granted what another client holds");
        transaction.lockAsync(t.name("3"), LockMode.EXCLUSIVE);
        t.expect(transaction.awaitAll(t.patience()), "a free lock was not granted");
        transaction.lockAsync(t.name("2"), LockMode.EXCLUSIVE);
        t.expect(transaction.cancel(t.name("2")), "a request that waits was said not to");
        t.expectEqual("the status after the only wait was cancelled", Status.HELD, transaction.status());
        transaction.lockAsync(t.name("2"), LockMode.EXCLUSIVE);
        Task<Optional<Throwable>> waits = t.start("a wait", () -> failure(transaction::awaitAll));
        t.untilWaiting(keeper, t.name("2"), 1);
        transaction.unlock(t.name("3"));
        t.expectFreeSoon(keeper, t.name("3"), "a lock that was given back early is not free");
        transaction.close();
        t.expect(
                waits.get().filter(IllegalStateException.class::isInstance).isPresent(),
                "a transaction was closed, and who waited in it was not told so");
        t.expectFreeSoon(keeper, t.name("1"), "a transaction was closed, and its lock is not free");
        kept.release();
        t.expectFreeSoon(keeper, t.name("2"), "a transaction was closed, and its request was granted later");
        t.expectEqual("the status of a closed transaction", Status.CLOSED, transaction.status());
    }

    @Check(
            rules = "LK-1909",
            needs = {Feature.TRANSACTIONS, Feature.BREAK, Feature.LIST})
    @Hint("Is the loss of one lock passed on to the transaction?")
    void theLossOfALockIsTheTransactions(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        Lease kept = operator.lock(t.name("2")).acquire();
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            transaction.lock(t.name("1"));
            Task<Optional<Throwable>> waits =
                    t.start("a wait for another lock", () -> failure(() -> transaction.lock(t.name("2"))));
            t.untilWaiting(operator, t.name("2"), 1);
            AtomicReference<LeaseLoss> told = new AtomicReference<>();
            transaction.lost().thenAccept(told::set);
            long token = operator.admin()
                    .show(t.key(t.name("1")))
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .token()
                    .orElseThrow();
            t.expect(operator.admin().breakLease(t.key(t.name("1")), token, "a check"), "the lock could not be broken");
            t.expectWithin(
                    t.patience(),
                    "a lock of a transaction was broken, and lost() does not tell",
                    () -> told.get() != null);
            t.expectEqual(
                    "the cause of the loss",
                    LeaseLoss.Cause.BROKEN,
                    Objects.requireNonNull(told.get()).cause());
            t.expectEqual("the status after a loss", Status.LOST, transaction.status());
            t.expect(
                    waits.get().filter(LeaseLostException.class::isInstance).isPresent(),
                    "a lock of a transaction was lost, and who waits in it was not told so");
            t.expectThrows("a request after a loss", LeaseLostException.class, () -> {
                transaction.lockAsync(t.name("3"), LockMode.EXCLUSIVE);
                return null;
            });
        }
        kept.release();
    }
}
