// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.CheckSteps.surely;
import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Rules 502, 513 and 701: how long the store keeps a grant of which it hears nothing, asked of the verbs of a {@code
 * LockBackend}. That a ttl was too short is certain however slow the machine, since a client sees it longer than it
 * was. Where grants live on with their client's session no ttl ends while its link stands.
 */
final class TermChecks {
    private static final int TIMES = 6;

    /** Of so many ttls no grant is left that ends by itself, unless the store has a least term. */
    private static final int LONG = 5;

    private record Begun(Grant grant, long sent, boolean again) {}

    @Check(rules = "LK-502 LK-309", from = Profile.SMOKE)
    @Hint("Does the store keep the ttl that was asked for as it is, or rounded to seconds, cut, or less a reserve?")
    void aGrantLastsForAllOfItsTerm(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("silent");
        LockClient rival = t.connected("rival");
        // Whoever counts in seconds makes it shorter.
        Duration seconds = Duration.ofSeconds(t.ttl().plusMillis(550).toSeconds());
        Duration term = t.granted(seconds.plusMillis(450));
        long sent = t.now();
        Grant grant = probe.take(t.name(), term);
        isNotFreeBefore(t, rival, sent, term, "its attempt");
        probe.release(grant);
    }

    @Check(rules = "LK-502 LK-506")
    @Hint("Is each of several grants that are renewed by one message extended by the ttl of its own request?")
    void aRenewalAmongOthersExtendsByItsOwnTerm(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("silent");
        LockClient rival = t.connected("rival");
        Duration term = t.longer(2);
        Grant brief = probe.take(t.name("brief"), t.ttl());
        Grant grant = probe.take(t.name(), term);
        long sent = t.now();
        t.expectEqual(
                "the answers to two renewals in one call",
                List.of(Answer.DONE, Answer.DONE),
                probe.renew(brief, grant));
        isNotFreeBefore(t, rival, sent, term, "its renewal beside one of a shorter ttl");
        probe.release(grant);
    }

    @Check(rules = "LK-502 LK-309", from = Profile.FULL, limits = 2)
    @Hint("Is there a longest ttl in the store, below the maxTtl of Guarantees, to which longer ones are cut, or a "
            + "fixed one for renewals?")
    void aLongTermIsNotCut(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("silent");
        LockClient rival = t.client("rival");
        // A store that restarts may be closed for the longest ttl that it has granted.
        boolean restarts = t.subject().kill().isPresent();
        Duration term = t.granted(t.isVirtual() ? LockOptions.MAX_TTL : Duration.ofSeconds(restarts ? 16 : 90));
        Grant grant = probe.take(t.name(), term);
        Grant renewed = probe.take(t.name("renewed"), term);
        long sent = t.now();
        probe.renew(renewed);
        t.passUntil(sent + term.toNanos() * 3 / 4);
        for (Grant each : List.of(grant, renewed)) {
            boolean free = rival.lock(each.key().name()).tryAcquire().isPresent();
            t.neverBefore(
                    sent + surely(term) - Duration.ofSeconds(1).toNanos(),
                    free,
                    "a grant with a ttl of " + text(term)
                            + (each.equals(renewed) ? ", which was renewed," : "")
                            + " was over when 3/4 of that had passed");
            probe.release(each);
        }
    }

