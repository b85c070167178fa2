// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Election;
import io.keyway.lock.ElectionEvent;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/** Rules 1801 to 1810: leaders and candidates; for who looks on and hands over see {@link ElectionAdminChecks}. */
final class ElectionChecks {
    static Election election(CheckContext t, LockClient client) {
        return t.subject().elections().over(client, LockName.of(t.name()));
    }

    static void leads(CheckContext t, String who, Candidacy candidacy) throws InterruptedException {
        t.until(who + " leads", candidacy::isLeading);
    }

    static void ends(Candidacy... all) {
        for (Candidacy one : all) {
            one.close();
        }
    }

    private static List<ElectionEvent> of(List<ElectionEvent> events, ElectionEvent.Type type) {
        return events.stream().filter(event -> event.type() == type).toList();
    }

    static long token(CheckContext t, Candidacy leader) {
        return leader.leadership()
                .map(Lease::token)
                .orElseThrow(() -> t.failure("a candidate that leads has no lease of its leadership"));
    }

    @Check(rules = "LK-1801 LK-1802", from = Profile.SMOKE)
    @Hint("Is leading more than to believe in the lease of the election's lock?")
    void oneOfTheCandidatesLeadsAndThenTheNext(CheckContext t) throws Exception {
        Candidacy first = election(t, t.client("first")).stand();
        leads(t, "the only candidate", first);
        Candidacy second = election(t, t.client("second")).stand();
        t.pass(t.ttl());
        t.never(
                first.isLeading() && second.isLeading() && first.isLeading(),
                "two candidates of one election lead at once");
        t.expect(first.isLeading(), "a leader whose lease is renewed does not lead when a second candidate stands");
        t.expectTaken(t.client("other"), "the lock of an election that has a leader was granted to somebody else");
        long token = token(t, first);
        first.close();
        t.expect(!first.isLeading(), "a candidate leads after its close");
        leads(t, "the second candidate, after the close of the first", second);
        if (t.has(Feature.FENCING)) {
            t.expect(
                    token(t, second) > token,
                    "the token of the next leader, " + token(t, second) + ", is not higher than " + token);
        }
        second.close();
        t.expectFreeSoon(t.client("next"), t.name(), "all candidates are closed, and the election's lock is not free");
    }

    @Check(rules = "LK-1801 LK-1805", requires = Requirement.LINK)
    @Hint("Does a leader that hears nothing stop to lead by its own clock?")
    void aLeaderThatIsCutOffLeadsNoLongerThanItsLease(CheckContext t) throws Exception {
        ClientLink link = t.link("cut");
        Candidacy first = election(t, link.client()).stand();
        leads(t, "the only candidate", first);
        Candidacy second = election(t, t.client("second")).stand();
        t.pass(t.ttl(1, 4));
        link.cut();
        t.until("a candidate leads when the leader is cut off", () -> {
            boolean before = first.isLeading();
            boolean both = second.isLeading() && first.isLeading();
            t.never(before && both, "a leader that is cut off leads still, and another candidate does");
            return second.isLeading();
        });
        t.expect(!first.isLeading(), "a leader that is cut off leads still, and another candidate does");
        link.heal();
        t.pass(t.ttl(1, 2));
        t.expect(!first.isLeading() || !second.isLeading(), "two candidates of one election lead at once");
        second.close();
        leads(t, "a candidate that was cut off, healed, and alone again,", first);
        first.close();
    }

