// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.CheckSteps.surely;
import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Rules 1501 and 1502, and what others say of a grant's ttl and of the queue, asked of the verbs of a {@code
 * LockBackend}.
 */
final class VerbChecks {
    @Check(rules = "LK-1501 LK-502", from = Profile.SMOKE)
    @Hint("Does an attempt that finds its own grant begin its ttl anew? The kit believes in it from the attempt "
            + "that told it.")
    void aRepeatedAttemptBringsTheSameGrantAnew(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("holder");
        LockClient rival = t.client("rival");
        Request request = probe.request(t.name(), t.ttl());
        Grant first = probe.granted(request, "a free lock was not granted");
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Grant again = probe.granted(request, "the same request was not granted again while its grant was in force");
        t.expectEqual("the token of a repeated attempt of one request", first.token(), again.token());
        t.pass(t.ttl(3, 4));
        t.neverWithin(
                sent,
                t.ttl(),
                rival.lock(t.name()).tryAcquire().isPresent(),
                "3/4 of a ttl after an attempt was answered with its grant another client has the lock: the ttl is "
                        + "shorter than the ttl, or a repeated attempt did not begin it anew");
        probe.release(again);
    }

    @Check(rules = "LK-1502", from = Profile.SMOKE)
    @Hint("Does the store remember that a request was withdrawn, for longer than any message of it can be under way?")
    void anAttemptThatArrivesAfterItsWithdrawalIsNotGranted(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        LockClient rival = t.client("rival");
        Request overtaken = probe.request(t.name(), t.longer(4));
        probe.withdraw(overtaken);
        t.never(
                probe.isGranted(overtaken),
                "a request was granted whose withdrawal had arrived before its first attempt: nobody would know of "
                        + "that grant, nor end it");
        Request waiter = probe.request(t.name(), t.longer(4));
        Grant held = probe.granted(waiter, "a lock whose only request was withdrawn is not free");
        probe.withdraw(waiter);
        t.never(
                probe.isGranted(waiter),
                "a request was granted again after its withdrawal had ended its grant of token " + held.token());
        t.expectFreeSoon(rival, t.name(), "what was withdrawn was still in the way");
        Request late = probe.request(t.name("late"), t.longer(4));
        probe.withdraw(late);
        t.pass(t.ttl(1, 4));
        t.expect(
                !probe.isGranted(late),
                "a request was granted a quarter of a ttl after its withdrawal: its first attempt may have been "
                        + "under way for so long");
    }

    @Check(rules = "LK-1502 LK-1402", from = Profile.SMOKE)
    @Hint("Is a withdrawn request remembered also if nothing of it stands any more, since it was released or refused?")
    void aLateAttemptOfWhatIsOverIsNotGranted(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        Request released = probe.request(t.name(), t.longer(4));
        Grant held = probe.granted(released, "a free lock was not granted");
        Request refused = probe.passing(t.key(t.name()), t.longer(4));
        t.expect(!probe.isGranted(refused), "a lock that is held was granted again");
        probe.withdraw(refused);
        probe.release(held);
        // So does the kit if an earlier attempt of theirs was not answered, and may still be on its way.
        probe.withdraw(released);
        t.never(
                probe.isGranted(released),
                "a request was granted, released and withdrawn, and an attempt of it that came then was granted");
        t.never(
                probe.isGranted(refused),
                "a request that does not queue was refused and withdrawn, and an attempt of it that came then was "
                        + "granted");
    }

    @Check(rules = "LK-1502")
    @Hint("For how long is a withdrawn request remembered, and can a message of it be under way for longer?")
    void aWithdrawalIsRememberedForLonger(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        Request late = probe.request(t.name(), t.longer(4));
        probe.withdraw(late);
        t.pass(t.ttl(5, 2));
        t.expect(
                !probe.isGranted(late),
                "a request with a ttl of " + text(t.longer(4)) + " was granted "
                        + text(t.ttl(5, 2))
                        + " after its withdrawal: its first attempt may have been under way for so long");
    }

    @Check(rules = "LK-1502 LK-1402", from = Profile.SMOKE)
    @Hint("What does an attempt that has begun see of a withdrawal that arrives meanwhile: is each of the two one "
            + "step at the store?")
    void anAttemptThatCrossesItsWithdrawalLeavesNothing(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        LockClient rival = t.client("rival");
        for (int i = 0; i < t.rounds(10, 50, 120); i++) {
            Request request = probe.request(t.freshName(), t.longer(4));
            Task<Boolean> attempt = t.start("an attempt", () -> probe.isGranted(request));
            probe.withdraw(request);
            boolean granted = attempt.get();
            t.never(
                    probe.isGranted(request),
                    "an attempt and the withdrawal of its request were under way together, and when both had ended "
                            + "another attempt was granted");
            t.expectFreeSoon(
                    rival,
                    request.key().name().value(),
                    "an attempt and the withdrawal of its request were under way together, the attempt was "
                            + (granted ? "" : "not ") + "granted, and both have ended: the lock is not free");
        }
    }

