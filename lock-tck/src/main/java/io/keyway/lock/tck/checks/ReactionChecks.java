// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;

/** Rule 516: the time that a holder has to stop when its lease has ended by the clock. */
final class ReactionChecks {
    private static final long MILLISECOND = 1_000_000;

    @Check(rules = "LK-516 LK-512", from = Profile.SMOKE)
    @Hint("When is a grant whose lease has reached its maxHold given back: at once, or when its owner can have "
            + "stopped?")
    void aLeaseAtItsMaxHoldIsKeptUntilItsOwnerCanHaveStopped(CheckContext t) throws Exception {
        isKeptAfterItsEnd(t, LockOptions.none().withMaxHold(t.ttl(1, 2)));
    }

    @Check(rules = "LK-516 LK-511", from = Profile.SMOKE)
    @Hint("When is a grant that is not renewed given back: at its deadline, or when its owner can have stopped?")
    void aLeaseThatIsNotRenewedIsKeptUntilItsOwnerCanHaveStopped(CheckContext t) throws Exception {
        isKeptAfterItsEnd(t, t.unrenewed());
    }

    private static void isKeptAfterItsEnd(CheckContext t, LockOptions ends) throws Exception {
        LockClient second = t.client("second");
        Lease lease = t.client("holder").lock(t.name()).with(ends).acquire();
        // Of two readings the earlier: the end lies no earlier than this says.
        long end = t.now() + lease.remaining().toNanos();
        Task<Lease> waits = t.acquiring("a second client's acquire", second, t.name());
        comesNoEarlier(t, lease, end, waits);
    }

    @Check(rules = "LK-516 LK-502", requires = Requirement.LINK)
    @Hint("Is the lock of a holder that heard nothing until its deadline given back as soon as it is heard again?")
    void aHolderThatIsHeardAgainAfterItsDeadlineHasTimeToStop(CheckContext t) throws Exception {
        ClientLink link = t.link("silent");
        LockClient second = t.client("second");
        Lease lease = link.client().lock(t.name()).acquire();
        t.pass(t.ttl(1, 4));
        link.cut();
        // What was answered before the cut can only move the end further away.
        long end = t.now() + lease.remaining().toNanos();
        Task<Lease> waits = t.acquiring("a second client's acquire", second, t.name());
        t.until("the silent holder's lease ends", () -> !lease.isHeld());
        link.heal();
        comesNoEarlier(t, lease, end, waits);
    }

    private static void comesNoEarlier(CheckContext t, Lease lease, long end, Task<Lease> waits)
            throws InterruptedException {
        long earliest = end + lease.ttl().toNanos() / 4;
        t.never(
                !t.goesOnAt(earliest - MILLISECOND, waits, earliest),
                "the next client was granted the lock before a quarter of the ttl, " + text(lease.ttl())
                        + ", had passed since the loss was due: its former holder has had no time to stop");
        t.expect(!lease.isHeld(), "a quarter of the ttl after its end a lease is held");
        waits.get().release();
    }

    @Check(rules = "LK-516", needs = Feature.WAKE_UP)
    @Hint("Does the release of a lost lease tell the store that its owner has stopped?")
    void anOwnerThatHasStoppedKeepsNobodyWaiting(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        Duration longer = t.longer(2);
        LockOptions limited = LockOptions.none().withTtl(longer).withMaxHold(longer.dividedBy(4));
        long best = Long.MAX_VALUE;
        for (int i = 0; i < 5 && best >= longer.toNanos() / 4; i++) {
            String name = t.freshName();
            Lease lease = t.client("holder" + i).lock(name).with(limited).acquire();
            Task<Lease> waits = t.acquiring("the acquire of a second client", second, name);
            t.until("the lease reaches its maxHold", () -> !lease.isHeld());
            long end = t.now();
            t.expectEqual("the release of a lost lease", ReleaseOutcome.ALREADY_LOST, lease.release());
            waits.get().release();
            best = Math.min(best, t.now() - end);
        }
        t.expect(
                best < longer.toNanos() / 4,
                "the owner of a lost lease had released it, and the next client waited for another "
                        + text(Duration.ofNanos(best)) + ", a quarter of the ttl, as if it had not");
    }
}
