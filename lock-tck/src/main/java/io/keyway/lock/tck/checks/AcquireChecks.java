// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;

/** Rules 301, 305, 306, 309 and 312: how a lock is asked for. */
final class AcquireChecks {
    @Check(rules = "LK-315", from = Profile.SMOKE)
    @Hint("Which time that the application gives is added to a clock, and overflows? It has to end at the longest time "
            + "that the clock can tell, or to be refused when it is given.")
    void aTimeOfAgesKeepsNobodyWaiting(CheckContext t) throws Exception {
        Duration ages = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        LockClient client = t.client("patient");
        LockClient other = t.client("other");
        for (LockOptions options : List.of(
                LockOptions.none().withMaxHold(ages),
                LockOptions.none().withMaxHold(ages, ages.minusNanos(1)),
                LockOptions.none().withWarnAfter(ages))) {
            String name = t.freshName();
            ends(
                    t,
                    "an acquire of a free lock with " + options,
                    other,
                    name,
                    () -> client.lock(name).with(options).acquire());
        }
        String name = t.freshName();
        ends(
                t,
                "tryAcquire(" + ages + ") of a free lock",
                other,
                name,
                () -> client.lock(name).tryAcquire(ages).orElseThrow());
        ends(
                t,
                "tryAcquireAsync(" + ages + ") of a free lock",
                other,
                name,
                () -> client.lock(name).tryAcquireAsync(ages).get().orElseThrow());
    }

    private static void ends(CheckContext t, String what, LockClient other, String name, Callable<Lease> acquire)
            throws Exception {
        Task<Lease> task = t.start(what, acquire);
        t.expectEnd(t.ttl(), task, what + " has not ended after a ttl");
        Lease lease = task.get();
        t.expect(lease.isHeld(), what + " gave a lease that is not held");
        t.pass(t.ttl(1, 4));
        t.expect(lease.isHeld(), what + " gave a lease that was lost a quarter of the ttl later");
        t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
        t.expectFreeSoon(other, name, what + " was followed by a release");
    }

    @Check(rules = "LK-301 LK-305", from = Profile.SMOKE)
    @Hint("Does every form of acquire come to the same attempt at the store?")
    void everyFormOfAcquireTakesAndRefuses(CheckContext t) throws Exception {
        DistributedLock lock = t.client("first").lock(t.name());
        DistributedLock rival = t.client("rival").lock(t.name());
        for (int form = 0; form < 5; form++) {
            Lease lease = switch (form) {
                case 0 -> lock.acquire();
                case 1 -> present(t, "tryAcquire()", lock.tryAcquire());
                case 2 -> present(t, "tryAcquire(wait)", lock.tryAcquire(t.patience()));
                case 3 -> value(t, "acquireAsync()", lock.acquireAsync());
                default ->
                    present(
                            t,
                            "tryAcquireAsync(wait)",
                            value(t, "tryAcquireAsync(wait)", lock.tryAcquireAsync(t.patience())));
            };
            t.expect(lease.isHeld(), "a form of acquire gave a lease that is not held");
            t.expect(rival.tryAcquire().isEmpty(), "tryAcquire() took a lock that another client holds");
            CompletableFuture<Lease> waits = rival.acquireAsync();
            t.pass(t.ttl(1, 16));
            t.expect(!waits.isDone(), "acquireAsync() was completed while another client holds the lock: " + waits);
            t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
            Lease next = value(t, "acquireAsync() after the release", waits);
            t.expect(next.isHeld(), "acquireAsync() was completed with a lease that is not held");
            next.release();
        }
    }

    private static Lease present(CheckContext t, String what, Optional<Lease> lease) {
        t.expect(lease.isPresent(), what + " of a free lock was refused");
        return lease.orElseThrow();
    }

    private static <T> T value(CheckContext t, String what, CompletableFuture<T> future) throws InterruptedException {
        return t.call(what, future::get);
    }

