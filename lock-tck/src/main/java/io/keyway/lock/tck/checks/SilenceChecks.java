// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Capacity;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.ClientLink.Silence;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.List;

/**
 * Rules 308, 403, 410, 501 to 504, 507, 509 and 513: a client that the store does not hear any more, as if it had died.
 */
final class SilenceChecks {
    private static final long MILLISECOND = 1_000_000;

    /** When the authority ends the grant at the earliest: a ttl after it was sent what belief is counted from. */
    private static long earliestEnd(CheckContext t, Lease lease) {
        long before = t.now();
        return before + lease.remaining().toNanos() + lease.ttl().toNanos() / 4;
    }

    @Check(rules = "LK-502 LK-513 LK-501", requires = Requirement.LINK)
    @Hint("When does the store end the grant of a holder that it does not hear: from its last renewal on, after one "
            + "ttl?")
    void aSilentHolderKeepsItsLockForItsTtlAndNoLonger(CheckContext t) throws Exception {
        Form plain = (client, name) -> client.lock(name).acquire();
        keepsItForItsTtlAndNoLonger(t, plain, plain);
    }

    @Check(rules = "LK-502 LK-513 LK-1203", requires = Requirement.LINK, needs = Feature.READ_WRITE)
    @Hint("Does a writer that waits shorten the ttls of those that read?")
    void aSilentReaderKeepsAWriterOutForItsTtlAndNoLonger(CheckContext t) throws Exception {
        keepsItForItsTtlAndNoLonger(
                t,
                (client, name) -> client.readWriteLock(name).read().acquire(),
                (client, name) -> client.readWriteLock(name).write().acquire());
    }

    @Check(rules = "LK-502 LK-513 LK-1301", requires = Requirement.LINK, needs = Feature.SEMAPHORE)
    @Hint("Does one that waits for permits shorten the ttls of those that have them?")
    void aSilentHolderKeepsItsPermitsForItsTtlAndNoLonger(CheckContext t) throws Exception {
        Form permit = (client, name) -> client.semaphore(name, Capacity.of(1)).acquire();
        keepsItForItsTtlAndNoLonger(t, permit, permit);
    }

    private interface Form {
        Lease take(LockClient client, String name) throws Exception;
    }

    private static void keepsItForItsTtlAndNoLonger(CheckContext t, Form first, Form second) throws Exception {
        for (int eighths = 2; eighths <= 6; eighths += 2) {
            String name = t.freshName();
            ClientLink link = t.link("silent" + eighths);
            LockClient next = t.client("next" + eighths);
            Lease lease = first.take(link.client(), name);
            // Renewed at some time, or not yet.
            t.pass(t.ttl(eighths, 8));
            t.expect(lease.isHeld(), "a lease was lost in quiet");
            long earliest = earliestEnd(t, lease);
            link.cut();
            Task<Lease> waits = t.start("the next client's acquire", () -> second.take(next, name));
            t.never(
                    !t.goesOnAt(earliest - t.ttl(1, 8).toNanos(), waits, earliest),
                    "the next client was granted the lock more than 1/8 of the ttl before that of the silent holder "
                            + "was over");
            t.never(
                    !t.goesOnAt(earliest - MILLISECOND, waits, earliest),
                    "the next client was granted the lock before the ttl of the silent holder, " + text(t.ttl())
                            + " from the last renewal that it was answered, was over");
            t.expectEnd(
                    t.ttl(1, 2),
                    waits,
                    "the lock of a holder that is not heard any more is not free half a ttl after its ttl, "
                            + text(t.ttl()) + ", was over");
            Lease after = waits.get();
            t.expect(!lease.isHeld(), "the silent holder believes, and another has the lock");
            link.heal();
            t.pass(t.ttl(1, 2));
            t.expect(after.isHeld(), "the former holder was heard again, and that ended the lease of the next one");
            after.release();
        }
    }

