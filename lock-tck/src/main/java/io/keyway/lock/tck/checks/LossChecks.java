// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
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
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/** Chapter 800: that a loss is told, to whom, how often and when. */
final class LossChecks {
    @Check(rules = "LK-802 LK-801", from = Profile.SMOKE)
    @Hint("Who completes lost() when a lease lapses, and can that happen twice, or for those who ask later not at all?")
    void aLossIsToldOnceToEachWhoAsks(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease lease = client.lock(t.name()).with(t.unrenewed()).acquire();
        CopyOnWriteArrayList<LeaseLoss> early = new CopyOnWriteArrayList<>();
        CopyOnWriteArrayList<LeaseLoss> second = new CopyOnWriteArrayList<>();
        lease.lost().thenAccept(early::add);
        lease.lost().thenAccept(second::add);
        t.until("lost() completes for a lease that nobody renews", () -> !early.isEmpty() && !second.isEmpty());
        LeaseLoss late = t.lossOf(lease);
        t.pass(t.ttl(3, 2));
        lease.release();
        t.pass(t.ttl(1, 4));
        t.expectEqual("the number of times that lost() told its loss", 1, early.size());
        t.expectEqual("the number of times that lost() told a second asker", 1, second.size());
        t.expectEqual("the cause", LeaseLoss.Cause.EXPIRED, early.get(0).cause());
        t.expectEqual("the loss told to one who asked later", early.get(0), late);
        t.expect(!late.detail().isBlank(), "the loss has no detail; it should say in a sentence how it came");
    }

    @Check(rules = "LK-801")
    @Hint("From what to what is heldFor counted?")
    void aLossSaysHowLongTheLeaseWasHeld(CheckContext t) throws Exception {
        long sent = t.now();
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        LeaseLoss loss = t.lossOf(lease);
        Duration most = Duration.ofNanos(t.now() - sent);
        t.expect(
                loss.heldFor().compareTo(most) <= 0,
                "the loss says held for " + loss.heldFor() + ", and the lease was asked for " + most + " ago");
        t.expect(
                loss.heldFor().compareTo(lease.ttl().dividedBy(4)) >= 0,
                "the loss of a lease whose belief lasted 3/4 of " + text(lease.ttl()) + " says held for "
                        + loss.heldFor());
    }

    @Check(rules = "LK-802", from = Profile.SMOKE)
    @Hint("Does something that was set up for the end of the lease, a timer or its client's close, outlive its "
            + "release?")
    void aReleasedLeaseIsNeverToldAsLost(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        AtomicInteger told = new AtomicInteger();
        List<Lease> leases = List.of(
                client.lock(t.name("renewed")).acquire(),
                client.lock(t.name("once")).with(t.unrenewed()).acquire(),
                client.lock(t.name("limited"))
                        .with(LockOptions.none().withMaxHold(t.ttl(1, 2)))
                        .acquire());
        for (Lease lease : leases) {
            lease.lost().whenComplete((loss, failure) -> told.incrementAndGet());
            t.expectEqual("the release of a new lease", ReleaseOutcome.RELEASED, lease.release());
        }
        t.pass(t.ttl(3, 2));
        t.expectEqual("the number of released leases that lost() told as lost", 0, told.get());
        client.close();
        t.pass(t.ttl(1, 4));
        t.expectEqual("the number of released leases told as lost when their client was closed", 0, told.get());
        for (Lease lease : leases) {
            t.expectEqual("the state of a released lease", Lease.State.RELEASED, lease.state());
            t.expectEqual("a repeated release after close", ReleaseOutcome.RELEASED, lease.release());
        }
    }

