// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
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

/** Chapter 700: how a lease is given back. */
final class ReleaseChecks {
    @Check(rules = "LK-702 LK-701", from = Profile.SMOKE)
    @Hint("Is a second release sent to the store, and by what does the store find the grant: by its token or by name "
            + "and client?")
    void aRepeatedReleaseFreesNobodyElsesGrant(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        LockClient third = t.client("third");
        Lease first = t.client("first").lock(t.name()).acquire();
        t.expectEqual("the first release", ReleaseOutcome.RELEASED, first.release());
        Lease next = second.lock(t.name()).acquire();
        t.expectEqual("a repeated release", ReleaseOutcome.RELEASED, first.release());
        t.expectEqual("a repeated release", ReleaseOutcome.RELEASED, t.releaseAsync(first));
        first.close();
        t.expectTaken(
                third, "the first holder released twice, and the second release freed the grant of the next holder");
        t.expect(next.isHeld(), "the first holder released twice, and the next holder's lease ended");
        t.pass(t.ttl(5, 4));
        t.expect(next.isHeld(), "after a repeated release by an earlier holder the next one's lease was not renewed");
    }

    @Check(rules = "LK-701", from = Profile.SMOKE)
    @Hint("Does withdrawing a request, or refusing it, end whatever the same client holds of that lock?")
    void givingUpAWaitEndsNoLeaseOfTheSameClient(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockClient second = t.client("second");
        DistributedLock lock = client.lock(t.name());
        Lease held = lock.acquire();
        t.expectTaken(lock, "a second attempt of the holder's client was granted");
        Optional<Lease> waited = t.call("a wait of the holder's client", () -> lock.tryAcquire(t.ttl(3, 4)));
        t.expect(waited.isEmpty(), "a second wait of the holder's client was granted");
        CompletableFuture<Lease> cancelled = lock.acquireAsync();
        t.pass(t.ttl(1, 16));
        cancelled.cancel(false);
        t.pass(t.ttl(1, 16));
        t.expect(held.isHeld(), "a request of the same client was given up, and that ended the lease that it holds");
        t.expectTaken(second, "a request of the holder's client was given up, and that freed the lock for others");
        t.pass(t.ttl(5, 4));
        t.expect(held.isHeld(), "after a request of the same client was given up its lease is not renewed any more");
    }

    @Check(rules = "LK-701", needs = Feature.READ_WRITE, from = Profile.SMOKE)
    @Hint("Does a release name its grant by the token, or does it free all that its client holds of that lock?")
    void aReleaseEndsOneOfTwoSharedLeasesOfAClient(CheckContext t) throws Exception {
        DistributedReadWriteLock lock = t.client("reader").readWriteLock(t.name());
        DistributedLock write = t.client("writer").readWriteLock(t.name()).write();
        Lease one = lock.read().acquire();
        Lease other = lock.read().acquire();
        t.expect(one.token() != other.token(), "two shared leases of one client have the same token, " + one.token());
        t.expectEqual("the release of one of two shared leases", ReleaseOutcome.RELEASED, one.release());
        t.expectTaken(
                write, "a client released one of its two shared leases, and a writer was granted beside the other");
        t.expect(other.isHeld(), "a client released one of its two shared leases, and the other one ended too");
        t.pass(t.ttl(5, 4));
        t.expect(other.isHeld(), "after the release of one of two shared leases the other one is not renewed any more");
        t.expectEqual("the release of the other one", ReleaseOutcome.RELEASED, other.release());
        t.expectFree(write, "both shared leases are released, and the lock is not free");
    }

    @Check(rules = "LK-701 LK-1305", needs = Feature.SEMAPHORE, from = Profile.SMOKE)
    @Hint("Does a release name its grant by the token, or give back all permits of its client?")
    void aReleaseGivesBackThePermitsOfOneLease(CheckContext t) throws Exception {
        DistributedSemaphore semaphore = t.client("user").semaphore(t.name(), Capacity.of(3));
        DistributedSemaphore others = t.client("other").semaphore(t.name(), Capacity.of(3));
        Lease one = semaphore.acquire(1);
        Lease two = semaphore.acquire(2);
        t.expectEqual("permits()", 2, two.permits());
        one.release();
        one.release();
        t.expect(others.tryAcquire(2).isEmpty(), "one permit of three came back, and two were granted");
        t.expectGranted(others.tryAcquire(1), "one permit of three came back, and one was refused");
        t.expect(two.isHeld(), "the release of one lease of a client ended its other one");
        two.release();
        t.expect(others.tryAcquire(2).isPresent(), "two permits came back, and two were refused");
    }

