// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockOptions;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.NotExecutedException;
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
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rules 1402, 1503 and 1512 of an attempt that takes several steps: the answer to the first is lost, then the answer to
 * the second, and so on, until an attempt gets all that it needs. Whoever looks before he takes never comes to his
 * taking if already the answer to the look is lost.
 */
final class LostAnswerChecks {
    private static final int STEPS = 12;
    private static final int LONGEST = 4;

    /** Makes one round; returns whether all answers that were needed came. */
    private interface Round {
        boolean make(int lost) throws Exception;
    }

    /** Returns false if answers cannot be lost one by one. */
    private static boolean sweep(ClientLink link, Round round) throws Exception {
        for (int lost = 0; lost < STEPS; lost++) {
            if (!link.loseRepliesAfter(lost)) {
                return false;
            }
            if (round.make(lost)) {
                return true;
            }
        }
        return true;
    }

    private static String which(int lost) {
        return "the answers to an attempt were lost" + (lost == 0 ? "" : " from number " + (lost + 1) + " on");
    }

    @Check(rules = "LK-1503 LK-1512 LK-1402", requires = Requirement.WIRE, from = Profile.SMOKE)
    @Hint("Which of several steps of an attempt may have been carried out when one of them fails: is a "
            + "NotExecutedException of a later step right, too?")
    void noStepThatWasCarriedOutIsSaidNotToBe(CheckContext t) throws Exception {
        ClientLink link = t.link("unanswered");
        BackendProbe probe = t.probe(link, "unanswered");
        LockClient other = t.client("other");
        prepare(t, probe, t.longer(4));
        long begun = t.now();
        // On a busy machine the first steps alone may take all of a short limit.
        for (int times = 1; times <= LONGEST && t.now() - begun < t.patience().toNanos(); times *= 2) {
            Duration limit = t.ttl(times, 6);
            boolean[] left = new boolean[1];
            boolean each = sweep(
                    link,
                    lost -> isWhole(t, link, probe, other, limit, lost, left)
                            || t.now() - begun >= t.patience().toNanos());
            if (left[0]) {
                return;
            }
            if (!each) {
                throw t.skipped(
                        Verdict.NOT_RUN,
                        "the answer to an attempt was lost, and it had left nothing at the store; the subject's links "
                                + "cannot lose the answer to a later step (Links.loseRepliesAfter)");
            }
        }
        throw t.skipped(
                Verdict.INCONCLUSIVE,
                "whichever answer to an attempt was lost, it had left nothing at the store: it had no time to come to "
                        + "its last step on this machine; --time-factor gives it more");
    }

    private static boolean isWhole(
            CheckContext t,
            ClientLink link,
            BackendProbe probe,
            LockClient other,
            Duration limit,
            int lost,
            boolean[] left)
            throws Exception {
        Request request = probe.request(t.freshName(), t.longer(4));
        Attempt result = null;
        Exception thrown = null;
        try {
            result = probe.attempt(request, limit);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            thrown = e;
        }
        boolean whole = result instanceof Attempt.Granted;
        boolean taken = !whole && other.lock(request.key().name()).tryAcquire().isEmpty();
        left[0] |= taken;
        t.never(
                taken && (result != null || thrown instanceof NotExecutedException),
                which(lost) + ", and attempt() " + outcome(result, thrown)
                        + "; yet another client finds the lock taken: a step of it was carried out, and nobody "
                        + "will undo it");
        link.keepReplies();
        probe.withdrawInTime(request);
        prepare(t, probe, t.longer(4));
        return whole;
    }

