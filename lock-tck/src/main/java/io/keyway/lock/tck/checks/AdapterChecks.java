// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeasedLock;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.ReentrantLocks;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.TckSubject;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;

/** Rules 605 and 1601 to 1605: what is built over a provider's locks. */
@SuppressWarnings("LockNotBeforeTry") // these checks break the habit on purpose
final class AdapterChecks {
    @Check(rules = "LK-1601", from = Profile.SMOKE)
    @Hint("Does a nested lock() go to the store, instead of counting?")
    void theHoldingThreadLocksAgainUnderOneToken(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lock lock = t.subject().adapter().over(client.lock(t.name()));
        Task<String> nested = t.start("lock() by the thread that holds it", () -> {
            lock.lock();
            long outer = token(lock);
            lock.lock();
            boolean again = lock.tryLock();
            boolean waited = lock.tryLock(1, TimeUnit.MILLISECONDS);
            long inner = token(lock);
            for (int i = 0; i < (again ? 1 : 0) + (waited ? 1 : 0) + 2; i++) {
                lock.unlock();
            }
            return outer == inner && again && waited
                    ? ""
                    : "outer token " + outer + ", inner " + inner + ", tryLock " + again + ", tryLock with a wait "
                            + waited;
        });
        t.expectEqual("what is wrong with a nested lock", "", nested.get());
        t.expectFree(t.client("other"), "a lock that was unlocked as often as it was locked is not free");
    }

    private static long token(Lock lock) {
        return lock instanceof LeasedLock leased
                ? leased.currentLease().map(Lease::token).orElse(-1L)
                : 0;
    }

    @Check(rules = "LK-1602", from = Profile.SMOKE)
    @Hint("Does unlock() release the lease at each call?")
    void anInnerUnlockFreesNothing(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        LockClient other = t.client("other");
        Lock lock = t.subject().adapter().over(client.lock(t.name()));
        Task<Boolean> user = t.start("a nested use", () -> {
            lock.lock();
            lock.lock();
            lock.unlock();
            boolean free = other.lock(t.name()).tryAcquire().isPresent();
            lock.unlock();
            return free;
        });
        t.expect(!user.get(), "the inner unlock() of two has freed the lock");
        t.expectFree(other, "the outer unlock() of two has not freed the lock");
    }

    @Check(rules = "LK-1603", from = Profile.SMOKE)
    @Hint("Is the thread that unlocks compared with the one that locked?")
    void anotherThreadCannotUnlock(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lock lock = t.subject().adapter().over(client.lock(t.name()));
        Task<Boolean> owner = t.start("lock()", () -> lock.lock());
        owner.get();
        Task<Boolean> stranger = t.start("unlock() by another thread", () -> lock.unlock());
        Optional<Throwable> thrown = stranger.outcome();
        t.expect(thrown.isPresent(), "a thread that did not lock has unlocked");
        t.expectType("unlock() by another thread", IllegalMonitorStateException.class, thrown.orElseThrow());
        t.expectTaken(t.client("other"), "the unlock() of another thread, which was refused, has freed the lock");
    }

    @Check(rules = "LK-1603", from = Profile.SMOKE)
    @Hint("Does unlock() look whether the thread holds anything?")
    void oneUnlockTooManyIsRefused(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Lock lock = t.subject().adapter().over(client.lock(t.name()));
        Task<Boolean> user = t.start("an unlock() too many", () -> {
            lock.lock();
            lock.unlock();
            lock.unlock();
        });
        Optional<Throwable> thrown = user.outcome();
        t.expect(thrown.isPresent(), "an unlock() too many was ignored");
        t.expectType("an unlock() too many", IllegalMonitorStateException.class, thrown.orElseThrow());
    }

    @Check(rules = "LK-1601", from = Profile.SMOKE)
    @Hint("Does an acquire look whether its thread has a lease of that name by this adapter?")
    void theHoldingThreadGetsAnotherLeaseOfTheSameGrant(CheckContext t) throws Exception {
        ReentrantLocks locks = t.subject().reentrance().over(t.client("first"));
        Task<String> nested = t.start("a nested acquire", () -> {
            try (Lease outer = locks.lock(t.name()).acquire()) {
                Optional<Lease> tried = locks.lock(t.name()).tryAcquire();
                if (tried.isEmpty()) {
                    return "tryAcquire() by the thread that holds it found it taken";
                }
                try (Lease second = tried.get();
                        Lease third = locks.lock(t.name()).acquire()) {
                    return second.token() == outer.token() && third.token() == outer.token()
                            ? ""
                            : "tokens " + outer.token() + ", " + second.token() + " and " + third.token();
                }
            }
        });
        t.expectEqual("what is wrong with a nested acquire", "", nested.get());
        t.expectFree(t.client("other"), "a lock all of whose leases were closed is not free");
    }

