// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.List;
import java.util.Optional;

/** Rules 2001 to 2006: locks of a name and of all names below it. */
final class TreeChecks {
    private static final String LEVELS = "Is an intention granted at each level above, from the root down?";

    private static final TransactionOptions TREE = TransactionOptions.defaults().withTree(true);

    private static DistributedLock lock(LockClient client, String name, boolean writes) {
        return writes ? client.tree(name).write() : client.tree(name).read();
    }

    private static String what(boolean writes) {
        return writes ? "writer" : "reader";
    }

    private static void comesFree(CheckContext t, DistributedLock lock, String otherwise) throws InterruptedException {
        Task<Lease> next = t.acquiring("next", lock);
        t.expectEnd(t.patience(), next, otherwise);
        next.get().release();
    }

    @Check(rules = "LK-2001", needs = Feature.TREE, from = Profile.SMOKE)
    @Hint(LEVELS)
    void aLockOfATreeExcludesWhatIsAboveAndBelowIt(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        String root = t.name("n");
        List<String> names = List.of(root, root + "/a", root + "/a/b/c", root + "/a/b/c/d/e/f/g");
        for (String first : names) {
            for (String second : names) {
                for (int modes = 0; modes < 4; modes++) {
                    boolean writes = (modes & 1) != 0;
                    boolean wants = (modes & 2) != 0;
                    Lease held = lock(one, first, writes).acquire();
                    if (writes || wants) {
                        t.expectTaken(
                                lock(other, second, wants),
                                "a " + what(wants) + " of " + second.substring(root.length() - 1)
                                        + " was admitted beside a " + what(writes) + " of "
                                        + first.substring(root.length() - 1));
                    } else {
                        t.expectFree(lock(other, second, false), "a reader of a tree was refused beside another reader")
                                .release();
                    }
                    held.release();
                }
            }
        }
    }

    @Check(rules = "LK-2002", needs = Feature.TREE, from = Profile.SMOKE)
    @Hint("Do intentions stand beside each other at the levels that two locks share?")
    void siblingsDoNotWaitForEachOther(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        Lease writer = one.tree(t.name("n/a")).write().acquire();
        t.expectFree(other.tree(t.name("n/b/c")).write(), "a writer was refused beside the writer of a sibling")
                .release();
        t.expectFree(other.tree(t.name("n/aa")).write(), "a name was taken for another that it begins with")
                .release();
        Lease reader = other.tree(t.name("n/b")).read().acquire();
        t.expectFree(one.tree(t.name("n/b/c")).read(), "a reader was refused beside a reader above")
                .release();
        reader.release();
        writer.release();
    }

    @Check(rules = "LK-2002", needs = Feature.TREE)
    @Hint("Are the queues of a level above copied to those below? Each level has to have its own.")
    void siblingsThatWaitForAnAncestorGoOnTogether(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        Lease above = reader.tree(t.name("n")).read().acquire();
        Task<Lease> one = t.acquiring("one", t.client("one").tree(t.name("n/1")).write());
        Task<Lease> two = t.acquiring("two", t.client("two").tree(t.name("n/2")).write());
        t.pass(t.ttl(1, 2));
        t.expect(!one.isDone() && !two.isDone(), "a writer below was granted beside a reader above");
        above.release();
        t.expectEnd(t.patience(), one, "a reader above left, and a writer below still waits");
        t.expectEnd(t.patience(), two, "a writer still waits, for that of a sibling");
        t.releaseEach(List.of(one, two));
    }

    @Check(
            rules = "LK-2003",
            needs = {Feature.TREE, Feature.BREAK, Feature.LIST})
    @Hint("Is the lease lost with the first of its levels?")
    void theLossOfALevelIsTheLeases(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        for (String level : List.of("n", "n/a", "n/a/b")) {
            Lease lease = t.client("holder of " + level.replace('/', '-'))
                    .tree(t.name("n/a/b"))
                    .write()
                    .acquire();
            long token = operator.admin()
                    .show(t.key(t.name(level)))
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .token()
                    .orElseThrow();
            t.expect(
                    operator.admin().breakLease(t.key(t.name(level)), token, "a check"), "a level could not be broken");
            t.expectLoss(LeaseLoss.Cause.BROKEN, lease);
            lease.release();
            comesFree(t, operator.tree(t.name("n")).write(), "a lease was lost, and levels of it stay");
        }
    }

    @Check(
            rules = "LK-2003",
            needs = {Feature.TREE, Feature.FENCING})
    @Hint("Is the token that of the lock's own name?")
    void theTokenRisesOverTheGrantsOfItsName(CheckContext t) throws Exception {
        long last = 0;
        for (int i = 0; i < 6; i++) {
            LockClient client = t.client(i % 2 == 0 ? "one" : "other");
            Lease lease = client.tree(t.name("n/a")).write().acquire();
            t.expect(lease.token() > last, "the token of a tree's lock is not higher than the one before");
            last = lease.token();
            lease.release();
            client.tree(t.name(i % 3 == 0 ? "n" : "n/b")).write().acquire().release();
        }
    }

