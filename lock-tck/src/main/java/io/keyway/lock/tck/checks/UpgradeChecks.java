// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
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
import java.util.Optional;

/** Rules 1204 to 1206: a reader becomes the writer, and back. */
final class UpgradeChecks {
    @Check(
            rules = "LK-1204 LK-602",
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            from = Profile.SMOKE)
    @Hint("Does the grant change its mode in one step, and get a new token?")
    void theOnlyReaderBecomesTheWriter(CheckContext t) throws Exception {
        LockClient client = t.client("reader");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Optional<Lease> upgraded = lock.tryUpgrade(read, Duration.ZERO);
        t.expect(upgraded.isPresent(), "the only reader was refused the upgrade");
        Lease write = upgraded.orElseThrow();
        t.expectEqual("the mode after the upgrade", LockMode.EXCLUSIVE, write.mode());
        t.expect(write.isHeld(), "the lease of a successful upgrade is not held");
        t.expectEqual("the state of the read lease after the upgrade", Lease.State.RELEASED, read.state());
        t.expect(write.token() != read.token(), "the upgrade kept the token of the read lease");
        t.expectTaken(
                t.client("other").readWriteLock(t.name()).read(),
                "another reader was admitted beside the upgraded writer");
        t.pass(t.ttl(3, 2));
        t.expect(write.isHeld(), "the upgraded lease was lost within 3/2 ttl: is it renewed?");
        write.release();
        t.expectFree(t.client("next"), "the upgraded lease was released, and the lock is not free");
    }