    @Check(rules = "LK-802")
    @Hint("Does lost() hand out the one future that the client completes itself?")
    void whatAUserDoesToLostReachesNobodyElse(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).acquire();
        CompletableFuture<LeaseLoss> mine;
        try {
            mine = lease.lost().toCompletableFuture();
            mine.cancel(false);
        } catch (UnsupportedOperationException e) {
            // Nothing to complete, then.
            return;
        }
        t.expect(!t.isToldLost(lease), "a user cancelled his future of lost(), and another user was told of a loss");
        t.expect(lease.isHeld(), "a user cancelled his future of lost(), and the lease ended");
    }

    @Check(rules = "LK-803", statistical = "the best of several is judged")
    @Hint("Is there a timer for the deadline, or is the loss noticed by the next round of something else?")
    void aLossIsToldWithin50MillisecondsOfTheDeadline(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        int leases = 8;
        AtomicLong best = new AtomicLong(Long.MAX_VALUE);
        AtomicInteger told = new AtomicInteger();
        for (int i = 0; i < leases; i++) {
            Lease lease = client.lock(t.name("n" + i)).with(t.unrenewed()).acquire();
            long deadline = t.now() + lease.ttl().toNanos() * 3 / 4;
            lease.lost().thenAccept(loss -> {
                best.accumulateAndGet(t.now() - deadline, Math::min);
                told.incrementAndGet();
            });
            t.pass(t.ttl(1, 16));
        }
        if (t.isVirtual()) {
            // The clock moves by steps: none must be longer than what is measured.
            for (int i = 0; i < 100 && told.get() == 0; i++) {
                t.pass(Duration.ofMillis(40));
            }
        }
        t.until("the losses of " + leases + " leases are told", () -> told.get() == leases);
        long late = best.get();
        t.note("told " + late / 1000 + " us after the deadline at best");
        t.expect(
                late <= 50_000_000,
                "of " + leases + " losses none was told earlier than " + text(Duration.ofNanos(late))
                        + " after its deadline; 50 ms are allowed");
    }

    @Check(rules = "LK-804", from = Profile.SMOKE)
    @Hint("Is an acquire returned before the loss of the client's earlier lease of that lock is marked?")
    void aLossShowsBeforeTheClientHasTheLockAgain(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        for (int i = 0; i < t.rounds(1, 2, 6); i++) {
            DistributedLock lock = client.lock(t.freshName());
            Lease first = lock.with(t.unrenewed()).acquire();
            Task<Lease.State> again = t.start("a second acquire by the same client", () -> {
                Lease second = lock.acquire();
                Lease.State state = first.state();
                second.release();
                return state;
            });
            t.expectEqual(
                    "the state of the first lease when the same client had acquired the lock again",
                    Lease.State.LOST,
                    again.get());
        }
    }

    @Check(rules = "LK-805", from = Profile.SMOKE)
    @Hint("Does ensureHeld() look at the state at this moment, and tell lost from released?")
    void ensureHeldTellsLostFromReleased(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease lost = client.lock(t.name()).with(t.unrenewed()).acquire();
        Lease released = client.lock(t.name("released")).acquire();
        lost.ensureHeld();
        released.ensureHeld();
        released.release();
        IllegalStateException over =
                t.expectThrows("ensureHeld() of a released lease", IllegalStateException.class, released::ensureHeld);
        t.expect(over.getMessage() != null, "ensureHeld() of a released lease throws without a message");
        long got = t.now();
        t.passUntil(got + lost.ttl().toNanos() * 3 / 4 + 1);
        LeaseLostException gone =
                t.expectThrows("ensureHeld() of a lease that lapsed", LeaseLostException.class, lost::ensureHeld);
        t.expectEqual("the token that the exception names", lost.token(), gone.token());
        t.expectEqual(
                "the cause in the exception",
                LeaseLoss.Cause.EXPIRED,
                gone.loss().cause());
        t.expectEqual(
                "the name that the exception names",
                t.name(),
                gone.name().map(name -> name.value()).orElse("none"));
    }

    @Check(rules = "LK-806", from = Profile.SMOKE)
    @Hint("What does callLocked look at when the work has returned?")
    void workUnderALostLeaseIsNotReportedAsDone(CheckContext t) throws Exception {
        DistributedLock lock = t.client("holder").lock(t.name()).with(t.unrenewed());
        List<Lease> given = new ArrayList<>();
        LeaseLostException lost = t.expectThrows(
                "callLocked whose lease lapsed during the work",
                LeaseLostException.class,
                () -> lock.callLocked(lease -> {
                    given.add(lease);
                    letLapse(t, lease);
                    return "the work's result";
                }));
        t.expectEqual(
                "the cause in the exception",
                LeaseLoss.Cause.EXPIRED,
                lost.loss().cause());
        t.expectEqual("the token in the exception", given.get(0).token(), lost.token());
        t.expectThrows(
                "tryRunLocked whose lease lapsed during the work",
                LeaseLostException.class,
                () -> lock.tryRunLocked(t.patience(), lease -> letLapse(t, lease)));
        IllegalArgumentException own = new IllegalArgumentException("of the work");
        IllegalArgumentException thrown = t.expectThrows(
                "callLocked whose lease lapsed and whose work threw",
                IllegalArgumentException.class,
                () -> lock.callLocked(lease -> {
                    letLapse(t, lease);
                    throw own;
                }));
        t.expect(thrown == own, "callLocked threw another exception than the one that the work threw: " + thrown);
        t.expect(
                List.of(thrown.getSuppressed()).stream().anyMatch(LeaseLostException.class::isInstance),
                "the work threw and its lease was lost: the loss should be among the suppressed exceptions, which are "
                        + List.of(thrown.getSuppressed()));
    }

    private static void letLapse(CheckContext t, Lease lease) {
        try {
            t.passUntil(t.now() + lease.ttl().toNanos() * 3 / 4 + 1);
        } catch (InterruptedException e) {
            throw new IllegalStateException("the check was interrupted", e);
        }
    }

    @Check(rules = "LK-806 LK-702", from = Profile.SMOKE)
    @Hint("Does callLocked hold the lock while the work runs, and release it whatever the work does?")
    void workRunsUnderTheLockAndGivesItBack(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        DistributedLock lock = t.client("holder").lock(t.name());
        String result = lock.callLocked(lease -> {
            t.expect(lease.isHeld(), "the work was given a lease that is not held");
            t.expectEqual(
                    "the name of the lease that the work was given",
                    t.name(),
                    lease.name().value());
            t.expectTaken(second, "while callLocked ran its work another client was granted the lock");
            return "done";
        });
        t.expectEqual("what callLocked returned", "done", result);
        free(t, second, "callLocked had returned");
        IllegalArgumentException own = new IllegalArgumentException("of the work");
        IllegalArgumentException thrown = t.expectThrows(
                "callLocked whose work threw",
                IllegalArgumentException.class,
                () -> lock.callLocked(lease -> {
                    throw own;
                }));
        t.expect(thrown == own && own.getSuppressed().length == 0, "callLocked changed the exception of the work");
        free(t, second, "the work of callLocked had thrown");
        List<Lease> ran = new ArrayList<>();
        t.expect(lock.tryRunLocked(Duration.ZERO, ran::add), "tryRunLocked of a free lock says that it did not run");
        t.expectEqual("the number of times that tryRunLocked ran its work", 1, ran.size());
        free(t, second, "tryRunLocked had returned");
        Lease other = second.lock(t.name()).acquire();
        boolean refused =
                !t.call("tryRunLocked of a lock that is held", () -> lock.tryRunLocked(t.ttl(3, 4), ran::add));
        t.expect(refused, "tryRunLocked says that it ran its work while another client held the lock");
        t.expectEqual("the number of times that the work ran, after one refusal", 1, ran.size());
        t.expect(other.isHeld(), "a refused tryRunLocked ended the holder's lease");
    }

    private static void free(CheckContext t, LockClient second, String after) throws InterruptedException {
        Lease lease = second.lock(t.name()).tryAcquire().orElse(null);
        t.expect(lease != null, after + ", and the lock was not free");
        Objects.requireNonNull(lease).release();
    }

    @Check(rules = "LK-806")
    @Hint("Does callLocked take a release by the work itself for a loss?")
    void workThatReleasesItsLeaseItselfIsDone(CheckContext t) throws Exception {
        DistributedLock lock = t.client("holder").lock(t.name());
        ReleaseOutcome outcome = lock.callLocked(lease -> lease.release());
        t.expectEqual("what callLocked returned", ReleaseOutcome.RELEASED, outcome);
    }
}
