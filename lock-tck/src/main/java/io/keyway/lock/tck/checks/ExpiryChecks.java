// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Events;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Rules 501 to 505, 511 and 512: how a lease ends by the clock. */
final class ExpiryChecks {
    @Check(rules = "LK-501 LK-503", from = Profile.SMOKE)
    @Hint("From what reading of the clock is the deadline counted, and does isHeld() compare it with the clock at "
            + "each call?")
    void beliefEndsByThreeQuartersOfTheTtl(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        long got = t.now();
        Duration three = lease.ttl().multipliedBy(3).dividedBy(4);
        Duration remaining = lease.remaining();
        t.expect(
                remaining.compareTo(three) <= 0,
                "remaining() says " + text(remaining) + ", more than 3/4 of the ttl, " + text(three));
        t.passUntil(got + three.toNanos() + 1);
        // No tolerance: whoever computes it from the clock at this call cannot answer otherwise.
        t.expect(
                !lease.isHeld(),
                "3/4 of the ttl after its grant a lease that was never renewed still says that it is held, with "
                        + text(lease.remaining()) + " remaining");
        t.expectEqual("the state after the deadline", Lease.State.LOST, lease.state());
        t.expectEqual("remaining() after the deadline", Duration.ZERO, lease.remaining());
    }

    @Check(rules = "LK-511", from = Profile.SMOKE)
    @Hint("Is the ttl that the store granted the one that was asked for, and does anything end it early?")
    void aLeaseThatIsNotRenewedIsHeldForItsFirstTerm(CheckContext t) throws Exception {
        long sent = t.now();
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        long half = sent + lease.ttl().toNanos() / 2;
        t.passUntil(half - t.ttl(1, 20).toNanos());
        boolean held = lease.isHeld();
        t.expect(
                held || t.now() - half > 0,
                "a lease of " + text(lease.ttl()) + " that is not renewed ended within half of its ttl, state "
                        + lease.state());
    }

    @Check(rules = "LK-503 LK-501", from = Profile.SMOKE)
    @Hint("Is isHeld() computed at each call, or a flag that a timer sets, which may be late?")
    void allAnswersChangeAtTheDeadline(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        t.pass(t.ttl(1, 5));
        // The clock after the answer: read before it, it would give less time than remaining() told.
        long remaining = lease.remaining().toNanos();
        t.passUntil(t.now() + remaining + 1);
        t.expect(!lease.isHeld(), "isHeld() says true when the time that remaining() told has passed");
        t.expectEqual("state() at the deadline", Lease.State.LOST, lease.state());
        t.expectThrows("ensureHeld() at the deadline", LeaseLostException.class, lease::ensureHeld);
    }

    @Check(rules = "LK-505 LK-902")
    @Hint("How often is the end of a lease told to listeners, and by whom?")
    void aLeaseEndsOnceForListeners(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Events events = t.events(client);
        Lease lapsed = client.lock(t.name("lapsed")).with(t.unrenewed()).acquire();
        client.lock(t.name("released")).with(t.unrenewed()).acquire().release();
        Lease limited = client.lock(t.name("limited"))
                .with(LockOptions.none().withMaxHold(t.ttl(1, 2)))
                .acquire();
        t.until("two leases end", () -> !lapsed.isHeld() && !limited.isHeld());
        t.pass(t.ttl());
        lapsed.release();
        limited.close();
        t.pass(t.ttl(1, 4));
        for (String name : List.of("lapsed", "released", "limited")) {
            List<LockEvent.Type> ends = events.of(t.name(name)).stream()
                    .filter(type -> type == LockEvent.Type.LOST || type == LockEvent.Type.RELEASED)
                    .toList();
            LockEvent.Type end = name.equals("released") ? LockEvent.Type.RELEASED : LockEvent.Type.LOST;
            t.expectEqual("the ends of a " + name + " lease, as listeners were told", List.of(end), ends);
        }
    }

    @Check(rules = "LK-503")
    @Hint("Is remaining() computed from the clock at each call, and from the deadline alone?")
    void remainingFollowsTheClock(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        long rounding = 1_000_000;
        for (int i = 0; i < 5; i++) {
            long before = t.now();
            Duration first = lease.remaining();
            long between = t.now();
            t.pass(t.ttl(1, 10));
            long later = t.now();
            Duration second = lease.remaining();
            long after = t.now();
            long went = first.minus(second).toNanos();
            t.expect(
                    second.isZero() || went >= later - between - rounding,
                    "while " + text(Duration.ofNanos(later - between)) + " passed, remaining() went from "
                            + text(first) + " to " + text(second)
                            + ", though nothing renews the lease");
            t.expect(
                    first.isZero() || went <= after - before + rounding,
                    "while at most " + text(Duration.ofNanos(after - before))
                            + " passed, remaining() went from " + text(first) + " to "
                            + text(second));
            t.expect(!first.isNegative() && !second.isNegative(), "remaining() is negative");
        }
    }