    @Check(
            rules = "LK-2004",
            needs = {Feature.TREE, Feature.TRANSACTIONS},
            from = Profile.SMOKE)
    @Hint("Has a transaction one grant for each level, in the mode that all its locks need together?")
    void aTransactionDoesNotExcludeItself(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        try (LockTransaction transaction = t.client("one").transaction(TREE)) {
            for (String name : List.of("n/a/b", "n/a", "n/c", "n")) {
                t.expect(
                        transaction.tryLock(t.name(name), LockMode.SHARED, t.patience()),
                        "a transaction was refused a read lock beside its own");
            }
            for (String name : List.of("n/a/b", "n/c/d")) {
                t.expect(
                        transaction.tryLock(t.name(name), LockMode.EXCLUSIVE, t.patience()),
                        "a transaction was refused a write lock below its own read lock");
                t.expectTaken(other.tree(t.name(name)).read(), "a reader was admitted beside a writing transaction");
            }
            t.expectFree(other.tree(t.name("n/e")).read(), "a reader was refused beside a transaction that reads above")
                    .release();
            t.expectTaken(
                    other.tree(t.name("n/e")).write(), "a writer was admitted beside a transaction that reads above");
            t.expect(
                    transaction.tryLock(t.name("n"), LockMode.EXCLUSIVE, t.patience()),
                    "a transaction was refused the write lock above its own");
            t.expectTaken(other.tree(t.name("n/e")).read(), "a reader was admitted below a writing transaction");
        }
        comesFree(t, other.tree(t.name("n")).write(), "a transaction was closed, and its tree is not free");
    }

    @Check(
            rules = "LK-2004",
            needs = {Feature.TREE, Feature.TRANSACTIONS})
    @Hint("Are the edges of waits at levels told, also of grants that are to be raised?")
    void aCircleOverLevelsIsResolved(CheckContext t) throws Exception {
        try (LockTransaction one = t.client("one").transaction(TREE);
                LockTransaction two = t.client("two").transaction(TREE)) {
            one.lock(t.name("n/1"));
            two.lock(t.name("n/2"));
            one.lockAsync(t.name("n"), LockMode.SHARED);
            two.lockAsync(t.name("n"), LockMode.SHARED);
            t.expectWithin(
                    t.patience(),
                    "two transactions write below a name and want to read it, and neither gives way",
                    () -> one.status() == Status.ABORTED || two.status() == Status.ABORTED);
            LockTransaction victim = one.status() == Status.ABORTED ? one : two;
            LockTransaction winner = victim.equals(one) ? two : one;
            t.expectEqual("the status of the other one", Status.WAITING, winner.status());
            victim.close();
            t.expect(winner.awaitAll(t.patience()), "the one in the way was closed, and the other one still waits");
        }
    }

    @Check(rules = "LK-2005", needs = Feature.TREE)
    @Hint("Does the authority know of what stands whether it is flat or a level of a tree?")
    void aNameIsFlatOrOfATree(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        Lease tree = one.tree(t.name("n/a")).write().acquire();
        for (String level : List.of("n", "n/a")) {
            t.never(taken(other.lock(t.name(level))), "a flat lock was granted at a level of a tree");
        }
        tree.release();
        Lease flat = one.lock(t.name("m")).acquire();
        for (String name : List.of("m", "m/a")) {
            t.never(taken(other.tree(t.name(name)).read()), "a lock of a tree was granted through a flat one");
        }
        flat.release();
    }

    private static boolean taken(DistributedLock lock) throws InterruptedException {
        try {
            Optional<Lease> lease = lock.tryAcquire();
            lease.ifPresent(Lease::close);
            return lease.isPresent();
        } catch (LockUnavailableException e) {
            return false;
        }
    }

    @Check(rules = "LK-2006", needs = Feature.TREE, from = Profile.SMOKE)
    @Hint("Do the levels above go back when the one below is not to be had?")
    void aRequestThatIsNotGrantedLeavesNoLevel(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient other = t.client("other");
        Lease held = one.tree(t.name("n/a/b")).write().acquire();
        t.expectTaken(other.tree(t.name("n/a")).read(), "a reader was admitted above a writer");
        Task<Optional<Lease>> limited =
                t.start("other", () -> other.tree(t.name("n/a/b")).write().tryAcquire(t.ttl(1, 4)));
        t.pass(t.ttl(1, 2));
        t.expect(limited.get().isEmpty(), "two writers of one name were admitted");
        held.release();
        Lease all = t.acquiring("one", one.tree(t.name("n")).write()).get();
        t.expectTaken(other.tree(t.name("n/a/b")).read(), "a reader was admitted below a writer");
        all.release();
    }
}
