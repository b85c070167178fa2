// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.checks.TransactionChecks.begin;
import static io.keyway.lock.tck.checks.TransactionChecks.failure;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;

/** Rules 1913 to 1917: who waits for what in a transaction, and what becomes of requests that end otherwise. */
final class TransactionWaitChecks {

    @Check(
            rules = "LK-1913",
            needs = {Feature.TRANSACTIONS, Feature.LIST},
            from = Profile.SMOKE)
    @Hint("Does a call look whether its own locks are held, or only whether anything is waited for?")
    void aCallReturnsOnlyWithItsLocks(CheckContext t) throws Exception {
        LockClient keeper = t.client("keeper");
        Lease kept = keeper.lock(t.name("2")).acquire();
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            transaction.lock(t.name("1"));
            Task<Optional<Throwable>> waits =
                    t.start("a call that waits for a lock", () -> failure(() -> transaction.lock(t.name("2"))));
            t.untilWaiting(keeper, t.name("2"), 1);
            t.expect(transaction.cancel(t.name("2")), "a request that waits was said not to");
            Throwable thrown = waits.get().orElse(null);
            t.expect(
                    thrown instanceof CancellationException,
                    "the request of a call was cancelled, another client has the lock, and the call ended with "
                            + thrown);
            t.expectEqual("the status after the only wait was cancelled", Status.HELD, transaction.status());

            transaction.lockAsync(t.name("2"), LockMode.EXCLUSIVE);
            t.untilWaiting(keeper, t.name("2"), 1);
            Task<Optional<Throwable>> free =
                    t.start("a call for a free lock", () -> failure(() -> transaction.lock(t.name("3"))));
            t.expectWithin(
                    t.patience().dividedBy(2),
                    "a call for a free lock waits for what another one waits for",
                    free::isDone);
            t.expect(free.get().isEmpty(), "a call for a free lock failed");
            transaction.ensureHeld(t.name("3"));
            t.expectEqual("the status of one that waits", Status.WAITING, transaction.status());
            kept.release();
            t.expect(transaction.awaitAll(t.patience()), "the other holder left, and the transaction still waits");
        }
    }

    @Check(
            rules = "LK-1914 LK-1901",
            needs = {Feature.TRANSACTIONS, Feature.TREE})
    @Hint("Is a request that fails before anybody waits kept until a call throws it?")
    void aFailureIsToldBeforeAllIsHeld(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        Lease tree = other.tree(t.name("2")).write().acquire();
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            transaction.lockAsync(List.of(LockRequest.exclusive(t.name("1")), LockRequest.exclusive(t.name("2"))));
            for (int i = 0; i < 4; i++) {
                t.pass(t.ttl(1, 8));
                t.expect(
                        transaction.status() != Status.HELD,
                        "a transaction said that all is held while another client has one of its locks");
            }
            if (transaction.status() == Status.FAILED) {
                t.expectThrows("a question after a failure", LockUnavailableException.class, () -> {
                    transaction.ensureHeld();
                    return null;
                });
                t.expectThrows("a wait for all after a failure", LockUnavailableException.class, () -> {
                    transaction.awaitAll();
                    return null;
                });
                t.expectEqual("the status after a failure was thrown", Status.HELD, transaction.status());
            } else {
                // Where both locks are of trees the one waits for the other: no call has returned this one.
                t.expect(
                        transaction.tryLock(t.name("1"), LockMode.EXCLUSIVE, t.patience()),
                        "a transaction does not have the lock that nobody else has");
            }
            transaction.ensureHeld(t.name("1"));
        }
        tree.release();
    }

    @Check(
            rules = "LK-1915 LK-1916",
            needs = {Feature.TRANSACTIONS, Feature.READ_WRITE})
    @Hint("Does who tries, and is too late, leave its request behind?")
    void aTryThatIsTooLateLeavesNothing(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        Lease reader = other.readWriteLock(t.name()).read().acquire();
        Lease kept = other.lock(t.name("2")).acquire();
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            transaction.lock(t.name(), LockMode.SHARED);
            Task<Boolean> late =
                    t.start("a try with a limit", () -> transaction.tryLock(t.name(), LockMode.EXCLUSIVE, t.ttl(1, 4)));
            t.pass(t.ttl(1, 2));
            t.expect(!late.get(), "a transaction became the writer beside another reader");
            transaction.ensureHeld(t.name());
            t.expectEqual("the status after a try that was too late", Status.HELD, transaction.status());
            reader.release();
            t.pass(t.ttl(1, 4));
            Task<Lease> again = t.start(
                    "another reader", () -> other.readWriteLock(t.name()).read().acquire());
            t.expectWithin(t.patience().dividedBy(2), "a try was too late, and keeps readers out", again::isDone);
            t.expectTaken(
                    other.readWriteLock(t.name()).write(), "a try was too late, and its reader's lock is no more held");

            transaction.lockAsync(t.name("2"), LockMode.EXCLUSIVE);
            Task<Boolean> atOnce = t.start(
                    "a try that does not wait",
                    () -> transaction.tryLock(t.name("3"), LockMode.EXCLUSIVE, Duration.ZERO));
            t.expectWithin(
                    t.patience().dividedBy(2),
                    "a try that does not wait waits for what others asked for",
                    atOnce::isDone);
            t.expect(atOnce.get(), "a free lock was refused");
            kept.release();
            t.expect(transaction.awaitAll(t.patience()), "the other holder left, and the transaction still waits");
        }
        t.expectFreeSoon(other, t.name("3"), "a transaction was closed, and its lock is not free");
    }

    @Check(
            rules = "LK-1917",
            needs = {Feature.TRANSACTIONS, Feature.HOLD_AT_LEAST})
    @Hint("What is given back, so that others can go on, must be free.")
    void locksThatAreTakenTogetherAreNotKept(CheckContext t) throws Exception {
        TransactionOptions keeps =
                TransactionOptions.defaults().withLockOptions(LockOptions.none().withHoldAtLeast(t.ttl(1, 1)));
        LockClient one = t.client("one");
        t.expectThrows("a transaction with holdAtLeast", IllegalArgumentException.class, () -> {
            t.subject().transactions().over(one, keeps).close();
            return null;
        });
        try (LockTransaction transaction = begin(t, one)) {
            t.expectThrows("a change to holdAtLeast", IllegalArgumentException.class, () -> {
                transaction.change(options -> keeps);
                return null;
            });
        }
    }
}
