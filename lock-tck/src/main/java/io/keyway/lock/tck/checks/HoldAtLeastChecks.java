// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;

/**
 * Rules 520 to 522: a lock that is kept for some time at the least. That it passed on too early is certain however slow
 * the machine, since the time is counted from before the grant was asked for, which is before the store began to count.
 */
final class HoldAtLeastChecks {
    @Check(rules = "LK-520", needs = Feature.HOLD_AT_LEAST, from = Profile.SMOKE)
    @Hint("Does LockBackend.keep leave the place, and does the store end it by its own time?")
    void aReleasedLockIsKeptForItsTime(CheckContext t) throws Exception {
        LockClient rival = t.connected("rival");
        Duration atLeast = t.ttl(3, 2);
        long sent = t.now();
        Lease lease = acquired(t, t.client("holder"), atLeast);
        t.expectEqual("the outcome of the release", ReleaseOutcome.RELEASED, lease.release());
        t.expect(!lease.isHeld(), "a lease that was released is held: only the place of its grant is kept");
        notBefore(t, rival, sent, atLeast, "released at once");
    }

    @Check(rules = "LK-520", needs = Feature.HOLD_AT_LEAST)
    @Hint("Does a client that closes end its grants by LockBackend.keep too?")
    void theCloseOfItsClientLeavesItKept(CheckContext t) throws Exception {
        LockClient rival = t.connected("rival");
        LockClient holder = t.client("holder");
        Duration atLeast = t.ttl(3, 2);
        long sent = t.now();
        acquired(t, holder, atLeast);
        holder.close();
        notBefore(t, rival, sent, atLeast, "held by a client that was closed at once");
    }

    @Check(rules = "LK-520 LK-513", needs = Feature.HOLD_AT_LEAST, requires = Requirement.LINK)
    @Hint("Does the store itself keep the place of a grant whose ttl has ended?")
    void theDeathOfItsHolderLeavesItKept(CheckContext t) throws Exception {
        LockClient rival = t.connected("rival");
        ClientLink link = t.link("holder");
        Duration atLeast = t.ttl().multipliedBy(3);
        long sent = t.now();
        Lease lease = acquired(t, link.client(), atLeast);
        link.cut();
        notBefore(t, rival, sent, atLeast, "held by a client that nothing was heard of since");
        t.expect(!lease.isHeld(), "a holder that was cut off for three of its ttl believes");
        link.heal();
        t.pass(t.ttl());
    }

    @Check(rules = "LK-521", needs = Feature.HOLD_AT_LEAST)
    @Hint("Is the time counted from the grant, whatever was renewed since?")
    void aLockThatWasHeldForLongerIsFreeAtItsRelease(CheckContext t) throws Exception {
        LockClient rival = t.connected("rival");
        Lease lease = acquired(t, t.client("holder"), t.ttl());
        t.pass(t.ttl(3, 2));
        t.expect(lease.isHeld(), "a lease was not renewed until the time that it was to be held at least");
        lease.release();
        t.takesSoon(rival, t.name(), "a lock that was held longer than it had to be is not free after its release");
    }

    @Check(rules = "LK-521 LK-701", needs = Feature.HOLD_AT_LEAST)
    @Hint("Can a message of the former holder find the place that is kept?")
    void aKeptPlaceIsNoGrant(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("holder");
        LockClient rival = t.connected("rival");
        Duration atLeast = t.ttl(3, 2);
        Request request = probe.heldAtLeast(t.name(), t.ttl(), atLeast);
        long sent = t.now();
        Grant grant = probe.granted(request, "a free lock was not granted");
        t.expectEqual("the answer to keep", Answer.DONE, probe.keep(grant));
        t.expectEqual("the answer to a renewal of what is kept", List.of(Answer.NOT_HELD), probe.renew(grant));
        t.expectEqual("the answer to a release of what is kept", Answer.NOT_HELD, probe.release(grant));
        t.expect(!probe.isGranted(request), "an attempt brought back a grant that had been given up by keep");
        probe.withdraw(request);
        notBefore(t, rival, sent, atLeast, "given up by keep, released and withdrawn");
    }