    @Check(rules = "LK-502 LK-410", from = Profile.SMOKE)
    @Hint("What ends with the lease, the session or the row of a waiter: its place alone, or also what others have "
            + "there? The last writer may be any client")
    void aWaiterThatIsGoneTakesNoGrantAlong(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe waiter = t.probe("waiter");
        LockClient rival = t.connected("rival");
        long sent = t.now();
        Grant held = holder.take(t.name(), t.longer(8));
        Duration term = held.ttl();
        if (term.compareTo(t.ttl(4, 1)) < 0) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the store agrees on nearly the same ttl whatever is asked for");
        }
        Request waits = waiter.request(t.name(), t.ttl());
        t.expect(waiter.attempt(waits) instanceof Attempt.Waiting, "a lock that is held was granted, or refused");
        String gone = "a waiter with a ttl of " + text(waits.ttl())
                + " was not heard of any more, and with it went a grant with a ttl of " + text(term)
                + " that was made before: ";
        // An authority may keep a silent client for a ttl, and a second more.
        t.pass(t.ttl(3, 1));
        t.neverWithin(sent, term, rival.lock(t.name()).tryAcquire().isPresent(), gone + "another client has the lock");
        t.neverWithin(
                sent,
                term,
                holder.renew(held).get(0) == Answer.NOT_HELD,
                gone + "a renewal of the grant is answered " + Answer.NOT_HELD);
        holder.release(held);
    }

    @Check(rules = "LK-309 LK-513", from = Profile.SMOKE)
    @Hint("Does the store keep a grant for longer than the ttl that it says: rounded up, raised, or with a reserve?")
    void aGrantDoesNotOutlastItsTerm(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("silent");
        BackendProbe rival = t.probe("rival");
        // Whoever counts in seconds makes it longer by most of one.
        Duration term = t.granted(
                Duration.ofSeconds(t.shortestTtl().plusMillis(900).toSeconds()).plusMillis(100));
        // A store that looks once in a while finds the end of one late, and of another in time.
        List<Begun> left = new ArrayList<>();
        for (int i = 0; i < TIMES; i++) {
            String name = t.freshName();
            boolean again = i % 2 == 1;
            if (again) {
                probe.release(probe.take(name, t.longer(8)));
            }
            long sent = t.now();
            Grant grant = probe.take(name, term);
            left.add(new Begun(grant, sent, again));
            t.pass(term.dividedBy(2L * TIMES));
        }
        Duration ttl = left.get(0).grant().ttl();
        long limit = t.now() + ttl.multipliedBy(LONG).toNanos();
        Map<Boolean, Long> best = new HashMap<>();
        while (!left.isEmpty() && t.now() - limit < 0) {
            for (Begun begun : List.copyOf(left)) {
                boolean soon = t.now() - begun.sent() >= ttl.toNanos() * 7 / 8;
                if (soon && rival.attempt(rival.passing(begun.grant().key(), ttl)) instanceof Attempt.Granted next) {
                    best.merge(begun.again(), t.now() - begun.sent(), Math::min);
                    left.remove(begun);
                    rival.release(next.grant());
                }
            }
            t.pass(ttl.dividedBy(24));
        }
        for (Begun begun : left) {
            probe.release(begun.grant());
        }
        if (best.isEmpty()) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "grants live on with their client's session");
        }
        for (boolean again : new boolean[] {false, true}) {
            long least = best.getOrDefault(again, ttl.multipliedBy(LONG).toNanos());
            // A slow machine may see the end late. The ttl stays as short as it was: one that is stretched may be
            // longer than the least term of a store that has one.
            long tolerance = t.isVirtual()
                    ? ttl.toNanos() / 16
                    : Math.min(ttl.toNanos(), t.ttl().toNanos() / 4);
            t.expect(
                    least <= ttl.toNanos() + tolerance,
                    "of some grants with a ttl of " + text(ttl)
                            + ", begun one after the other and never renewed,"
                            + (again ? " of locks that had been held with a longer ttl before," : "")
                            + " each lasted at least " + text(Duration.ofNanos(least))
                            + ": that is not the ttl that it says");
        }
    }

    private static Task<Long> timeOfTaking(CheckContext t, LockClient rival, String name) {
        return t.start("the acquire of the next holder", () -> {
            rival.lock(name).acquire();
            return t.now();
        });
    }

    private static void isNotFreeBefore(CheckContext t, LockClient rival, long sent, Duration term, String from)
            throws InterruptedException {
        Task<Long> taken = timeOfTaking(t, rival, t.name());
        if (!t.happens(term.plus(t.ttl(1, 2)), taken::isDone)) {
            return;
        }
        long lasted = taken.get() - sent;
        t.never(
                lasted < surely(term),
                "a grant with a ttl of " + text(term) + " was over within "
                        + text(Duration.ofNanos(lasted)) + " of " + from
                        + ": another client has the lock, and the holder may believe");
    }

    @Check(rules = "LK-513 LK-511", requires = Requirement.LINK)
    @Hint("Does a renewal move the end to its arrival and the ttl of its own grant, or add a ttl to the end, or take "
            + "a default or another grant's? Is there a least ttl, which minTtl must say?")
    void aGrantThatWasRenewedEndsOneTermLater(CheckContext t) throws Exception {
        t.needsGrantsThatOutlastConnections();
        LockClient rival = t.connected("rival");
        ClientLink link = t.link("silent");
        BackendProbe probe = t.probe(link, "silent");
        Grant first = probe.take(t.name("first"), t.longer(8));
        long begun = t.now();
        Grant once = probe.take(t.name("once"), t.longer(3));
        Grant brief = probe.take(t.name(), t.ttl());
        if (once.ttl().minus(brief.ttl()).compareTo(t.ttl(3, 2)) < 0) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the store agrees on nearly the same ttl whatever is asked for");
        }
        for (int i = 0; i < TIMES; i++) {
            probe.renew(first, brief);
        }
        boolean quick = t.now() - begun < t.ttl().toNanos();
        link.cut();
        Task<Long> endOfOften = timeOfTaking(t, rival, t.name());
        Task<Long> endOfOnce = timeOfTaking(t, rival, t.name("once"));
        long end = endOfOnce.get();
        String often = "a grant with a ttl of " + text(brief.ttl()) + ", renewed " + TIMES
                + " times at once beside one with a ttl of " + text(first.ttl());
        boolean free = t.happens(t.ttl(1, 2), endOfOften::isDone);
        String late = often + ", was in force still when one of " + text(once.ttl())
                + " had ended that was granted before and not renewed: each renewal must give it one ttl of its own, "
                + "from its arrival";
        t.never(!free && quick, late);
        t.expect(free, late);
        long sooner = end - endOfOften.get();
        t.expect(
                sooner >= t.ttl().toNanos(),
                often + ", ended " + text(Duration.ofNanos(sooner)) + " before one of "
                        + text(once.ttl())
                        + " that was granted before and not renewed: the shorter ttl is not kept as it was asked "
                        + "for, or not from the last renewal");
        link.heal();
        // The first call over it may meet a connection that was made while nothing moved.
        boolean unused = probe.isAnswered(() -> probe.release(first));
    }

    @Check(rules = "LK-701 LK-513")
    @Hint("Does the store look at the end of a grant's ttl when a renewal of it arrives?")
    void aRenewalRevivesNothing(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("silent");
        LockClient rival = t.client("rival");
        Grant over = probe.take(t.name(), t.ttl());
        Grant later = probe.take(t.name("later"), t.ttl());
        Task<Lease> takes = t.acquiring("an acquire", rival, later.key().name().value());
        if (!t.happens(t.ttl().multipliedBy(3), takes::isDone)) {
            probe.release(over);
            probe.release(later);
            throw t.skipped(Verdict.NOT_APPLICABLE, "grants live on with their client's session");
        }
        takes.get();
        // Nobody has asked for the first lock since, so that only its renewal can find that its ttl is over.
        List<Answer> answers = probe.renew(over);
        t.never(
                answers.contains(Answer.DONE),
                "a grant was renewed whose ttl was over: one of the same ttl that was made after it had ended, and "
                        + "another client has that lock");
        t.takesSoon(rival, t.name(), "a grant whose ttl is over was renewed in vain, and the lock is not free");
    }
}
