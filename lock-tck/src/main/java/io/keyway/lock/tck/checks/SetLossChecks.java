// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.checks.SeveralChecks.both;
import static io.keyway.lock.tck.checks.SeveralChecks.high;
import static io.keyway.lock.tck.checks.SeveralChecks.low;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rules 1704 to 1706: a set that has lost one of its leases, and one that has lost none. */
final class SetLossChecks {
    private static final long MILLISECOND = 1_000_000;

    private static void breaks(CheckContext t, LeaseSet leases, String name) throws InterruptedException {
        boolean done = t.client("operator").admin().breakLease(t.key(name), leases.token(name), "of the check");
        t.expect(done, "a lease of a set, which is in force, was not broken by the token that the set has for it");
    }

    @Check(rules = "LK-1704 LK-1705", needs = Feature.BREAK, from = Profile.SMOKE)
    @Hint("Does each question to the set ask all of its leases?")
    void theLossOfOneIsTheLossOfAll(CheckContext t) throws Exception {
        LeaseSet leases = both(t, t.client("holder")).acquire();
        List<LeaseLoss> told = new CopyOnWriteArrayList<>();
        leases.lost().thenAccept(told::add);
        breaks(t, leases, high(t));
        t.until("a set is not held once one of its leases was broken", () -> !leases.isHeld());
        t.expectEqual("the state of a set that has lost a lease", Lease.State.LOST, leases.state());
        t.expectEqual("what is left of a set that has lost a lease", Duration.ZERO, leases.remaining());
        LeaseLostException thrown =
                t.expectThrows("ensureHeld() of a lost set", LeaseLostException.class, leases::ensureHeld);
        t.expectEqual(
                "the name in the exception",
                high(t),
                thrown.name().map(LockName::value).orElse("none"));
        t.expectEqual("the token in the exception", leases.token(high(t)), thrown.token());
        t.until("lost() of a set completes when one of its leases was broken", () -> !told.isEmpty());
        t.expectEqual(
                "the cause of the loss", LeaseLoss.Cause.BROKEN, told.get(0).cause());
        t.expect(
                told.get(0).detail().contains(high(t)),
                "the loss of a set should name the lock that was lost, " + high(t) + ", and says: "
                        + told.get(0).detail());
        t.expectEqual("the release of a lost set", ReleaseOutcome.ALREADY_LOST, leases.release());
        t.pass(t.ttl(5, 4));
        t.expectEqual("the number of times that lost() told its loss", 1, told.size());
        t.expectEqual("the state of a lost set after its release", Lease.State.LOST, leases.state());
    }

    @Check(rules = "LK-1706", needs = Feature.BREAK)
    @Hint("When are the other locks of a lost set given back: at once, never, or when its owner can have stopped?")
    void theRestOfALostSetIsKeptUntilItsOwnerCanHaveStopped(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        LeaseSet leases = both(t, t.client("holder")).acquire();
        Task<Lease> waits = t.acquiring("a second client's acquire of the other lock", second, low(t));
        t.untilWaiting(second, low(t), 1);
        long before = t.now();
        breaks(t, leases, high(t));
        t.until("a set is not held once one of its leases was broken", () -> !leases.isHeld());
        long earliest = before + leases.ttl().toNanos() / 4;
        t.never(
                !t.goesOnAt(earliest - MILLISECOND, waits, earliest),
                "a set has lost one lease, and the next client was granted the other lock before a quarter of the ttl"
                        + " had passed: the set's owner has had no time to stop");
        t.expectEnd(
                t.ttl(3, 2),
                waits,
                "a set has lost one lease, its owner is silent, and the other lock was not given back");
        waits.get().release();
    }

    @Check(rules = "LK-1706", needs = Feature.BREAK)
    @Hint("Does close() of a lost set give back what it still has?")
    void theOwnerOfALostSetGivesTheRestBack(CheckContext t) throws Exception {
        Duration longer = t.longer(8);
        LeaseSet leases = both(t, t.client("holder"))
                .with(LockOptions.none().withTtl(longer))
                .acquire();
        breaks(t, leases, high(t));
        t.until("a set is not held once one of its leases was broken", () -> !leases.isHeld());
        leases.close();
        t.expectAcquired(
                        longer.dividedBy(8),
                        "the acquire of the other lock",
                        t.client("second"),
                        low(t),
                        "the owner of a lost set has closed it, and the other lock is not free")
                .release();
    }

    @Check(rules = "LK-1705")
    @Hint("Does something that was set up for the loss of a lease outlive the release of the set?")
    void aReleasedSetIsNeverToldAsLost(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        List<LeaseLoss> told = new CopyOnWriteArrayList<>();
        for (LockSet set : List.of(both(t, client), both(t, client).with(t.unrenewed()))) {
            LeaseSet leases = t.call("the acquire of a set", set::acquire);
            leases.lost().thenAccept(told::add);
            leases.close();
        }
        t.pass(t.ttl(3, 2));
        client.close();
        t.pass(t.ttl(1, 4));
        t.expectEqual("the losses told of sets that were released", List.of(), told);
    }
}