    @Check(rules = "LK-701 LK-1305", needs = Feature.SEMAPHORE)
    @Hint("Which of a client's grants does a release end: the one of the token, or the first that is found?")
    void aReleaseEndsTheLeaseThatIsReleased(CheckContext t) throws Exception {
        DistributedSemaphore semaphore = t.client("user").semaphore(t.name(), Capacity.of(3));
        DistributedSemaphore others = t.client("other").semaphore(t.name(), Capacity.of(3));
        Lease older = semaphore.acquire(1);
        Lease younger = semaphore.acquire(2);
        younger.release();
        Optional<Lease> two = others.tryAcquire(2);
        t.expect(
                two.isPresent(),
                "the younger of two leases of a client, of two permits, was released, and two were refused");
        t.pass(t.ttl(5, 4));
        t.expect(older.isHeld(), "the younger of two leases of a client was released, and the older one ended");
        t.expect(
                others.tryAcquire(1).isEmpty(),
                "the younger of two leases was released, and the permits of the older came back");
    }

    @Check(rules = "LK-701 LK-301", from = Profile.SMOKE)
    @Hint("Is a client known to the store by its name? Names are for people; two clients may share one.")
    void twoClientsOfOneNameAreTwo(CheckContext t) throws Exception {
        ClientOptions same = ClientOptions.defaults().withName("tck-twin");
        LockClient one = t.client("one", same);
        LockClient two = t.client("two", same);
        Lease held = one.lock(t.name()).acquire();
        t.expectTaken(two, "a client of the same name was granted a lock that is held");
        Lease other = two.lock(t.name("other")).acquire();
        two.close();
        t.expect(held.isHeld(), "a client of the same name was closed, and that ended this one's lease");
        t.expectTaken(t.client("third"), "a client of the same name was closed, and that freed this one's lock");
        t.expect(!other.isHeld(), "the lease of a closed client is held");
    }

    @Check(rules = "LK-702", from = Profile.SMOKE)
    @Hint("Where is the outcome of the first release kept?")
    void everyReleaseHasTheOutcomeOfTheFirst(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        for (int i = 0; i < t.rounds(5, 20, 60); i++) {
            Lease lease = client.lock(t.freshName()).acquire();
            List<Task<ReleaseOutcome>> calls = new ArrayList<>();
            for (int j = 0; j < 3; j++) {
                calls.add(t.start("one of three releases", lease::release));
            }
            for (Task<ReleaseOutcome> call : calls) {
                t.expectEqual("the outcome of one of three releases at once", ReleaseOutcome.RELEASED, call.get());
            }
            t.expectEqual("releaseAsync() afterwards", ReleaseOutcome.RELEASED, t.releaseAsync(lease));
            t.expectEqual("the state afterwards", Lease.State.RELEASED, lease.state());
        }
        Lease lapsed = client.lock(t.name()).with(t.unrenewed()).acquire();
        t.until("a lease that is not renewed ends", () -> !lapsed.isHeld());
        t.expectEqual("releaseAsync() of a lapsed lease", ReleaseOutcome.ALREADY_LOST, t.releaseAsync(lapsed));
        t.expectEqual("release() of a lapsed lease", ReleaseOutcome.ALREADY_LOST, lapsed.release());
        t.expectEqual("release() of a lapsed lease", ReleaseOutcome.ALREADY_LOST, lapsed.release());
    }

    @Check(rules = "LK-704")
    @Hint("What does close() of a lease pass on?")
    void closeOfALeaseNeverThrows(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease released = client.lock(t.name()).acquire();
        Lease lapsed = client.lock(t.name("lapsed")).with(t.unrenewed()).acquire();
        Lease closed = client.lock(t.name("closed")).acquire();
        released.close();
        released.close();
        t.expectEqual("the state after close()", Lease.State.RELEASED, released.state());
        t.expectFree(t.client("second"), "close() of a lease did not release it");
        t.until("a lease that is not renewed ends", () -> !lapsed.isHeld());
        lapsed.close();
        t.expectEqual("the state of a lapsed lease after close()", Lease.State.LOST, lapsed.state());
        client.close();
        closed.close();
        t.expectEqual("the state after the client's close", Lease.State.LOST, closed.state());
    }

