// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.LockClient;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.BackendProbe;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Rules 1501 and 1502, and what others say of a grant's term and of the queue, asked of the verbs of a {@code LockBackend}. */
final class VerbChecks {

    /** Until when a grant that was asked for at that reading, or later, is in force; less what clocks may differ by. */
    private static long wholeTerm(long sent, Duration term) {
        return sent + term.toNanos() / 100 * 98;
    }

    @Check(
            rules = {"LK-1501", "LK-502"},
            from = Profile.SMOKE,
            first =
                    "Does an attempt that finds its own grant begin its term anew? The kit believes in it from the attempt that told it.")
    void aRepeatedAttemptBringsTheSameGrantAnew(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("holder");
        LockClient rival = t.client("rival");
        Request request = verbs.request(t.name(), t.ttl());
        Grant first = verbs.granted(request, "a free lock was not granted");
        t.pass(t.ttl(1, 2));
        long sent = t.now();
        Grant again = verbs.granted(request, "the same request was not granted again while its grant was in force");
        t.expectEqual("the token of a repeated attempt of one request", first.token(), again.token());
        t.pass(t.ttl(3, 4));
        t.neverBefore(
                wholeTerm(sent, t.ttl()),
                rival.lock(t.name()).tryAcquire().isPresent(),
                "3/4 of a ttl after an attempt was answered with its grant another client has the lock: the term is shorter than the ttl, or a repeated attempt did not begin it anew");
        verbs.release(again);
    }

    @Check(
            rules = "LK-1502",
            from = Profile.SMOKE,
            first =
                    "Does the store remember that a request was withdrawn, for longer than any message of it can be under way?")
    void anAttemptThatArrivesAfterItsWithdrawalIsNotGranted(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("asker");
        LockClient rival = t.client("rival");
        Request overtaken = verbs.request(t.name(), t.longer(4));
        verbs.withdraw(overtaken);
        t.never(
                verbs.isGranted(overtaken),
                "a request was granted whose withdrawal had arrived before its first attempt: nobody would know of that grant, nor end it");
        Request waiter = verbs.request(t.name(), t.longer(4));
        Grant held = verbs.granted(waiter, "a lock whose only request was withdrawn is not free");
        verbs.withdraw(waiter);
        t.never(
                verbs.isGranted(waiter),
                "a request was granted again after its withdrawal had ended its grant of token " + held.token());
        t.takesSoon(rival, t.name(), "what was withdrawn was still in the way").close();
        Request late = verbs.request(t.name("late"), t.longer(4));
        verbs.withdraw(late);
        t.pass(t.ttl(1, 4));
        t.expect(
                !verbs.isGranted(late),
                "a request was granted a quarter of a ttl after its withdrawal: its first attempt may have been under way for so long");
    }

    @Check(
            rules = {"LK-1502", "LK-1402"},
            from = Profile.SMOKE,
            first =
                    "Is a withdrawn request remembered also if nothing of it stands any more, since it was released or refused?")
    void aLateAttemptOfWhatIsOverIsNotGranted(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("asker");
        Request released = verbs.request(t.name(), t.longer(4));
        Grant held = verbs.granted(released, "a free lock was not granted");
        Request refused = verbs.passing(t.key(t.name()), t.longer(4));
        t.expect(!verbs.isGranted(refused), "a lock that is held was granted again");
        verbs.withdraw(refused);
        verbs.release(held);
        // So does the kit if an earlier attempt of theirs was not answered, and may still be on its way.
        verbs.withdraw(released);
        t.never(
                verbs.isGranted(released),
                "a request was granted, released and withdrawn, and an attempt of it that came then was granted");
        t.never(
                verbs.isGranted(refused),
                "a request that does not queue was refused and withdrawn, and an attempt of it that came then was granted");
    }

    @Check(
            rules = "LK-1502",
            first = "For how long is a withdrawn request remembered, and can a message of it be under way for longer?")
    void aWithdrawalIsRememberedForLonger(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("asker");
        Request late = verbs.request(t.name(), t.longer(4));
        verbs.withdraw(late);
        t.pass(t.ttl(5, 2));
        t.expect(
                !verbs.isGranted(late),
                "a request with a ttl of " + CheckContext.text(t.longer(4)) + " was granted "
                        + CheckContext.text(t.ttl(5, 2))
                        + " after its withdrawal: its first attempt may have been under way for so long");
    }