    @Check(rules = "LK-1803 LK-1802", from = Profile.SMOKE)
    @Hint("Is each event told once, in order, and with the token of its leadership?")
    void eachLeadershipIsToldFromItsBeginningToItsEnd(CheckContext t) throws Exception {
        List<ElectionEvent> events = new CopyOnWriteArrayList<>();
        LockClient client = t.client("candidate");
        Candidacy candidacy = election(t, client).as("the one").stand(events::add);
        List<Long> tokens = new ArrayList<>();
        leads(t, "the only candidate", candidacy);
        tokens.add(token(t, candidacy));
        candidacy.surrender();
        t.expect(!candidacy.isLeading(), "a candidate that has surrendered leads");
        leads(t, "the only candidate, after its surrender,", candidacy);
        tokens.add(token(t, candidacy));
        boolean breaks = t.has(Feature.BREAK);
        if (breaks) {
            t.client("operator").admin().breakLease(t.key(t.name()), tokens.get(1), "of the check");
            t.until(
                    "a leader whose lease was broken is told",
                    () -> of(events, ElectionEvent.Type.SURRENDERED).size() == 2);
            leads(t, "the only candidate, after its lease was broken,", candidacy);
            tokens.add(token(t, candidacy));
        }
        candidacy.close();
        t.until(
                "a candidate that was closed is told",
                () -> of(events, ElectionEvent.Type.SURRENDERED).size() == tokens.size());
        t.pass(t.ttl(1, 2));
        List<ElectionEvent> ends = new ArrayList<>(events);
        ends.removeIf(
                event -> event.type() == ElectionEvent.Type.UNCERTAIN || event.type() == ElectionEvent.Type.CERTAIN);
        List<String> told = ends.stream()
                .map(event -> event.type() + " " + event.leader() + " "
                        + event.token().orElse(-1))
                .toList();
        List<String> expected = new ArrayList<>();
        for (long token : tokens) {
            expected.add("ELECTED the one " + token);
            expected.add("SURRENDERED the one " + token);
        }
        t.expectEqual("what a candidate was told", expected, told);
        for (int i = 0; i < tokens.size(); i++) {
            boolean broken = breaks && i == 1;
            t.expectEqual(
                    "whether SURRENDERED number " + (i + 1) + " has a loss",
                    broken,
                    ends.get(2 * i + 1).loss().isPresent());
        }
        if (breaks) {
            t.expectEqual(
                    "the cause of the loss that was told",
                    LeaseLoss.Cause.BROKEN,
                    ends.get(3).loss().orElseThrow().cause());
        }
    }

    @Check(rules = "LK-1804", requires = Requirement.LINK)
    @Hint("Are the doubt of the lease and its end passed on to the candidate?")
    void aLeaderIsToldOfDoubtAndOfItsEnd(CheckContext t) throws Exception {
        List<ElectionEvent> events = new CopyOnWriteArrayList<>();
        ClientLink link = t.link("leader");
        Candidacy leader = election(t, link.client()).stand(events::add);
        leads(t, "the only candidate", leader);
        t.pass(t.ttl(1, 4));
        link.cut();
        t.until(
                "a leader that hears nothing is told UNCERTAIN",
                () -> !of(events, ElectionEvent.Type.UNCERTAIN).isEmpty());
        boolean led = leader.isLeading();
        link.heal();
        t.until(
                "a leader that hears something again is told CERTAIN, or of its loss",
                () -> !of(events, ElectionEvent.Type.CERTAIN).isEmpty()
                        || !of(events, ElectionEvent.Type.SURRENDERED).isEmpty());
        t.note(led ? "led while it was uncertain" : "was lost while it was uncertain");
        leader.close();
    }

    @Check(rules = "LK-1805", needs = Feature.BREAK)
    @Hint("What does a candidate do when its leadership has ended?")
    void aDeposedLeaderStandsAgain(CheckContext t) throws Exception {
        Candidacy first = election(t, t.client("first")).stand();
        leads(t, "the only candidate", first);
        Candidacy second = election(t, t.client("second")).stand();
        t.untilWaiting(t.client("operator"), t.name(), 1);
        t.client("operator").admin().breakLease(t.key(t.name()), token(t, first), "of the check");
        leads(t, "the second candidate, after the lease of the first was broken,", second);
        t.expect(!first.isLeading(), "a leader whose lease was broken leads, and another candidate does");
        second.close();
        leads(t, "a leader that was deposed, once it is alone again,", first);
        first.close();
    }