    @Check(rules = "LK-501 LK-503 LK-801", requires = Requirement.LINK)
    @Hint("What moves the deadline: an answer of the store, or the sending of a renewal?")
    void aHolderThatHearsNothingStopsInTime(CheckContext t) throws Exception {
        for (Silence silence : Silence.values()) {
            String name = t.freshName();
            ClientLink link = t.link(silence.role());
            Lease lease = link.client().lock(name).acquire();
            t.pass(t.ttl(5, 8));
            link.begin(silence);
            // Whatever was answered had been sent by now.
            t.passUntil(t.now() + lease.ttl().toNanos() * 3 / 4 + 1);
            t.expect(
                    !lease.isHeld(),
                    "3/4 of the ttl after the last answer that it can have heard a holder believes, with "
                            + text(lease.remaining()) + " remaining");
            t.expectEqual("the state", Lease.State.LOST, lease.state());
            t.expectLoss(LeaseLoss.Cause.EXPIRED, lease);
            link.end(silence);
            for (int i = 0; i < 6; i++) {
                t.pass(t.ttl(1, 4));
                t.expectEqual("the state of a lost lease after the link was healed", Lease.State.LOST, lease.state());
            }
            t.expectEqual("the release", ReleaseOutcome.ALREADY_LOST, lease.release());
            t.acquired("an acquire after the link was healed", link.client(), name)
                    .release();
        }
    }

    @Check(rules = "LK-509 LK-504", requires = Requirement.LINK)
    @Hint("Is DOUBTFUL computed, from 5/8 of the ttl after the last answered request on, and taken back by the next "
            + "answer?")
    void aHolderThatHearsNothingIsInDoubtFirst(CheckContext t) throws Exception {
        ClientLink link = t.link("silent");
        Lease lease = link.client().lock(t.name()).acquire();
        link.cut();
        boolean seen = false;
        for (int i = 0; i < 30 && lease.isHeld(); i++) {
            long before = t.now();
            Duration remaining = lease.remaining();
            Lease.State state = lease.state();
            boolean quick = t.now() - before < remaining.toNanos();
            if (quick && remaining.compareTo(lease.ttl().dividedBy(8)) <= 0) {
                t.expectEqual("the state with less than 1/8 of the ttl remaining", Lease.State.DOUBTFUL, state);
                t.expect(lease.isHeld() || t.now() - before >= remaining.toNanos(), "a DOUBTFUL lease is not held");
                seen = true;
                link.heal();
                break;
            }
            t.pass(t.ttl(1, 32));
        }
        if (seen && t.happens(t.ttl(1, 10), () -> !lease.isHeld() || lease.state() == Lease.State.HELD)) {
            t.expect(
                    !t.isVirtual() || lease.state() == Lease.State.HELD,
                    "the link was healed when 1/8 of the ttl remained, and the lease was lost");
        }
    }

    @Check(rules = "LK-507 LK-510", requires = Requirement.LINK)
    @Hint("Is a renewal that was not answered sent again before the deadline?")
    void aShortSilenceCostsNoLease(CheckContext t) throws Exception {
        ClientLink link = t.link("interrupted");
        Lease lease = link.client().lock(t.name()).acquire();
        for (int i = 1; i <= 8; i++) {
            t.pass(t.ttl(i, 9));
            link.cut();
            t.pass(t.ttl(1, 10));
            link.heal();
            t.expect(
                    lease.isHeld(),
                    "a silence of a tenth of the ttl has cost a lease; " + text(lease.remaining()) + " remaining");
            t.pass(t.ttl(1, 4));
        }
        t.expect(lease.isHeld(), "short silences, a quarter of the ttl apart, have cost a lease");
        t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
    }