    @Check(rules = "LK-705", from = Profile.SMOKE)
    @Hint("What in the release throws, or returns at once, when the interrupt flag is set, and who clears that flag?")
    void anInterruptedThreadReleases(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockClient second = t.client("second");
        for (boolean close : new boolean[] {false, true}) {
            String name = t.freshName();
            Lease lease = client.lock(name).acquire();
            Task<ReleaseOutcome> task = t.start("the release by an interrupted thread", () -> {
                Thread.currentThread().interrupt();
                if (close) {
                    lease.close();
                }
                return lease.release();
            });
            t.expectEqual("the release by an interrupted thread", ReleaseOutcome.RELEASED, task.get());
            t.expect(task.interruptedAtEnd(), "the release took the interrupt flag of its thread away");
            t.expectFree(second, name, "an interrupted thread released a lease, and the lock is not free");
        }
    }

    @Check(rules = "LK-706", from = Profile.SMOKE)
    @Hint("When does belief end: before the release is sent, or when it is answered?")
    void beliefEndsWithTheCallOfRelease(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        for (int i = 0; i < t.rounds(10, 50, 200); i++) {
            Lease lease = client.lock(t.freshName()).acquire();
            CompletableFuture<ReleaseOutcome> outcome = lease.releaseAsync().toCompletableFuture();
            t.expect(!lease.isHeld(), "releaseAsync() was called, and the lease says that it is held");
            t.expectEqual("remaining() after the call of releaseAsync()", Duration.ZERO, lease.remaining());
            t.expectThrows(
                    "ensureHeld() after the call of releaseAsync()", IllegalStateException.class, lease::ensureHeld);
            t.until("releaseAsync() completes", outcome::isDone);
            t.expectEqual("the outcome", ReleaseOutcome.RELEASED, outcome.join());
        }
    }

    @Check(rules = "LK-707 LK-701", from = Profile.SMOKE)
    @Hint("What does the release of a lost lease send, and what does the store do if the token is not in force?")
    void theReleaseOfALostLeaseHarmsNobody(CheckContext t) throws Exception {
        LockClient first = t.client("first");
        LockClient third = t.client("third");
        // The same client and another one may have the lock by then: a release by name or by client is found out.
        for (LockClient next : List.of(first, t.client("second"))) {
            String name = t.freshName();
            Lease lapsed = first.lock(name).with(t.unrenewed()).acquire();
            Lease later = t.acquired("the next acquire", next, name);
            t.expectEqual("the release of a lapsed lease", ReleaseOutcome.ALREADY_LOST, lapsed.release());
            lapsed.close();
            t.expect(later.isHeld(), "the release of a lapsed lease ended the next holder's");
            t.expectTaken(third, name, "the release of a lapsed lease freed the lock, which the next holder has");
            t.pass(t.ttl());
            t.expect(later.isHeld(), "after the release of a lapsed lease the next holder's is not renewed any more");
        }
    }

    @Check(rules = "LK-708", from = Profile.SMOKE)
    @Hint("Has the store ended the grant when release() returns RELEASED, or was the message only sent?")
    void releasedMeansFree(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        LockClient client = t.client("first");
        // Not more: a store that restarts may be closed for the longest ttl that it has granted.
        Duration longer = t.longer(4);
        LockOptions lasting = LockOptions.none().withTtl(longer);
        for (int i = 0; i < t.rounds(5, 30, 200); i++) {
            String name = t.freshName();
            Lease lease = client.lock(name).with(lasting).acquire();
            ReleaseOutcome outcome = i % 2 == 0 ? lease.release() : t.releaseAsync(lease);
            t.expectEqual("the release", ReleaseOutcome.RELEASED, outcome);
            Lease next = t.expectGranted(
                    second.lock(name).tryAcquire(),
                    "a lease was RELEASED, and an attempt of another client right after it refused");
            next.release();
        }
    }
}