    @Check(rules = "LK-1805", from = Profile.SMOKE)
    @Hint("Is the request of a candidate that waits withdrawn by its close?")
    void aCandidateThatIsClosedLeavesNothing(CheckContext t) throws Exception {
        LockClient client = t.client("candidate");
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Candidacy waits = election(t, client).stand();
        t.untilWaiting(holder, t.name(), 1);
        waits.close();
        t.until(
                "ended() of a closed candidacy completes",
                () -> waits.ended().toCompletableFuture().isDone());
        held.release();
        Lease free = t.takesSoon(holder, t.name(), "a candidate was closed while it waited, and the lock is not free");
        t.pass(t.ttl(5, 4));
        t.expect(free.isHeld(), "a candidate that had been closed was granted the lock");
        t.expect(!waits.isLeading(), "a candidate that was closed leads");
        free.release();
    }

    @Check(rules = "LK-1806", from = Profile.SMOKE)
    @Hint("Is the lock given back before the listener has been told?")
    void aListenerIsToldBeforeALeadershipThatIsGivenUpGoesOn(CheckContext t) throws Exception {
        LockClient other = t.connected("other");
        LockClient client = t.client("candidate");
        isToldFirst(t, client, other, "surrendered", Candidacy::surrender);
        isToldFirst(
                t,
                client,
                other,
                "released its lease",
                each -> each.leadership().ifPresent(Lease::release));
        isToldFirst(
                t,
                client,
                other,
                "released its lease in the background",
                each -> each.leadership().ifPresent(Lease::releaseAsync));
        isToldFirst(t, client, other, "was closed", Candidacy::close);
    }

    private static void isToldFirst(
            CheckContext t, LockClient client, LockClient other, String what, Consumer<Candidacy> end)
            throws Exception {
        String name = t.freshName();
        AtomicReference<Boolean> taken = new AtomicReference<>();
        AtomicLong took = new AtomicLong();
        AtomicInteger failed = new AtomicInteger();
        Election election =
                t.subject().elections().over(client, LockName.of(name)).with(lasting(t));
        Candidacy candidacy = election.stand(event -> {
            if (event.type() == ElectionEvent.Type.SURRENDERED && taken.get() == null) {
                long asked = t.now();
                try {
                    Optional<Lease> lease = other.lock(name).tryAcquire();
                    took.set(t.now() - asked);
                    taken.set(lease.isEmpty());
                    lease.ifPresent(Lease::releaseAsync);
                } catch (InterruptedException | RuntimeException e) {
                    failed.incrementAndGet();
                }
            }
        });
        leads(t, "the only candidate", candidacy);
        Task<Boolean> ends = t.start("the end of a leadership that " + what, () -> end.accept(candidacy));
        t.until("a candidate that " + what + " is notified", () -> taken.get() != null || failed.get() > 0);
        ends.get();
        candidacy.close();
        t.expectEqual("failures of another client's attempt", 0, failed.get());
        if (!Boolean.TRUE.equals(taken.get())) {
            isInTime(t, took.get());
        }
        t.expect(
                Boolean.TRUE.equals(taken.get()),
                "when a candidate that " + what + " was notified another client was granted the lock already");
    }

    /** A listener is waited for no longer than a quarter of the ttl, in which one question is to be answered. */
    static LockOptions lasting(CheckContext t) {
        return LockOptions.none().withTtl(t.longer(4));
    }

    /** Gives the check up if the question of a listener took longer than listeners are waited for. */
    static void isInTime(CheckContext t, long took) {
        if (took > t.longer(4).dividedBy(5).toNanos()) {
            throw t.skipped(
                    Verdict.INCONCLUSIVE,
                    "a question to the store took " + text(Duration.ofNanos(took))
                            + ", and a listener is waited for no longer than a quarter of the ttl, which is "
                            + text(t.longer(4)) + "; --time-factor makes it longer");
        }
    }