    @Check(rules = "LK-510", requires = Requirement.LINK)
    @Hint("What happens when a connection ends: are grants or requests tied to it, at the client or at the store?")
    void aConnectionThatBreaksEndsNoLease(CheckContext t) throws Exception {
        t.needsGrantsThatOutlastConnections();
        ClientLink link = t.link("reset");
        LockClient rival = t.client("rival");
        Lease lease = link.client().lock(t.name()).acquire();
        Task<Lease> waits = t.acquiring("a rival's acquire", rival, t.name());
        t.untilWaiting(rival, t.name(), 1);
        for (int i = 0; i < 3; i++) {
            if (!link.reset()) {
                throw t.skipped(Verdict.NOT_RUN, "the subject cannot break a connection (TckSubject.Links.reset)");
            }
            t.pass(t.ttl(1, 2));
            t.expect(!waits.isDone(), "the holder's connection broke, and another client was granted the lock");
            t.expect(lease.isHeld(), "the holder's connection broke, and its lease ended");
        }
        t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
        waits.get().release();
    }

    @Check(rules = "LK-513 LK-1305", requires = Requirement.LINK, needs = Feature.SEMAPHORE)
    @Hint("Do permits come back when the store has not heard of their holder for a ttl?")
    void thePermitsOfASilentHolderComeBack(CheckContext t) throws Exception {
        ClientLink link = t.link("silent");
        link.client().semaphore(t.name(), Capacity.of(3)).acquire(2);
        DistributedSemaphore others = t.client("other").semaphore(t.name(), Capacity.of(3));
        Lease one = others.acquire();
        link.cut();
        t.expect(others.tryAcquire(1).isEmpty(), "three of three permits were out, and one more was granted");
        Lease two = t.call("the acquire of the silent holder's permits", () -> others.acquire(2));
        t.expect(one.isHeld() && two.isHeld(), "permits of others ended with those of a silent holder");
        t.expect(others.tryAcquire(1).isEmpty(), "the permits of a silent holder came back, and more than those");
        link.heal();
        t.pass(t.ttl());
        t.expect(one.isHeld() && two.isHeld(), "a silent holder was heard again, and permits of others ended");
    }

    @Check(rules = "LK-513 LK-1202", requires = Requirement.LINK, needs = Feature.READ_WRITE)
    @Hint("Is the share of a reader that is not heard any more ended, and only that?")
    void aSilentReaderIsNotInTheWayForEver(CheckContext t) throws Exception {
        ClientLink link = t.link("silent");
        link.client().readWriteLock(t.name()).read().acquire();
        LockClient other = t.client("other");
        Lease reader = other.readWriteLock(t.name()).read().acquire();
        link.cut();
        t.pass(t.ttl(3, 2));
        t.expect(reader.isHeld(), "a reader was lost with another one that was not heard any more");
        Task<Lease> writes =
                t.acquiring("the writer", other.readWriteLock(t.name()).write());
        t.pass(t.ttl(1, 2));
        t.expect(!writes.isDone(), "a writer was granted beside a reader");
        reader.release();
        writes.get().release();
        link.heal();
        t.pass(t.ttl());
    }

    @Check(rules = "LK-410 LK-408 LK-513", requires = Requirement.LINK)
    @Hint("Who notices that the first in the queue is not heard any more?")
    void aSilentWaiterStopsNobody(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient second = t.client("second");
        ClientLink link = t.link("silent");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> silent = t.acquiring("the silent waiter", link.client(), t.name());
        t.untilWaiting(holder, t.name(), 1);
        Task<Lease> stays = t.acquiring("the second waiter", second, t.name());
        t.untilWaiting(holder, t.name(), 2);
        link.cut();
        held.release();
        t.expectEnd(
                t.ttl().multipliedBy(2), stays, "a waiter that is not heard any more held up the next one for two ttl");
        Lease lease = stays.get();
        t.expect(!silent.isDone(), "a waiter was granted a lock over a link that is cut");
        if (t.has(Feature.LIST)) {
            t.until(
                    "the silent waiter is not shown any more, or waits again",
                    () -> t.status(holder, t.key(t.name())).waiters().size() <= 1);
        }
        link.heal();
        lease.release();
        // It has no time limit: it goes on when its link does.
        silent.get().release();
    }