    @Check(rules = "LK-504 LK-505", from = Profile.SMOKE)
    @Hint("Does anything that arrives after the deadline, or the release, change the state of a lost lease?")
    void aLeaseThatLapsedStaysLost(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease lapsed = client.lock(t.name()).with(t.unrenewed()).acquire();
        Lease sibling = client.lock(t.name("renewed")).acquire();
        t.until("a lease that is not renewed ends", () -> !lapsed.isHeld());
        for (int i = 0; i < 4; i++) {
            t.expect(!lapsed.isHeld(), "a lease that had ended says that it is held again");
            t.expectEqual("the state of a lease that lapsed", Lease.State.LOST, lapsed.state());
            t.expectEqual("remaining() of a lease that lapsed", Duration.ZERO, lapsed.remaining());
            t.pass(t.ttl(1, 4));
        }
        t.expectEqual("the outcome of releasing it", ReleaseOutcome.ALREADY_LOST, lapsed.release());
        t.expectEqual("the state of a lease that lapsed and was released later", Lease.State.LOST, lapsed.state());
        t.expect(sibling.isHeld(), "another lease of the same client, which is renewed, ended too");
    }

    @Check(rules = "LK-502 LK-302", from = Profile.SMOKE)
    @Hint("When does the store give the lock away: counted from when, for how long, by whose clock?")
    void nobodyIsGrantedWhileASilentHolderBelieves(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        believesAlone(
                t,
                () -> t.client("holder").lock(t.name()).with(t.unrenewed()).acquire(),
                second,
                () -> second.lock(t.name()).acquire());
    }

    @Check(rules = "LK-502 LK-302", needs = Feature.READ_WRITE)
    @Hint("Does a writer that waits shorten the ttls of those that read?")
    void noWriterIsGrantedWhileASilentReaderBelieves(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        believesAlone(
                t,
                () -> t.client("holder")
                        .readWriteLock(t.name())
                        .read()
                        .with(t.unrenewed())
                        .acquire(),
                second,
                () -> second.readWriteLock(t.name()).write().acquire());
    }

    private static void believesAlone(CheckContext t, Callable<Lease> first, LockClient second, Callable<Lease> next)
            throws Exception {
        second.lock(t.name("other")).tryAcquire();
        long sent = t.now();
        Lease lease = first.call();
        long earliest = sent + lease.ttl().toNanos() * 3 / 4;
        Task<Lease> waits = t.start("a second client's acquire", next);
        for (int i = 1; i <= 6; i++) {
            t.never(
                    !t.goesOnAt(sent + lease.ttl().toNanos() * i / 8 - 1_000_000, waits, earliest),
                    "a second client was granted what the first had within " + i + "/8 of the ttl, "
                            + text(lease.ttl())
                            + ", after the request of a holder that had not released; 6/8 belong to the holder");
        }
        waits.get();
    }