    @Check(rules = "LK-1810", needs = Feature.BREAK, from = Profile.SMOKE)
    @Hint("What happens to the work of lead() when the leadership is lost?")
    void workIsInterruptedByALossAndDoneAgain(CheckContext t) throws Exception {
        List<Lease> terms = new CopyOnWriteArrayList<>();
        AtomicInteger interrupts = new AtomicInteger();
        CountDownLatch never = new CountDownLatch(1);
        Election election = election(t, t.client("leader"));
        Task<String> leads = t.start(
                "lead()",
                () -> election.lead(lease -> {
                    t.expect(lease.isHeld(), "work is run that does not lead");
                    terms.add(lease);
                    if (terms.size() == 1) {
                        try {
                            never.await();
                        } catch (InterruptedException e) {
                            interrupts.incrementAndGet();
                            return "the result of a lost leadership";
                        }
                    }
                    return "the result";
                }));
        t.until("the work of the only candidate begins", () -> !terms.isEmpty());
        t.client("operator").admin().breakLease(t.key(t.name()), terms.get(0).token(), "of the check");
        boolean ended = t.happens(t.patience(), leads::isDone);
        never.countDown();
        t.expect(
                ended,
                interrupts.get() == 0
                        ? "the lease of a leader was broken, and its work was not interrupted"
                        : "the work of a leader that was deposed has ended, and it was not elected again");
        t.expectEqual("what lead() returned", "the result", leads.get());
        t.expectEqual("how often the work was interrupted", 1, interrupts.get());
        t.expectEqual("how often the work was begun", 2, terms.size());
        t.expect(!leads.interruptedAtEnd(), "the interrupt that was for the work outlived it");
        t.expectFreeSoon(t.client("next"), t.name(), "lead() has returned, and the election's lock is not free");
    }

    @Check(rules = "LK-1810", needs = Feature.BREAK)
    @Hint("Does lead() stand again as soon as the leadership is lost, or when its work has ended?")
    void whoseWorkGoesOnDoesNotStandAgain(CheckContext t) throws Exception {
        List<Lease> terms = new CopyOnWriteArrayList<>();
        CountDownLatch ends = new CountDownLatch(1);
        Election election = election(t, t.client("leader"));
        LockClient next = t.client("next");
        Task<String> leads = t.start(
                "lead() whose work hears of no interrupt",
                () -> election.lead(lease -> {
                    terms.add(lease);
                    while (terms.size() == 1 && ends.getCount() > 0) {
                        try {
                            ends.await();
                        } catch (InterruptedException e) {
                            // Not heeded.
                        }
                    }
                    return "the result";
                }));
        try {
            t.until("the work of the only candidate begins", () -> !terms.isEmpty());
            t.client("operator")
                    .admin()
                    .breakLease(t.key(t.name()), terms.get(0).token(), "of the check");
            t.pass(t.ttl(1, 4));
            Lease free = t.takesSoon(
                    next,
                    t.name(),
                    "a leader was deposed, and its work goes on, and nobody else gets the lock: does it lead again?");
            t.pass(t.ttl(1, 4));
            free.release();
        } finally {
            ends.countDown();
        }
        t.expectEqual("what lead() returned", "the result", leads.get());
        t.expectEqual("how often the work was begun", 2, terms.size());
    }

    @Check(rules = "LK-1810 LK-403")
    @Hint("Does lead() leave the election when its thread is interrupted, or its work throws?")
    void whoStopsToLeadLeavesTheElection(CheckContext t) throws Exception {
        Election election = election(t, t.client("leader"));
        LockClient next = t.client("next");
        IllegalStateException own = new IllegalStateException("of the work");
        Task<String> throwing = t.start(
                "lead() whose work throws",
                () -> election.lead(lease -> {
                    throw own;
                }));
        t.expect(throwing.outcome().orElse(null) == own, "lead() did not throw what its work threw while it led");
        Lease held = t.takesSoon(next, t.name(), "the work of a leader has thrown, and the lock is not free");
        Task<String> waits = t.start("lead() of an interrupted thread", () -> election.lead(lease -> "led"));
        t.untilWaiting(next, t.name(), 1);
        waits.interrupt();
        t.expect(
                waits.outcome().orElse(null) instanceof InterruptedException,
                "a thread that waited to lead was interrupted, and lead() did not throw InterruptedException");
        held.release();
        t.expectFreeSoon(next, t.name(), "a thread that waited to lead was interrupted, and the lock is not free");
    }
}