    @Check(rules = "LK-1602", from = Profile.SMOKE)
    @Hint("Which of the leases gives the lock back?")
    void theLastLeaseGivesTheLockBack(CheckContext t) throws Exception {
        ReentrantLocks locks = t.subject().reentrance().over(t.client("first"));
        LockClient other = t.client("other");
        Task<String> user = t.start("leases that are closed in either order", () -> {
            Lease outer = locks.lock(t.name()).acquire();
            Lease inner = locks.lock(t.name()).acquire();
            inner.close();
            if (other.lock(t.name()).tryAcquire().isPresent()) {
                return "the inner lease of two has freed the lock";
            }
            Lease again = locks.lock(t.name()).acquire();
            outer.close();
            return other.lock(t.name()).tryAcquire().isPresent()
                    ? "the outer lease of two has freed the lock"
                    : again.isHeld() ? closed(again) : "the inner lease is not held";
        });
        t.expectEqual("what is wrong with two leases", "", user.get());
        t.expectFree(other, "the last lease has not freed the lock");
    }

    private static String closed(Lease lease) {
        lease.close();
        return "";
    }

    @Check(rules = "LK-1604", from = Profile.SMOKE)
    @Hint("Does each lease know whether it was released?")
    void aLeaseOfSeveralIsReleasedOnce(CheckContext t) throws Exception {
        ReentrantLocks locks = t.subject().reentrance().over(t.client("first"));
        LockClient other = t.client("other");
        Task<String> user = t.start("a lease that is released twice", () -> {
            try (Lease outer = locks.lock(t.name()).acquire()) {
                Lease inner = locks.lock(t.name()).acquire();
                inner.release();
                if (inner.isHeld()) {
                    return "a lease that was released is held, because another of its grant is";
                }
                inner.release();
                inner.close();
                return outer.isHeld() && other.lock(t.name()).tryAcquire().isEmpty()
                        ? ""
                        : "the repeated release of one lease has freed the lock of another";
            }
        });
        t.expectEqual("what is wrong with a lease that is released twice", "", user.get());
    }

    @Check(rules = "LK-1605", from = Profile.SMOKE)
    @Hint("Is a lease counted by its thread, or for all?")
    void anotherThreadIsKeptOut(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        ReentrantLocks locks = t.subject().reentrance().over(client);
        Lock lock = t.subject().adapter().over(client.lock(t.name("adapted")));
        Task<Lease> owner = t.start("acquire() and lock()", () -> {
            lock.lock();
            return locks.lock(t.name()).acquire();
        });
        owner.get();
        Task<String> stranger = t.start("tries by another thread", () -> {
            if (locks.lock(t.name()).tryAcquire().isPresent()) {
                return "another thread has acquired what this one holds";
            }
            return lock.tryLock() ? "another thread has locked what this one holds" : "";
        });
        t.expectEqual("what is wrong between two threads", "", stranger.get());
    }

    @Check(rules = "LK-605", needs = Feature.FENCING, from = Profile.SMOKE)
    @Hint("Does the guard compare with the highest token that it has seen of that name?")
    void aGuardRefusesWhatIsOlderThanTheNewest(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        TckSubject.Guard guard = t.subject().guard().get();
        LockName name = LockName.of(t.name());
        long old;
        try (Lease lease = client.lock(name).acquire()) {
            old = lease.token();
            t.expect(guard.admits(name, old), "the guard refused the first token that it saw");
        }
        try (Lease lease = t.client("other").lock(name).acquire()) {
            t.expect(guard.admits(name, lease.token()), "the guard refused the token of a later grant");
            t.expect(guard.admits(name, lease.token()), "the guard refused a second effect under the same token");
            t.expect(!guard.admits(name, old), "the guard admitted the token of an earlier holder");
            t.expect(guard.admits(LockName.of(t.name("other")), old), "the guard mixes up two names");
            t.expect(
                    guard.admits(name, lease.token()), "after refusing an old token the guard refuses the current one");
        }
    }
}