    @Check(rules = "LK-1505", requires = Requirement.WIRE)
    @Hint("Which step of an attempt swallows an interrupt, so that the next one waits until the limit?")
    void anInterruptEndsAnAttemptAtWhicheverStepItIs(CheckContext t) throws Exception {
        ClientLink link = t.link("unanswered");
        BackendProbe probe = t.probe(link, "unanswered");
        if (!probe.isPrompt()) {
            throw t.skipped(
                    Verdict.NOT_APPLICABLE,
                    "the backend does not say that it is prompt(): its calls run on threads of the kit, until their"
                            + " limit");
        }
        prepare(t, probe, t.longer(4));
        long end = t.now() + t.patience().toNanos();
        boolean[] whole = new boolean[1];
        // On a busy machine an attempt may not come to its last step before it is interrupted.
        for (int times = 1; times <= LONGEST && !whole[0] && t.now() - end < 0; times *= 2) {
            Duration time = t.ttl(times, 4);
            boolean each = sweep(link, lost -> {
                whole[0] = isWholeOrInterrupted(t, link, probe, time, lost);
                return whole[0] || t.now() - end >= 0;
            });
            if (!each) {
                throw t.skipped(
                        Verdict.NOT_RUN,
                        "an interrupt ends an attempt whose first answer is lost; the subject's links cannot lose the "
                                + "answer to a later step (Links.loseRepliesAfter)");
            }
        }
        if (!whole[0]) {
            throw t.skipped(
                    Verdict.INCONCLUSIVE,
                    "an attempt had no time to come to its last step on this machine before it was interrupted; "
                            + "--time-factor gives it more");
        }
    }

    private static boolean isWholeOrInterrupted(
            CheckContext t, ClientLink link, BackendProbe probe, Duration time, int lost) throws Exception {
        Request request = probe.request(t.freshName(), t.longer(4));
        Task<Attempt> attempt = t.start("an attempt without answer", () -> probe.attempt(request, t.patience()));
        // It comes to the step that gets no answer.
        boolean ended = t.happens(time, attempt::isDone);
        attempt.interrupt();
        t.expect(
                t.happens(t.ttl(), attempt::isDone),
                which(lost) + ", and an attempt with a limit of " + text(t.patience()) + " had not ended "
                        + text(t.ttl()) + " after its thread was interrupted");
        boolean whole = ended && attempt.outcome().isEmpty() && attempt.get() instanceof Attempt.Granted;
        link.keepReplies();
        probe.withdrawInTime(request);
        prepare(t, probe, t.longer(4));
        return whole;
    }

    private static String outcome(@Nullable Attempt result, @Nullable Exception thrown) {
        return result != null ? "returned " + result : "threw " + thrown;
    }

    /**
     * The connection stands, with all that a grant of that ttl needs, so that the steps of a round are those of an
     * attempt alone.
     */
    private static void prepare(CheckContext t, BackendProbe probe, Duration term) throws InterruptedException {
        t.until("an attempt is granted over a link that is whole", () -> {
            Request request = probe.request(t.freshName(), term);
            boolean granted = probe.isAnswered(() -> probe.attempt(request));
            return granted
                    && probe.isAnswered(() -> probe.release(probe.granted(request, "a free lock was not granted")));
        });
    }

    @Check(rules = "LK-1402 LK-407 LK-307", requires = Requirement.WIRE)
    @Hint("Which of several steps of an attempt may have been carried out when one of them fails, and does the kit "
            + "hear that the outcome is unknown?")
    void whatAnyStepLeftIsGivenBack(CheckContext t) throws Exception {
        ClientLink link = t.link("unanswered", ClientOptions.defaults().withRequestTimeout(t.ttl(1, 4)));
        LockClient client = link.client();
        LockClient next = t.client("next");
        Duration longer = t.longer(8);
        LockOptions lasting = LockOptions.none().withTtl(longer);
        client.lock(t.name("before")).with(lasting).acquire().release();
        sweep(link, lost -> {
            String name = t.freshName();
            Task<Optional<Lease>> attempt = t.start(
                    "an attempt without answer",
                    () -> client.lock(name).with(lasting).tryAcquire());
            Optional<Throwable> thrown = attempt.outcome();
            boolean whole = thrown.isEmpty() && attempt.get().isPresent();
            if (thrown.isPresent()) {
                t.expectType("an attempt without answer", LockException.class, thrown.orElseThrow());
            }
            link.keepReplies();
            if (whole) {
                attempt.get().orElseThrow().release();
            }
            t.expectAcquired(
                            t.ttl(5, 2),
                            "the acquire of another client",
                            next,
                            name,
                            which(lost) + ", and what it "
                                    + "had left was still in the way " + text(t.ttl(5, 2))
                                    + " after the link was healed: it was not given back, but left to its ttl of "
                                    + text(longer))
                    .release();
            // The connection stands again, with all that a grant of that ttl needs.
            t.call(
                            "an acquire over the healed link",
                            () -> client.lock(t.freshName()).with(lasting).acquire())
                    .release();
            return whole;
        });
        t.pass(t.ttl());
    }
}