    @Check(rules = "LK-1502 LK-310", needs = Feature.FIFO)
    @Hint("Does a withdrawal take one request out of the queue, by its id, or all of its client?")
    void theWithdrawalOfOneRequestLeavesTheOthers(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("asker");
        BackendProbe late = t.probe("late");
        long end = t.now() + surely(t.longer(4));
        Grant held = probe.take(t.name(), t.longer(4));
        Request given = probe.request(t.name(), t.longer(4));
        Request kept = probe.request(t.name(), t.longer(4));
        t.neverBefore(end, probe.isGranted(given) || probe.isGranted(kept), "a lock that is held was granted again");
        Request newcomer = late.request(t.name(), t.longer(4));
        t.neverBefore(end, late.isGranted(newcomer), "a lock that is held was granted again");
        probe.withdraw(given);
        probe.release(held);
        t.neverBefore(
                end,
                late.isGranted(newcomer),
                "the withdrawal of one request took the place of another of its client: who came later was granted "
                        + "first");
        Grant next = probe.grantedInTime(kept, "the first in the queue was not granted, and the lock is free");
        probe.release(next);
        late.withdraw(newcomer);
    }

    @Check(rules = "LK-502 LK-1501", from = Profile.SMOKE)
    @Hint("From when does the ttl of a grant run that had to wait: from this attempt, or from an earlier one?")
    void aGrantThatHadToWaitHasAWholeTerm(CheckContext t) throws Exception {
        BackendProbe probe = t.probe("waiter");
        LockClient holder = t.client("holder");
        LockClient rival = t.client("rival");
        try (var held = holder.lock(t.name()).acquire()) {
            Request request = probe.request(t.name(), t.ttl());
            t.neverWhile(held, probe.isGranted(request), "a lock that is held was granted again");
            t.pass(t.ttl(1, 2));
            held.release();
            long released = t.now();
            Grant grant = probe.grantedInTime(request, "a lock was not granted to the only one that waits for it");
            t.pass(t.ttl(3, 4));
            t.neverWithin(
                    released,
                    t.ttl(),
                    rival.lock(t.name()).tryAcquire().isPresent(),
                    "3/4 of a ttl after a waiter was granted another client has the lock: its ttl is shorter than "
                            + "its ttl, or began when it still waited");
            probe.release(grant);
        }
    }

    @Check(rules = "LK-1504")
    @Hint("Does an attempt wait at the store, or try again, when it finds the lock taken?")
    void anAttemptDoesNotWaitForAHolder(CheckContext t) throws Exception {
        BackendProbe holder = t.probe("holder");
        BackendProbe probe = t.probe("asker");
        Grant held = holder.take(t.name(), t.longer(8));
        Request waits = probe.request(t.name(), t.longer(8));
        Map<String, Duration> best = new LinkedHashMap<>();
        for (int i = 0; i < 5; i++) {
            Request unheld = probe.passing(t.key(t.freshName()), t.longer(8));
            took(best, "that is free", () -> probe.attempt(unheld));
            probe.withdraw(unheld);
            took(best, "that is held, without queueing,", () -> probe.attempt(probe.passing(held.key(), t.longer(8))));
            took(best, "that is held", () -> probe.attempt(waits));
        }
        Duration free = Objects.requireNonNull(best.remove("that is free"));
        best.forEach((which, time) -> t.expect(
                time.minus(free).compareTo(Duration.ofMillis(150)) < 0,
                "an attempt of a lock " + which + " took " + text(time)
                        + " at best, and of one that is free " + text(free)
                        + ": a caller that will not wait waits, and others of its client with it"));
        probe.withdraw(waits);
        holder.release(held);
    }

    /** By the machine's clock, which a backend that waits would use in virtual time too. */
    private static void took(Map<String, Duration> best, String which, Callable<Attempt> attempt) throws Exception {
        long begun = System.nanoTime();
        attempt.call();
        Duration time = Duration.ofNanos(System.nanoTime() - begun);
        best.merge(which, time, (one, other) -> one.compareTo(other) < 0 ? one : other);
    }
}