    @Check(rules = "LK-522", needs = Feature.HOLD_AT_LEAST)
    @Hint("Do release and withdraw end such a grant as any other?")
    void aGrantThatReachedNobodyIsEndedAtOnce(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("holder");
        LockClient rival = t.connected("rival");
        Duration atLeast = t.longer(16);
        Grant released = probe.granted(probe.heldAtLeast(t.name(), t.ttl(), atLeast), "a free lock was not granted");
        t.expectEqual("the answer to a release", Answer.DONE, probe.release(released));
        t.expectFreeSoon(rival, t.name(), "a grant was ended by LockBackend.release, and its place was kept");
        Request withdrawn = probe.heldAtLeast(t.name(), t.ttl(), atLeast);
        probe.grantedInTime(withdrawn, "a free lock was not granted");
        probe.withdraw(withdrawn);
        t.expectFreeSoon(rival, t.name(), "a grant was ended by LockBackend.withdraw, and its place was kept");
    }

    @Check(
            rules = "LK-520",
            needs = {Feature.HOLD_AT_LEAST, Feature.LIST, Feature.BREAK})
    @Hint("Does a break look at places that are kept, and end them at once, since nobody has to stop?")
    void aBreakEndsWhatIsKept(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient rival = t.connected("rival");
        Lease lease = acquired(t, holder, t.longer(16));
        lease.release();
        List<LockStatus.Holder> shown = t.status(rival, t.key(t.name())).holders();
        t.expect(
                shown.size() == 1 && shown.get(0).kept().isPresent(),
                "a lock that is kept after its release is shown as " + shown + ": it has one holder, with Holder.kept");
        t.expect(
                rival.admin().breakLease(t.key(t.name()), lease.token(), "not needed any more"),
                "the break of a lock that is kept after its release came to nothing");
        t.takesSoon(rival, t.name(), "a lock that was kept after its release was broken, and is not free");
    }

    @Check(
            rules = "LK-520 LK-1301",
            needs = {Feature.HOLD_AT_LEAST, Feature.SEMAPHORE})
    @Hint("Do places that are kept count as permits that are out?")
    void permitsAreKeptToo(CheckContext t) throws Exception {
        Capacity two = Capacity.of(2);
        Duration atLeast = t.ttl(3, 2);
        long sent = t.now();
        Lease lease = t.client("holder")
                .semaphore(t.name(), two)
                .with(t.terms().withHoldAtLeast(atLeast))
                .acquire();
        lease.release();
        LockClient rival = t.client("rival");
        t.expectGranted(
                rival.semaphore(t.name(), two).tryAcquire(),
                "one permit of two is kept, and the other one was refused");
        Task<Long> taken = t.start("the acquire of the permit that is kept", () -> {
            rival.semaphore(t.name(), two).acquire();
            return t.now();
        });
        isKept(t, taken, sent, atLeast, "a permit that was released at once");
    }

    private static Lease acquired(CheckContext t, LockClient client, Duration atLeast) throws InterruptedException {
        return client.lock(t.name())
                .with(t.terms().withHoldAtLeast(atLeast))
                .tryAcquire()
                .orElseThrow(() -> t.failure(
                        "a free lock was refused to a request that is to be held at least for " + text(atLeast)));
    }

    private static void notBefore(CheckContext t, LockClient rival, long sent, Duration atLeast, String how)
            throws InterruptedException {
        Task<Long> taken = t.start("the acquire of the next holder", () -> {
            rival.lock(t.name()).acquire();
            return t.now();
        });
        isKept(t, taken, sent, atLeast, "a lock that was " + how);
    }

    private static void isKept(CheckContext t, Task<Long> taken, long sent, Duration atLeast, String what)
            throws InterruptedException {
        String kept = what + " and was to be held at least for " + text(atLeast);
        // Clocks may differ by a little.
        long end = sent + atLeast.toNanos() / 100 * 98;
        for (Duration piece = atLeast.dividedBy(8); !taken.isDone() && t.now() - end < 0; ) {
            t.passUntil(Math.min(end, t.now() + piece.toNanos()));
        }
        long early = taken.isDone() ? end - taken.get() : 0;
        t.never(early > 0, kept + " went to the next " + text(Duration.ofNanos(early)) + " too early");
        t.expectEnd(
                t.ttl(1, 2).plus(atLeast.dividedBy(50)),
                taken,
                kept + " is not free when that time has passed, and half a ttl more");
    }
}
