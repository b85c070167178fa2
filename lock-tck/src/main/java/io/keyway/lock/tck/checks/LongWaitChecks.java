// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.spi.Attempt;
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
import java.util.ArrayList;
import java.util.List;

/**
 * Rules 310, 410, 501, 502 and 513 of those that have asked more than once before their turn came, or before they fell
 * silent.
 */
final class LongWaitChecks {
    /**
     * When turns come, in sixteenths of a ttl after the first question. A turn that comes sooner is made good by the
     * first renewal.
     */
    private static final List<Integer> TURNS = List.of(9, 10, 11, 12);

    /** By then a waiter has asked several times. */
    private static Duration longWait(CheckContext t) {
        return t.ttl(3, 2);
    }

    @Check(rules = "LK-410 LK-408 LK-513", requires = Requirement.LINK, from = Profile.SMOKE)
    @Hint("Does a repeated attempt write the place of a waiter with its ttl again, or without any?")
    void aSilentWaiterThatAskedOftenStopsNobody(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient second = t.client("second");
        ClientLink link = t.link("silent");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> silent = t.acquiring("the silent waiter", link.client(), t.name());
        t.untilWaiting(holder, t.name(), 1);
        Task<Lease> stays = t.acquiring("the second waiter", second, t.name());
        t.pass(longWait(t));
        link.cut();
        held.release();
        t.expectEnd(
                t.ttl().multipliedBy(2),
                stays,
                "a waiter that had asked for " + text(longWait(t))
                        + " and is not heard any more held up the next one for two ttl");
        stays.get().release();
        link.heal();
        // It has no time limit: it goes on when its link does.
        silent.get().release();
    }

    @Check(rules = "LK-513 LK-502", requires = Requirement.LINK, from = Profile.SMOKE)
    @Hint("Has the grant of one that had waited for long a ttl, as that of one that had not?")
    void aSilentHolderThatHadWaitedLongIsOver(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient next = t.client("next");
        ClientLink link = t.link("silent");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> waits = t.acquiring("the acquire of one that waits for long", link.client(), t.name());
        t.pass(longWait(t));
        held.release();
        Lease silent = waits.get();
        link.cut();
        Task<Lease> takes = t.acquiring("the next client's acquire", next, t.name());
        t.expectEnd(
                t.ttl().multipliedBy(2),
                takes,
                "a holder that had waited for " + text(longWait(t))
                        + " is not heard any more, and two ttl later its lock is not free");
        t.never(silent.isHeld(), "the silent holder believes, and another has the lock");
        takes.get().release();
        link.heal();
        t.pass(t.ttl());
    }

    @Check(rules = "LK-501 LK-302 LK-502", needs = Feature.WAKE_UP)
    @Hint("If the store tells unasked that a turn has come (Signals.granted): does the age say when the ttl of that "
            + "grant began, at the last attempt of its place?")
    void aTurnThatComesLateMakesNoTwoBelieve(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient rival = t.client("rival");
        List<Lease> held = new ArrayList<>();
        List<Task<Lease>> waiting = new ArrayList<>();
        List<String> names = new ArrayList<>();
        long begun = t.now();
        for (int turn : TURNS) {
            String name = t.freshName();
            names.add(name);
            held.add(holder.lock(name).acquire());
            // Leases of one client would be renewed together, before their time.
            LockClient waiter = t.client("waiter-" + turn);
            waiting.add(t.start(
                    "the acquire of a lease that nobody renews",
                    () -> waiter.lock(name).with(t.unrenewed()).acquire()));
            t.untilWaiting(holder, name, 1);
        }
        List<Task<Lease>> behind = new ArrayList<>();
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            t.passUntil(begun + t.ttl(TURNS.get(i), 16).toNanos());
            held.get(i).release();
            leases.add(waiting.get(i).get());
            behind.add(t.acquiring("the rival's acquire", rival, names.get(i)));
        }
        for (int i = 0; i < behind.size(); i++) {
            Lease after = behind.get(i).get();
            t.never(
                    leases.get(i).isHeld(),
                    "a lease that nobody renews, and that had to wait for its turn, is believed to be held for another "
                            + text(leases.get(i).remaining()) + ", and a rival has the lock");
            after.release();
        }
    }

    @Check(rules = "LK-310 LK-1501 LK-1507", needs = Feature.FIFO)
    @Hint("How long does a place last from its last attempt, and how much of that is left at the end of "
            + "recheckWithin? A quarter of the ttl at most leaves time for attempts that fail")
    void aPlaceOutlastsAnAttemptThatFails(CheckContext t) throws Exception {
        BackendProbe early = t.probe("early");
        BackendProbe late = t.probe("late");
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Request first = early.request(t.name(), t.ttl());
        Attempt answer = early.attempt(first);
        if (!(answer instanceof Attempt.Waiting waiting)) {
            throw t.failure("an attempt of a lock that is held came to " + answer);
        }
        Request second = late.request(t.name(), t.ttl());
        // The next attempt comes when it was said to, and fails; the one after it a moment later.
        t.pass(waiting.recheckWithin().plus(t.ttl(1, 16)));
        t.neverWhile(held, late.isGranted(second), "a lock that is held was granted again");
        t.pass(t.ttl(1, 16));
        held.release();
        t.expect(
                !late.isGranted(second),
                "a waiter was to ask again within " + text(waiting.recheckWithin()) + ", and "
                        + text(t.ttl(1, 8))
                        + " after that, an attempt having failed, who came later was granted before it: its place "
                        + "was lost, its ttl being "
                        + text(t.ttl()));
        early.release(early.grantedInTime(first, "the first in the queue was not granted, and the lock is free"));
        late.withdraw(second);
    }
}
