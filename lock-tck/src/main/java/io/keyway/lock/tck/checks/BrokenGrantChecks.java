// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
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
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;

/** Rules 1104 to 1106: a grant that was broken, until its holder has answered or its ttl is over. */
final class BrokenGrantChecks {
    @Check(rules = "LK-1105 LK-302 LK-707", needs = Feature.BREAK)
    @Hint("Is the place of a broken grant kept in each mode until its holder has released it, and is its holder told "
            + "no by each verb until then?")
    void aBrokenGrantStandsUntilItsHolderAnswers(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        LockClient rival = t.client("rival");
        Duration term = t.longer(8);
        String name = t.name("write");
        stands(
                t,
                holder,
                holder.request(name, term),
                "a writer",
                () -> rival.lock(name).tryAcquire());
        if (t.has(Feature.READ_WRITE)) {
            String read = t.name("read");
            stands(
                    t,
                    holder,
                    holder.request(read, LockMode.SHARED, term),
                    "a reader",
                    () -> rival.readWriteLock(read).write().tryAcquire());
            String before = t.name("before");
            stands(
                    t,
                    holder,
                    holder.request(before, term),
                    "a writer",
                    () -> rival.readWriteLock(before).read().tryAcquire());
        }
        if (t.has(Feature.SEMAPHORE)) {
            String permits = t.name("permits");
            stands(
                    t,
                    holder,
                    holder.permits(permits, 1, 1, term),
                    "who has the only permit",
                    () -> rival.semaphore(permits, Capacity.of(1)).tryAcquire());
        }
    }

    @Check(rules = "LK-1105 LK-302", needs = Feature.BREAK)
    @Hint("Does a break by the client of the holder itself wait for the holder too?")
    void aClientThatBreaksItsOwnGrantIsWaitedFor(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        long sent = t.now();
        Grant grant = holder.take(t.name(), t.longer(8));
        t.expect(holder.breakGrant(grant, "of its own"), "a grant in force was not broken");
        t.neverWithin(
                sent,
                grant.ttl(),
                t.client("rival").lock(t.name()).tryAcquire().isPresent(),
                "a client broke a grant of its own, and before it had released it another client was given the lock: "
                        + "the work under it may still believe");
        holder.release(grant);
    }

    private static void stands(
            CheckContext t, BackendProbe holder, Request request, String who, Callable<Optional<Lease>> asks)
            throws Exception {
        LockClient operator = t.client("operator-" + request.id());
        long sent = t.now();
        Grant grant = holder.granted(request, "what was free was not granted");
        t.expect(
                operator.admin().breakLease(grant.key(), grant.token(), "to see who waits for its holder"),
                "a grant in force was not broken");
        t.neverWithin(
                sent,
                grant.ttl(),
                asks.call().isPresent(),
                "the grant of " + who + " was broken, and before its holder had answered another client was given "
                        + "what it held: the holder may still believe");
        Answer renewed = holder.renew(grant).get(0);
        t.never(
                renewed == Answer.DONE,
                "the grant of " + who
                        + " was broken, and a renewal of it was answered DONE: its holder would believe on");
        t.expectEqual("the answer to the renewal of a grant that was broken", Answer.NOT_HELD, renewed);
        t.never(
                holder.release(grant) == Answer.DONE,
                "the grant of " + who
                        + " was broken, and its release was answered DONE, as if its holder had ended it");
        t.expectWithin(
                t.ttl(1, 2),
                "the holder of a broken grant has released it, and for half a ttl nobody was given what it held: it "
                        + "was "
                        + who,
                () -> asks.call().isPresent());
    }

    @Check(rules = "LK-1104", needs = Feature.BREAK)
    @Hint("What does a break answer that finds a grant which was broken before, and whose holder has not answered?")
    void aBrokenGrantIsNotBrokenAgain(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        LockClient operator = t.client("operator");
        Grant grant = holder.take(t.name(), t.longer(8));
        t.expect(operator.admin().breakLease(grant.key(), grant.token(), "first"), "a grant in force was not broken");
        t.never(
                operator.admin().breakLease(grant.key(), grant.token(), "second"),
                "a break of a grant that was broken before, and is not in force, was said to be done");
        holder.release(grant);
        t.never(
                operator.admin().breakLease(grant.key(), grant.token(), "third"),
                "a break of a grant whose holder had stopped was said to be done");
    }