    @Check(
            rules = {"LK-1502", "LK-1402"},
            from = Profile.SMOKE,
            first =
                    "What does an attempt that has begun see of a withdrawal that arrives meanwhile: is each of the two one step at the store?")
    void anAttemptThatCrossesItsWithdrawalLeavesNothing(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("asker");
        LockClient rival = t.client("rival");
        for (int i = 0; i < t.rounds(10, 50, 120); i++) {
            Request request = verbs.request(t.freshName(), t.longer(4));
            Task<Boolean> attempt = t.start("an attempt", () -> verbs.isGranted(request));
            verbs.withdraw(request);
            boolean granted = attempt.get();
            t.never(
                    verbs.isGranted(request),
                    "an attempt and the withdrawal of its request were under way together, and when both had ended another attempt was granted");
            t.takesSoon(
                            rival,
                            request.key().name().value(),
                            "an attempt and the withdrawal of its request were under way together, the attempt was "
                                    + (granted ? "" : "not ") + "granted, and both have ended: the lock is not free")
                    .close();
        }
    }

    @Check(
            rules = {"LK-1502", "LK-310"},
            needs = Feature.FIFO,
            first = "Does a withdrawal take one request out of the queue, by its id, or all of its client?")
    void theWithdrawalOfOneRequestLeavesTheOthers(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("asker");
        BackendProbe late = t.verbs("late");
        long end = wholeTerm(t.now(), t.longer(4));
        Grant held = verbs.granted(verbs.request(t.name(), t.longer(4)), "a free lock was not granted");
        Request given = verbs.request(t.name(), t.longer(4));
        Request kept = verbs.request(t.name(), t.longer(4));
        t.neverBefore(end, verbs.isGranted(given) || verbs.isGranted(kept), "a lock that is held was granted again");
        Request newcomer = late.request(t.name(), t.longer(4));
        t.neverBefore(end, late.isGranted(newcomer), "a lock that is held was granted again");
        verbs.withdraw(given);
        verbs.release(held);
        t.neverBefore(
                end,
                late.isGranted(newcomer),
                "the withdrawal of one request took the place of another of its client: who came later was granted first");
        Grant next = verbs.grantedInTime(kept, "the first in the queue was not granted, and the lock is free");
        verbs.release(next);
        late.withdraw(newcomer);
    }

    @Check(
            rules = {"LK-502", "LK-1501"},
            from = Profile.SMOKE,
            first =
                    "From when does the term of a grant run that had to wait: from this attempt, or from an earlier one?")
    void aGrantThatHadToWaitHasAWholeTerm(CheckContext t) throws Exception {
        BackendProbe verbs = t.verbs("waiter");
        LockClient holder = t.client("holder");
        LockClient rival = t.client("rival");
        try (var held = holder.lock(t.name()).acquire()) {
            Request request = verbs.request(t.name(), t.ttl());
            t.neverWhile(held, verbs.isGranted(request), "a lock that is held was granted again");
            t.pass(t.ttl(1, 2));
            held.release();
            long released = t.now();
            Grant grant = verbs.grantedInTime(request, "a lock was not granted to the only one that waits for it");
            t.pass(t.ttl(3, 4));
            t.neverBefore(
                    wholeTerm(released, t.ttl()),
                    rival.lock(t.name()).tryAcquire().isPresent(),
                    "3/4 of a ttl after a waiter was granted another client has the lock: its term is shorter than its ttl, or began when it still waited");
            verbs.release(grant);
        }
    }

    @Check(rules = "LK-1504", first = "Does an attempt wait at the store, or try again, when it finds the lock taken?")
    void anAttemptDoesNotWaitForAHolder(CheckContext t) throws Exception {
        BackendProbe holder = t.verbs("holder");
        BackendProbe verbs = t.verbs("asker");
        Grant held = holder.granted(holder.request(t.name(), t.longer(8)), "a free lock was not granted");
        Request waits = verbs.request(t.name(), t.longer(8));
        Map<String, Duration> best = new LinkedHashMap<>();
        for (int i = 0; i < 5; i++) {
            Request unheld = verbs.passing(t.key(t.freshName()), t.longer(8));
            took(best, "that is free", () -> verbs.attempt(unheld));
            verbs.withdraw(unheld);
            took(best, "that is held, without queueing,", () -> verbs.attempt(verbs.passing(held.key(), t.longer(8))));
            took(best, "that is held", () -> verbs.attempt(waits));
        }
        Duration free = Objects.requireNonNull(best.remove("that is free"));
        best.forEach((which, time) -> t.expect(
                time.minus(free).compareTo(Duration.ofMillis(150)) < 0,
                "an attempt of a lock " + which + " took " + CheckContext.text(time)
                        + " at best, and of one that is free " + CheckContext.text(free)
                        + ": a caller that will not wait waits, and others of its client with it"));
        verbs.withdraw(waits);
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