    @Check(rules = "LK-511 LK-502", from = Profile.SMOKE)
    @Hint("Does the store end the grant of a holder that does not renew, and does it wake the waiter then?")
    void aLeaseThatIsNotRenewedComesFree(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).with(t.unrenewed()).acquire();
        Task<Optional<Lease>> waits = t.start(
                "the acquire of a second client",
                () -> t.client("second").lock(t.name()).tryAcquire(t.patience()));
        t.until("the first lease ends", () -> !lease.isHeld());
        t.expect(waits.get().isPresent(), "the lease of the first client lapsed, and the lock never came free");
    }

    @Check(rules = "LK-511", needs = Feature.WAKE_UP)
    @Hint("Does the client give a lease that it does not renew back by its token when its owner can have stopped?")
    void aLeaseThatIsNotRenewedIsGivenBackAfterItsTerm(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        Duration longer = t.longer(2);
        long best = Long.MAX_VALUE;
        long most = longer.toNanos() / 4 * 5;
        for (int i = 0; i < 3 && best > most; i++) {
            String name = t.freshName();
            long sent = t.now();
            t.client("holder" + i)
                    .lock(name)
                    .with(t.unrenewed().withTtl(longer))
                    .acquire();
            t.acquired("the acquire of a second client", second, name).release();
            best = Math.min(best, t.now() - sent);
        }
        // One that was renewed after all, at half of the ttl, would take half as long again.
        t.expect(
                best < most,
                "a lease without renewal came free after " + text(Duration.ofNanos(best))
                        + ", its ttl was " + text(longer)
                        + "; its client should have given it back at the end of that");
    }

    @Check(rules = "LK-512 LK-801", from = Profile.SMOKE)
    @Hint("Who ends a lease that is renewed well when its maxHold has passed, and with what cause?")
    void aLeaseEndsAtItsMaxHold(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        Duration limit = t.ttl(3, 2);
        long sent = t.now();
        Lease lease = t.client("holder")
                .lock(t.name())
                .with(LockOptions.none().withMaxHold(limit))
                .acquire();
        long got = t.now();
        t.passUntil(sent + limit.toNanos() - t.ttl(1, 8).toNanos());
        boolean held = lease.isHeld();
        t.expect(
                held || t.now() - sent >= limit.toNanos(),
                "a lease with maxHold " + text(limit) + " ended before that, state " + lease.state());
        t.passUntil(got + limit.toNanos() + 1);
        t.expect(!lease.isHeld(), "a lease is held for longer than its maxHold, " + text(limit));
        t.expectLoss(LeaseLoss.Cause.MAX_HOLD, lease);
        Task<Optional<Lease>> next = t.trying("the acquire of a second client", second, t.name(), t.patience());
        t.expect(next.get().isPresent(), "the lock did not come free after the holder's maxHold");
        t.expectEqual("the release afterwards", ReleaseOutcome.ALREADY_LOST, lease.release());
    }

    @Check(rules = "LK-512")
    @Hint("Is maxHold looked at when it is shorter than the ttl?")
    void aMaxHoldBelowTheTtlCounts(CheckContext t) throws Exception {
        Duration limit = t.ttl(1, 4);
        Lease lease = t.client("holder")
                .lock(t.name())
                .with(LockOptions.none().withMaxHold(limit))
                .acquire();
        long got = t.now();
        Duration remaining = lease.remaining();
        t.expect(
                remaining.compareTo(limit) <= 0,
                "remaining() says " + text(remaining) + ", more than the maxHold of " + text(limit));
        t.passUntil(got + limit.toNanos() + 1);
        t.expect(!lease.isHeld(), "a lease is held for longer than its maxHold of a quarter of the ttl");
        t.expectLoss(LeaseLoss.Cause.MAX_HOLD, lease);
    }

    @Check(
            rules = "LK-505 LK-802",
            statistical = "an end that is told twice, or by two causes, is found if it happens in one of 20 releases "
                    + "at the deadline")
    @Hint("Is the step from held to its one end atomic?")
    void aReleaseAtTheDeadlineEndsTheLeaseOnce(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        int leases = t.rounds(20, 60, 200);
        List<Lease> all = new ArrayList<>();
        List<Task<ReleaseOutcome>> releases = new ArrayList<>();
        for (int i = 0; i < leases; i++) {
            all.add(client.lock(t.name("n" + i)).with(t.unrenewed()).acquire());
        }
        int threads = 4;
        t.passUntil(t.now() + all.get(0).remaining().toNanos() - t.ttl(1, 100).toNanos());
        for (int i = 0; i < threads; i++) {
            int mine = i;
            releases.add(t.start("releasing at the deadline", () -> {
                for (int j = mine; j < leases; j += threads) {
                    all.get(j).release();
                }
                return ReleaseOutcome.RELEASED;
            }));
        }
        t.pass(t.ttl(1, 50));
        t.join(releases);
        t.pass(t.ttl(1, 4));
        for (Lease lease : all) {
            ReleaseOutcome outcome = lease.release();
            Lease.State state = lease.state();
            boolean told = t.isToldLost(lease);
            boolean lost = state == Lease.State.LOST;
            t.expect(
                    state == Lease.State.LOST || state == Lease.State.RELEASED,
                    "the state after release() is " + state);
            t.expect(
                    lost == (outcome == ReleaseOutcome.ALREADY_LOST),
                    "the state is " + state + ", and release() says " + outcome);
            t.expect(lost == told, "the state is " + state + ", and lost() is " + (told ? "" : "not ") + "complete");
        }
    }
}