    @Check(
            rules = "LK-1104",
            needs = Feature.BREAK,
            statistical = "a break that is done twice is found if it happens at one of 20 breaks by two at once")
    @Hint("Does who breaks a grant that another is breaking learn that it was not its doing?")
    void ofTwoBreaksAtOnceOneIsDone(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        List<LockClient> operators = List.of(t.client("operator-1"), t.client("operator-2"));
        for (int i = 0; i < t.rounds(5, 20, 40); i++) {
            Lease lease = holder.lock(t.freshName()).acquire();
            LockKey key = LockKey.lock(lease.name());
            List<Task<Boolean>> breaks = new ArrayList<>();
            for (LockClient operator : operators) {
                breaks.add(t.start(
                        "a break by " + operator.name(),
                        () -> operator.admin().breakLease(key, lease.token(), "by " + operator.name())));
            }
            boolean one = breaks.get(0).get();
            boolean other = breaks.get(1).get();
            t.never(one && other, "two broke one grant at once, and both were told that they had");
            t.expect(one || other, "two broke a grant in force at once, and neither was told to have done it");
        }
    }

    @Check(rules = "LK-1105 LK-513", needs = Feature.BREAK, requires = Requirement.LINK)
    @Hint("How long is the holder of a broken grant waited for, if it never answers?")
    void aBrokenHolderThatIsNotHeardIsNotWaitedForForEver(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        ClientLink link = t.link("silent");
        Lease lease = link.client().lock(t.name()).acquire();
        link.cut();
        Task<Boolean> breaking =
                t.start("breakLease", () -> operator.admin().breakLease(t.key(t.name()), lease.token(), "unheard"));
        Task<Lease> next = t.acquiring("the next client's acquire", t.client("next"), t.name());
        t.expectEnd(
                t.ttl(3, 2),
                next,
                "a grant was broken whose holder is not heard any more, and a ttl after that the lock is not free");
        t.expect(!lease.isHeld(), "the lock was granted while its former holder, whose grant was broken, believed");
        next.get().release();
        breaking.outcome();
        link.heal();
        t.until("the broken holder hears of it", () -> lease.state() == Lease.State.LOST);
        t.pass(t.ttl());
    }

    @Check(rules = "LK-1106 LK-1501", needs = Feature.BREAK, from = Profile.SMOKE)
    @Hint("Does an attempt that finds its own grant look whether that was broken?")
    void aRepeatedAttemptBringsNoBrokenGrantBack(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        Request request = holder.request(t.name(), t.longer(8));
        Grant grant = holder.granted(request, "a free lock was not granted");
        t.expect(
                t.client("operator").admin().breakLease(grant.key(), grant.token(), "before it was heard of"),
                "a grant in force was not broken");
        Attempt again = holder.attempt(request);
        t.never(
                again instanceof Attempt.Granted granted && granted.grant().token() == grant.token(),
                "a grant was broken before its client had heard of it, and the client's next attempt was answered by "
                        + "it: who is handed it out never hears that it was broken");
        holder.withdraw(request);
    }

    @Check(rules = "LK-1105 LK-302", needs = Feature.BREAK, from = Profile.SMOKE)
    @Hint("Does an attempt that arrives late take away the place of its own grant, which was broken?")
    void anAttemptThatComesLateIsNoWordOfABrokenHolder(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        LockClient rival = t.client("rival");
        Request request = holder.request(t.name(), t.longer(8));
        long sent = t.now();
        Grant grant = holder.granted(request, "a free lock was not granted");
        t.expect(
                t.client("operator").admin().breakLease(grant.key(), grant.token(), "before its attempt came again"),
                "a grant in force was not broken");
        Attempt late = holder.attempt(request);
        t.neverWithin(
                sent,
                grant.ttl(),
                late instanceof Attempt.Granted,
                "a grant was broken, an attempt of its request came once more, and was granted anew: the holder of "
                        + "the broken one may still believe");
        t.neverWithin(
                sent,
                grant.ttl(),
                rival.lock(t.name()).tryAcquire().isPresent(),
                "a grant was broken, an attempt of its request came once more, and another client was given the "
                        + "lock: the holder may still believe");
        holder.release(grant);
        holder.withdraw(request);
        t.comesFree(
                t.ttl(1, 2),
                rival,
                t.name(),
                "the holder of a broken grant has released it, after an attempt of its request came late, and for "
                        + "half a ttl the lock was not free");
    }

    @Check(
            rules = "LK-310 LK-1105",
            needs = {Feature.BREAK, Feature.FIFO})
    @Hint("What does a break do to those that wait?")
    void whoWaitsKeepsItsPlaceOverABreak(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        Lease lease = t.client("holder").lock(t.name()).acquire();
        Task<Lease> first = t.acquiring("the first waiter's acquire", t.client("waiter-1"), t.name());
        t.untilWaiting(operator, t.name(), 1);
        Task<Lease> second = t.acquiring("the second waiter's acquire", t.client("waiter-2"), t.name());
        t.untilWaiting(operator, t.name(), 2);
        operator.admin().breakLease(t.key(t.name()), lease.token(), "in favour of the first");
        t.until("one of two that wait is granted after a break", () -> first.isDone() || second.isDone());
        t.never(second.isDone(), "after a break the second in the queue was granted before the first");
        t.releaseEach(List.of(first, second));
    }
}