    @Check(rules = "LK-305 LK-402", from = Profile.SMOKE)
    @Hint("Does an attempt that is refused leave its request in the queue?")
    void anAttemptNeverQueues(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient second = t.client("second");
        Lease held = holder.lock(t.name()).acquire();
        LockClient prompt = t.client("prompt", ClientOptions.defaults().withRequestTimeout(t.ttl()));
        for (LockClient client : List.of(second, prompt)) {
            Task<Optional<Lease>> attempt =
                    t.start("an attempt", () -> client.lock(t.name()).tryAcquire());
            t.expectEnd(
                    t.ttl(1, 2),
                    attempt,
                    "tryAcquire() of a lock that is held had not ended after half a ttl; a refusal needs one round "
                            + "trip");
            t.expect(attempt.get().isEmpty(), "a lock that is held was granted to another client");
        }
        if (t.has(Feature.LIST)) {
            LockStatus status = holder.admin().show(t.key(t.name())).orElseThrow();
            t.expect(
                    status.waiters().isEmpty(),
                    "after attempts that were refused the lock is shown with waiters: " + status);
        }
        held.release();
        Lease third = t.expectGranted(
                t.client("third").lock(t.name()).tryAcquire(),
                "the lock was released, and is not free: a refused attempt has got it");
        t.pass(t.ttl(1, 4));
        t.expect(third.isHeld(), "a lease ended soon after it was granted");
    }

    @Check(rules = "LK-306")
    @Hint("What becomes of a cached lock when another client asks for it?")
    void aLockThatAnotherClientUsedOftenIsFree(CheckContext t) throws Exception {
        LockClient often = t.client("often");
        for (int i = 0; i < t.rounds(10, 50, 200); i++) {
            often.lock(t.name()).acquire().release();
        }
        for (int i = 0; i < 5; i++) {
            Lease lease = t.expectGranted(
                    t.client("other" + i).lock(t.name()).tryAcquire(),
                    "a lock that nobody holds or waits for, and that another client used often, was refused");
            lease.release();
            often.lock(t.name()).acquire().release();
        }
    }

    @Check(rules = "LK-309 LK-207", from = Profile.SMOKE)
    @Hint("Does the ttl that was asked for reach the store, and does Lease.ttl() say what the store granted?")
    void aLeaseHasTheTtlThatWasAsked(CheckContext t) throws Exception {
        for (int times = 1; times <= 3; times += 2) {
            Duration ttl = t.longer(times);
            // A client of its own: some stores agree on one ttl for each connection.
            LockClient client = t.client(
                    "asks" + times,
                    ClientOptions.defaults().withDefaults(LockOptions.none().withTtl(ttl)));
            Lease lease = client.lock(t.freshName()).acquire();
            t.expectEqual("ttl() of a lease that was asked for within the bounds", ttl, lease.ttl());
            Lease overlaid = client.lock(t.freshName())
                    .with(LockOptions.none().withTtl(ttl))
                    .with(LockOptions.none().withMetadata(Map.of("why", "overlaid")))
                    .acquire();
            t.expectEqual("ttl() of a lease whose lock had options laid over twice", ttl, overlaid.ttl());
        }
    }

    @Check(rules = "LK-312", from = Profile.SMOKE)
    @Hint("Is the holder known by its thread anywhere, as in a ThreadLocal or a reentrant lock below?")
    void aLeaseBelongsToNoThread(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockClient rival = t.client("rival");
        // The thread that acquires it has ended when it is used.
        Lease lease = t.acquired("an acquire", client, t.name());
        t.pass(t.ttl(3, 2));
        t.expect(lease.isHeld(), "a lease ended after the thread that acquired it had ended");
        t.expectTaken(rival, "a lock came free when the thread of its holder ended");
        ReleaseOutcome outcome = t.call("a release", lease::release);
        t.expectEqual("the release by another thread", ReleaseOutcome.RELEASED, outcome);
        t.expectFree(rival, "a lease was released by another thread, and the lock is not free");
    }

    @Check(rules = "LK-312", requires = Requirement.VIRTUAL_THREADS)
    @Hint("Is anything kept by thread, or is a virtual thread pinned while it waits?")
    void manyVirtualThreadsTakeTurns(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        int threads = t.rounds(50, 200, 1000);
        int[] entered = new int[2];
        List<Task<Integer>> all = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            all.add(t.startVirtual(
                    "the work of one of " + threads + " virtual threads",
                    () -> client.lock(t.name()).callLocked(lease -> {
                        entered[1] += ++entered[0] > 1 ? 1 : 0;
                        Thread.onSpinWait();
                        entered[0]--;
                        return 1;
                    })));
        }
        t.join(all);
        t.expectEqual("the number of times that two virtual threads held the lock at once", 0, entered[1]);
    }
}