    @Check(
            rules = "LK-1205 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            from = Profile.SMOKE)
    @Hint("Does the upgrade touch the read grant before it is granted?")
    void anUpgradeThatIsRefusedLeavesTheReadLease(CheckContext t) throws Exception {
        DistributedReadWriteLock lock = t.client("reader").readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Lease other = t.client("other").readWriteLock(t.name()).read().acquire();
        t.expect(lock.tryUpgrade(read, Duration.ZERO).isEmpty(), "a reader became the writer beside another reader");
        t.expect(read.isHeld(), "a refused upgrade ended the read lease");
        Task<Optional<Lease>> waits = t.start("an upgrade that waits", () -> lock.tryUpgrade(read, t.ttl(1, 2)));
        t.expect(waits.get().isEmpty(), "a reader became the writer beside another reader");
        t.pass(t.ttl(1, 16));
        t.expectFree(
                t.client("third").readWriteLock(t.name()).read(),
                "after an upgrade that timed out a further reader is refused");
        t.pass(t.ttl(3, 2));
        t.expect(read.isHeld() && other.isHeld(), "an upgrade that timed out ended a read lease");
        read.release();
        other.release();
    }

    @Check(
            rules = "LK-1205 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Is the request refused because of the one before it, whose withdrawal is under way?")
    void anUpgradeThatWasGivenUpMayBeAskedForAgainAtOnce(CheckContext t) throws Exception {
        DistributedReadWriteLock lock = t.client("reader").readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Lease other = t.client("other").readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> again = t.start("the upgrade that is asked for again", () -> {
            t.expect(lock.tryUpgrade(read, t.ttl(1, 8)).isEmpty(), "a reader became the writer beside another reader");
            return lock.tryUpgrade(read, t.patience());
        });
        t.pass(t.ttl(1, 2));
        t.expect(!again.isDone(), "an upgrade was answered at once, after one that was given up, and did not wait");
        other.release();
        Optional<Lease> write = again.get();
        t.expect(write.isPresent(), "an upgrade after one that was given up did not get the lock, which is free");
        write.orElseThrow().release();
    }

    @Check(
            rules = "LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            from = Profile.SMOKE)
    @Hint("Is a second upgrade of the same lock refused while the first one waits?")
    void ofTwoUpgradesAtMostOneSucceedsAndNoneHangs(CheckContext t) throws Exception {
        DistributedReadWriteLock one = t.client("one").readWriteLock(t.name());
        DistributedReadWriteLock two = t.client("two").readWriteLock(t.name());
        Lease first = one.read().acquire();
        Lease second = two.read().acquire();
        Task<Optional<Lease>> a = t.start("the first upgrade", () -> upgradeOrLeave(one, first, t.patience()));
        t.pass(t.ttl(1, 4));
        Task<Optional<Lease>> b = t.start("the second upgrade", () -> upgradeOrLeave(two, second, t.patience()));
        t.expectWithin(
                t.patience().dividedBy(2),
                "two upgrades of one lock wait for each other; one should be refused at once",
                () -> a.isDone() || b.isDone());
        Optional<Lease> won = a.get();
        Optional<Lease> lost = b.get();
        t.expect(won.isPresent() || lost.isPresent(), "of two upgrades, of which the refused one left, none succeeded");
        t.expect(
                !(won.isPresent() && lost.isPresent())
                        || !won.orElseThrow().isHeld()
                        || !lost.orElseThrow().isHeld(),
                "both upgrades hold the lock");
        won.ifPresent(Lease::close);
        lost.ifPresent(Lease::close);
    }

    private static Optional<Lease> upgradeOrLeave(DistributedReadWriteLock lock, Lease read, Duration wait)
            throws InterruptedException {
        Optional<Lease> upgraded = lock.tryUpgrade(read, wait);
        if (upgraded.isEmpty()) {
            read.release();
        }
        // The other one can have it now.
        upgraded.ifPresent(Lease::release);
        return upgraded;
    }

    @Check(
            rules = "LK-1206",
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            from = Profile.SMOKE)
    @Hint("Is a downgrade a release and an acquire, or one step?")
    void aDowngradeLetsNoWriterIn(CheckContext t) throws Exception {
        LockClient client = t.client("writer");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease write = lock.write().acquire();
        LockClient other = t.client("other");
        Task<Lease> waits = t.acquiring("another writer's acquire", other, t.name());
        t.untilWaiting(client, t.name(), 1);
        Lease read = lock.downgrade(write);
        t.expectEqual("the mode after the downgrade", LockMode.SHARED, read.mode());
        t.expect(read.isHeld(), "the lease of a downgrade is not held");
        t.expectEqual("the state of the write lease after the downgrade", Lease.State.RELEASED, write.state());
        t.pass(t.ttl(3, 2));
        t.expect(!waits.isDone(), "another writer was admitted at a downgrade, beside the reader that it made");
        t.expect(read.isHeld(), "the lease of a downgrade was lost within 3/2 ttl: is it renewed?");
        read.release();
        waits.get().release();
    }

    @Check(
            rules = "LK-1206 LK-1202",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Are readers told that the writer has become a reader?")
    void aDowngradeLetsReadersIn(CheckContext t) throws Exception {
        LockClient client = t.client("writer");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease write = lock.write().acquire();
        LockClient other = t.client("other");
        Task<Lease> waits =
                t.acquiring("a reader's acquire", other.readWriteLock(t.name()).read());
        t.untilWaiting(client, t.name(), 1);
        Lease read = lock.downgrade(write);
        Lease beside = waits.get();
        t.expect(read.isHeld() && beside.isHeld(), "after a downgrade the two readers do not hold together");
        read.release();
        beside.release();
    }

    @Check(
            rules = "LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Does an upgrade stand behind the queue? Its own read grant is in the way of all that wait there.")
    void anUpgradeDoesNotWaitForWhoWaitsForItsReader(CheckContext t) throws Exception {
        LockClient reader = t.client("reader");
        LockClient writer = t.client("writer");
        DistributedReadWriteLock lock = reader.readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Task<Lease> waits = t.acquiring("a writer's acquire", writer, t.name());
        t.untilWaiting(reader, t.name(), 1);
        Lease upgraded = t.expectGranted(
                t.call("the only reader's upgrade", () -> lock.tryUpgrade(read, t.patience())),
                "a writer waits for the only reader, and "
                        + "that waited in vain for its upgrade: each waits for the "
                        + "other");
        upgraded.release();
        waits.get().release();
    }

    @Check(
            rules = "LK-410 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE},
            requires = Requirement.LINK)
    @Hint("Does the wait for an upgrade end with the read grant it was for, and with its own ttl?")
    void theUpgradeOfASilentReaderStopsNobody(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        ClientLink link = t.link("silent");
        DistributedReadWriteLock silent = link.client().readWriteLock(t.name());
        Lease read = silent.read().acquire();
        Lease beside = other.readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> upgrade =
                t.start("an upgrade over a link that is cut", () -> silent.tryUpgrade(read, t.patience()));
        t.pass(t.ttl(1, 4));
        t.expect(!upgrade.isDone(), "a reader waits for its upgrade beside another reader, and its wait ended");
        link.cut();
        Task<Lease> third = t.start(
                "a further reader's acquire",
                () -> t.client("third").readWriteLock(t.name()).read().acquire());
        t.expectEnd(
                t.ttl().multipliedBy(2),
                third,
                "a reader that waited for its upgrade is not heard any more, and for two ttl nobody was admitted");
        third.get().release();
        Lease won = t.expectGranted(
                other.readWriteLock(t.name()).tryUpgrade(beside, t.patience()),
                "a reader that waited for its upgrade has died, and another's upgrade is refused");
        link.heal();
        upgrade.outcome();
        t.pass(t.ttl(1, 4));
        t.expect(won.isHeld(), "the upgrade of a reader that had died ended the lease of the writer");
        won.release();
    }

    @Check(
            rules = "LK-1205 LK-1402",
            needs = {Feature.READ_WRITE, Feature.UPGRADE})
    @Hint("Does the store know what an upgraded grant was before, for as long as its client has not shown by a "
            + "renewal that it knows?")
    void anUpgradeThatIsWithdrawnUnheardLeavesTheReadGrant(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("reader");
        LockClient other = t.client("other");
        Grant read = probe.take(t.name(), LockMode.SHARED, t.longer(4));
        Request wanted = probe.request(t.name(), t.longer(4));
        Attempt upgraded = probe.convert(read, wanted);
        t.expect(upgraded instanceof Attempt.Granted, "the upgrade of the only reader came to " + upgraded);
        // As an engine does that has lost the answers.
        probe.withdraw(wanted);
        probe.withdraw(wanted);
        t.expectEqual(
                "the answer to a renewal of the read grant, after an upgrade that had been granted was withdrawn,",
                List.of(Answer.DONE),
                probe.renew(List.of(read)));
        t.expectTaken(
                other, "an upgrade that had been granted was withdrawn, and a writer was admitted beside the reader");
        DistributedLock reads = other.readWriteLock(t.name()).read();
        t.expectWithin(
                t.ttl(1, 2),
                "an upgrade that had been granted was withdrawn, and other readers are still refused",
                () -> isAdmitted(reads));
        t.expectEqual("the answer to the release of the read grant", Answer.DONE, probe.release(read));
        t.expectFreeSoon(other, t.name(), "the reader whose upgrade was withdrawn has left, and the lock is taken");
    }

    private static boolean isAdmitted(DistributedLock lock) throws InterruptedException {
        Optional<Lease> lease = lock.tryAcquire();
        lease.ifPresent(Lease::close);
        return lease.isPresent();
    }

    @Check(
            rules = "LK-1101 LK-1204",
            needs = {Feature.READ_WRITE, Feature.UPGRADE, Feature.LIST})
    @Hint("Is a reader that waits to become the writer kept apart from the queue, and forgotten when it is shown?")
    void anUpgradeThatWaitsIsShown(CheckContext t) throws Exception {
        LockClient client = t.client("waits");
        LockClient other = t.client("other");
        DistributedReadWriteLock lock = client.readWriteLock(t.name());
        Lease read = lock.read().acquire();
        Lease beside = other.readWriteLock(t.name()).read().acquire();
        Task<Optional<Lease>> upgrade = t.start(
                "an upgrade that waits",
                () -> lock.tryUpgrade(read, t.patience().multipliedBy(2)));
        boolean shown = t.happens(
                t.patience(),
                () -> t.status(other, t.key(t.name())).waiters().stream()
                        .anyMatch(waiter -> waiter.mode() == LockMode.EXCLUSIVE
                                && waiter.client().equals(client.name())));
        LockStatus status = t.status(other, t.key(t.name()));
        t.expect(shown, "a reader waits for its upgrade, and is not shown among those that wait: " + status);
        t.expectEqual(
                "the number of holders shown while one of two readers waits for its upgrade",
                2,
                status.holders().size());
        beside.release();
        upgrade.get().orElseThrow().release();
    }
}