    @Check(rules = "LK-308 LK-304", requires = Requirement.LINK)
    @Hint("Is the deadline of a grant that arrives late looked at before the caller gets the lease?")
    void aGrantThatArrivesLateIsNoLease(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        for (int eighths : List.of(2, 5, 7, 9, 12)) {
            String name = t.freshName();
            ClientLink link = t.link("late" + eighths);
            Lease held = holder.lock(name).acquire();
            Task<Boolean> waits = t.start("an acquire over a link that is slow", () -> {
                Lease lease = link.client().lock(name).acquire();
                boolean alive = lease.isHeld();
                lease.release();
                return alive;
            });
            t.untilWaiting(holder, name, 1);
            link.cut();
            held.release();
            t.pass(t.ttl(eighths, 8));
            link.heal();
            t.expect(
                    waits.get(),
                    "an acquire whose link was cut for " + eighths + "/8 of the ttl returned a lease that is not held");
        }
    }

    @Check(rules = "LK-403 LK-1505", requires = Requirement.WIRE)
    @Hint("Which call of the backend does an interrupt not end, or end with the interrupt lost? Such a backend must "
            + "not say that it is prompt().")
    void anInterruptEndsACallThatGetsNoAnswer(CheckContext t) throws Exception {
        LockClient next = t.client("next");
        // Not the end of a request is looked for.
        ClientOptions patient =
                ClientOptions.defaults().withRequestTimeout(t.patience().multipliedBy(3));
        ClientLink link = t.link("cut", patient);
        link.client().lock(t.name("before")).acquire().release();
        link.cut();
        Task<Lease> acquire = t.acquiring("an acquire that gets no answer", link.client(), t.name());
        t.pass(t.ttl(1, 4));
        t.expect(!acquire.isDone(), "an acquire ended while nothing was answered; it has no time limit");
        acquire.interrupt();
        boolean soon = t.endsWithin(t.ttl(1, 2), acquire);
        link.heal();
        t.expect(
                soon,
                "a thread was interrupted in an acquire that got no answer, and had not come back "
                        + text(t.isVirtual() ? t.ttl(1, 2) : t.patience()) + " later");
        t.expectType(
                "an acquire whose thread was interrupted",
                InterruptedException.class,
                acquire.outcome().orElseThrow(() -> t.failure("an acquire whose thread was interrupted returned")));
        t.expectAcquired(
                        t.ttl(5, 2),
                        "the acquire of another client",
                        next,
                        t.name(),
                        "an acquire whose thread was "
                                + "interrupted still stands in the way " + text(t.ttl(5, 2))
                                + " after the link was healed")
                .release();
        t.pass(t.ttl());
    }

    @Check(
            rules = "LK-410 LK-1203 LK-513",
            requires = Requirement.LINK,
            needs = {Feature.READ_WRITE, Feature.FIFO})
    @Hint("Are readers still kept out for the sake of a writer that waited, and is not heard any more?")
    void aSilentWriterThatWaitedKeepsNoReaderOut(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease read = holder.readWriteLock(t.name()).read().acquire();
        ClientLink link = t.link("silent");
        Task<Lease> writes = t.acquiring("the silent writer's acquire", link.client(), t.name());
        t.untilWaiting(holder, t.name(), 1);
        link.cut();
        LockClient other = t.client("other");
        Task<Lease> reads = t.acquiring(
                "the acquire of a reader behind it",
                other.readWriteLock(t.name()).read());
        t.expectEnd(
                t.ttl(3, 2),
                reads,
                "a writer that waited is not heard any more, and half a ttl after its ttl readers are still kept out");
        reads.get().release();
        read.release();
        link.heal();
        writes.outcome();
    }
}
