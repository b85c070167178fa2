// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.checks.TransactionChecks.begin;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.ArrayList;
import java.util.List;

/** Rules 1910 and 1911: what the user of a running transaction may wish. */
final class WishChecks {

    @Check(rules = "LK-1910 LK-1901", needs = Feature.TRANSACTIONS, from = Profile.SMOKE)
    @Hint("Is a lock that its user gives up released, and asked for again behind those who wait?")
    void whatIsSurrenderedGoesToWhoWaitsAndComesBack(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        try (LockTransaction transaction = begin(t, t.client("one"))) {
            transaction.lockAll(List.of(LockRequest.exclusive(t.name("1")), LockRequest.exclusive(t.name("2"))));
            long before = transaction.token(t.name("1"));
            Task<Lease> waits = t.acquiring("the other one's wait", other, t.name("1"));
            t.untilWaiting(other, t.name("1"), 1);
            Task<Lease> waitsOn = t.acquiring("a wait for another lock", t.client("another"), t.name("2"));
            t.untilWaiting(other, t.name("2"), 1);
            transaction.surrender(t.name("1"));
            Lease between = waits.get();
            t.expectEqual("the status after a surrender to another", Status.WAITING, transaction.status());
            t.pass(t.ttl(1, 4));
            t.expect(!waitsOn.isDone(), "the surrender of one lock has freed another one");
            t.expectThrows(
                    "the token of a lock that was surrendered",
                    IllegalStateException.class,
                    () -> transaction.token(t.name("1")));
            between.release();
            t.expect(transaction.awaitAll(t.patience()), "a lock that was surrendered was not granted again");
            long after = transaction.token(t.name("1"));
            t.expect(after > between.token() && between.token() > before, "a token is not higher than the one before");
            t.expectTaken(other, t.name("1"), "lock(n) was granted beside a transaction that holds it again");
            transaction.surrender(t.name("1"));
            t.expect(transaction.awaitAll(t.patience()), "a lock that nobody else wants did not come back");
            t.expect(transaction.deadlocks().isEmpty(), "a surrender by wish is told as a deadlock");
            transaction.close();
            waitsOn.get().release();
        }
        t.expectFreeSoon(other, t.name("1"), "a transaction was closed, and its lock is not free");
    }

    @Check(rules = "LK-1910", needs = Feature.TRANSACTIONS)
    @Hint("Does a request that gives up its place lose its turn to those behind it?")
    void aRequestThatSurrendersIsGrantedAfterTheOthers(CheckContext t) throws Exception {
        LockClient keeper = t.client("keeper");
        Lease kept = keeper.lock(t.name()).acquire();
        try (LockTransaction first = begin(t, t.client("first"));
                LockTransaction second = begin(t, t.client("second"))) {
            first.lockAsync(t.name(), LockMode.EXCLUSIVE);
            t.untilWaiting(keeper, t.name(), 1);
            second.lockAsync(t.name(), LockMode.EXCLUSIVE);
            t.untilWaiting(keeper, t.name(), 2);
            first.surrender(t.name());
            t.pass(t.ttl(1, 4));
            t.untilWaiting(keeper, t.name(), 2);
            kept.release();
            t.expect(
                    second.awaitAll(t.patience()),
                    "a lock was not granted to the second after the first gave its place");
            t.expectEqual("the status of who gave up its place", Status.WAITING, first.status());
            second.close();
            t.expect(first.awaitAll(t.patience()), "who gave up its place was never granted");
        }
    }

    @Check(rules = "LK-1911 LK-1903", needs = Feature.TRANSACTIONS)
    @Hint("Is the victim found by priority before age, and by the priority of now?")
    void theLowestPriorityGivesWay(CheckContext t) throws Exception {
        for (int low = 0; low < 3; low++) {
            List<LockTransaction> ring = new ArrayList<>();
            List<Task<Boolean>> tasks = new ArrayList<>();
            try {
                for (int i = 0; i < 3; i++) {
                    LockTransaction each = begin(t, t.client("client" + i));
                    ring.add(each);
                    each.lock(t.name(low + "/" + i));
                }
                int lowest = low;
                ring.forEach(each -> each.change(options -> options.withPriority(7)));
                ring.get(low).change(options -> options.withPriority(6).withAge(9));
                for (int i = 0; i < 3; i++) {
                    LockTransaction each = ring.get(i);
                    String next = t.name(low + "/" + (i + 1) % 3);
                    tasks.add(t.start("the wait of client " + i, () -> {
                        try {
                            each.lock(next);
                            return true;
                        } catch (DeadlockException e) {
                            return false;
                        }
                    }));
                }
                t.expectWithin(
                        t.patience().dividedBy(2),
                        "three transactions wait for each other, and none gives way",
                        () -> ring.stream().anyMatch(each -> each.status() == Status.ABORTED));
                t.expectEqual(
                        "the status of the transaction with the lowest priority",
                        Status.ABORTED,
                        ring.get(lowest).status());
                t.expect(!tasks.get(lowest).get(), "a transaction was aborted, and its wait has ended without a word");
                ring.get(lowest).close();
                for (int i = 1; i < 3; i++) {
                    int next = Math.floorMod(lowest - i, 3);
                    t.expect(tasks.get(next).get(), "a second transaction of one circle gave way");
                    ring.get(next).close();
                }
            } finally {
                ring.forEach(LockTransaction::close);
            }
        }
    }

    @Check(rules = "LK-1911", needs = Feature.TRANSACTIONS)
    @Hint("Does an option that is changed hold for the next deadlock?")
    void anOptionThatIsChangedHoldsForTheNextDeadlock(CheckContext t) throws Exception {
        LockClient keeper = t.client("keeper");
        Lease kept = keeper.lock(t.name("gate")).acquire();
        try (LockTransaction one = begin(t, t.client("one"));
                LockTransaction other = begin(t, t.client("other"))) {
            // The gate keeps what they hold from being reported: by themselves they would surrender.
            one.lockAsync(List.of(LockRequest.exclusive(t.name("1")), LockRequest.shared(t.name("gate"))));
            other.lockAsync(List.of(LockRequest.exclusive(t.name("2")), LockRequest.shared(t.name("gate"))));
            t.untilWaiting(keeper, t.name("gate"), 2);
            for (LockTransaction each : List.of(one, other)) {
                each.change(options -> options.withOnDeadlock(OnDeadlock.ABORT));
                TransactionOptions now = each.options();
                t.expectEqual("the option of a transaction after its change", OnDeadlock.ABORT, now.onDeadlock());
            }
            one.lockAsync(t.name("2"), LockMode.EXCLUSIVE);
            other.lockAsync(t.name("1"), LockMode.EXCLUSIVE);
            t.expectWithin(
                    t.patience().dividedBy(2),
                    "two transactions that are to be aborted in a deadlock wait for each other",
                    () -> one.status() == Status.ABORTED || other.status() == Status.ABORTED);
            LockTransaction left = one.status() == Status.ABORTED ? other : one;
            (left == one ? other : one).close();
            kept.release();
            t.expect(left.awaitAll(t.patience()), "the other one of a circle was not granted");
        }
    }
}
