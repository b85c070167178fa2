// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.ClientLink.Silence;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.Optional;

/**
 * Rules 304, 305, 307, 401, 402, 407, 703, 1005, 1401 and 1402: calls of which the client does not know how they ended.
 */
final class UnknownOutcomeChecks {
    private static ClientOptions prompt(CheckContext t) {
        return ClientOptions.defaults().withRequestTimeout(t.ttl(1, 2));
    }

    private static void within(CheckContext t, String what, Duration limit, Task<?> task) throws InterruptedException {
        t.expectEnd(limit.plus(t.ttl(1, 4)), task, what + " should take " + text(limit) + " at most, and took longer");
    }

    @Check(rules = "LK-401 LK-305 LK-402 LK-1405", requires = Requirement.LINK)
    @Hint("What does an attempt return when its time is over and no answer has come?")
    void anAttemptThatReachesNobodyIsNoRefusal(CheckContext t) throws Exception {
        attemptsInVain(t, Silence.CUT);
    }

    @Check(rules = "LK-1401 LK-402 LK-407 LK-1405", requires = Requirement.LINK)
    @Hint("If the store may have granted the lock and the answer is lost: is that told apart from a refusal, and "
            + "cleaned up?")
    void anAttemptWhoseAnswerIsLostIsNoRefusal(CheckContext t) throws Exception {
        attemptsInVain(t, Silence.UNANSWERED);
    }

    private static void attemptsInVain(CheckContext t, Silence silence) throws Exception {
        ClientLink link = t.link(silence.role(), prompt(t));
        LockClient next = t.client("next");
        link.client().lock(t.name("before")).acquire().release();
        for (int i = 0; i < 2; i++) {
            String name = t.freshName();
            Duration wait = i == 0 ? Duration.ZERO : t.ttl(1, 2);
            link.begin(silence);
            Task<Optional<Lease>> attempt = t.trying("an attempt that gets no answer", link.client(), name, wait);
            within(t, "an attempt that gets no answer", t.ttl(1, 2), attempt);
            Throwable thrown = attempt.outcome()
                    .orElseThrow(() -> t.failure("an attempt that got no answer returned; it should say by "
                            + "LockUnavailableException that it could not ask, or OutcomeUnknownException"));
            LockException e = t.expectType("an attempt that gets no answer", LockException.class, thrown);
            t.expect(
                    e instanceof LockUnavailableException || e instanceof OutcomeUnknownException,
                    "an attempt that got no answer threw " + e);
            t.expect(e.retryable(), "an attempt that got no answer is said not to be worth repeating: " + e);
            link.end(silence);
            Lease lease = t.acquired("the acquire of another client", next, name);
            t.pass(t.ttl(5, 4));
            t.expect(lease.isHeld(), "the next holder of a lock lost it after an attempt of unknown outcome");
            lease.release();
        }
    }

    @Check(rules = "LK-1402 LK-407 LK-307", requires = Requirement.LINK)
    @Hint("Is a grant that nobody heard of withdrawn in the background, or left to its ttl, or renewed forever?")
    void aGrantThatNobodyHeardOfIsGivenBack(CheckContext t) throws Exception {
        LockClient next = t.client("next");
        Duration longer = t.longer(4);
        LockOptions lasting = LockOptions.none().withTtl(longer);
        ClientLink link = t.link("unanswered", prompt(t));
        link.client().lock(t.name("before")).acquire().release();
        link.loseReplies();
        Task<Optional<Lease>> attempt = t.start(
                "an attempt without answer",
                () -> link.client().lock(t.name()).with(lasting).tryAcquire());
        t.expect(attempt.outcome().isPresent(), "an attempt returned, though no answer can have arrived");
        link.keepReplies();
        Task<Lease> takes = t.acquiring("the acquire of another client", next, t.name());
        t.expectEnd(
                t.ttl(5, 2),
                takes,
                "a grant that nobody heard of was still in the way " + text(t.ttl(5, 2))
                        + " after the link was healed: it was not given back, but left to its ttl of "
                        + text(longer));
        t.expect(takes.get().isHeld(), "a lease is not held when it is handed out");
        t.pass(t.ttl());
    }

    @Check(rules = "LK-304 LK-307 LK-412", requires = Requirement.LINK)
    @Hint("Does acquire() go on with the same request when the link does?")
    void anAcquireOutlastsASilence(CheckContext t) throws Exception {
        LockClient rival = t.client("rival");
        for (Silence silence : Silence.values()) {
            ClientLink link = t.link(silence.role(), prompt(t));
            link.client().lock(t.name("before")).acquire().release();
            String name = t.freshName();
            link.begin(silence);
            Task<Lease> acquire = t.acquiring("an acquire while nothing is answered", link.client(), name);
            t.pass(t.ttl(3, 2));
            boolean early = acquire.isDone();
            t.expect(!early, "acquire() ended while nothing was answered; it has no time limit");
            link.end(silence);
            Lease lease = acquire.get();
            t.expect(lease.isHeld(), "an acquire that outlasted a silence returned a lease that is not held");
            t.expectTaken(rival, name, "the lock was granted twice after a silence");
            t.pass(t.ttl(5, 4));
            t.expect(lease.isHeld(), "a lease that was acquired after a silence is not renewed");
            t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
            t.comesFree(
                    t.ttl(1, 2),
                    rival,
                    name,
                    "the lock was acquired once and released once, after a silence, and half a ttl later it is not "
                            + "free");
        }
    }

    @Check(rules = "LK-703 LK-1402 LK-706", requires = Requirement.LINK)
    @Hint("What bounds the wait for the answer of a release, and who sends it again?")
    void aReleaseWithoutAnswerIsUnknownAndGoesOn(CheckContext t) throws Exception {
        LockClient next = t.client("next");
        Duration longer = t.longer(4);
        LockOptions lasting = LockOptions.none().withTtl(longer);
        for (Silence silence : Silence.values()) {
            ClientLink link = t.link(silence.role(), prompt(t));
            String name = t.freshName();
            Lease lease = link.client().lock(name).with(lasting).acquire();
            link.begin(silence);
            Task<ReleaseOutcome> release = t.start("a release that gets no answer", lease::release);
            t.until("isHeld() is false when release() has been called", () -> !lease.isHeld());
            within(t, "a release that gets no answer", t.ttl(1, 2), release);
            ReleaseOutcome outcome = release.get();
            // A client with a cache answers for itself.
            t.expect(
                    outcome == ReleaseOutcome.UNKNOWN || (outcome == ReleaseOutcome.RELEASED && t.has(Feature.CACHING)),
                    "the outcome of a release that gets no answer should be UNKNOWN, and is " + outcome);
            t.expectEqual("the state after it", Lease.State.RELEASED, lease.state());
            link.end(silence);
            t.expectAcquired(
                            t.ttl(5, 2),
                            "the acquire of the next client",
                            next,
                            name,
                            "a release was not answered, "
                                    + "and " + text(t.ttl(5, 2))
                                    + " after the link was healed the lock is not free: the release did not go on in "
                                    + "the "
                                    + "background")
                    .release();
            t.expectEqual("a repeated release", outcome, lease.release());
            t.pass(t.ttl());
        }
    }

    @Check(rules = "LK-701 LK-307 LK-1402 LK-1305", requires = Requirement.LINK)
    @Hint("By what does the store find the grant that a release means: by its token, or by name and client?")
    void aRepeatedReleaseEndsNoLaterGrant(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        LockClient third = t.client("third");
        for (boolean same : new boolean[] {true, false}) {
            String name = t.freshName();
            ClientLink link = t.link("unanswered" + same, prompt(t));
            Lease lease = link.client().lock(name).acquire();
            link.loseReplies();
            t.call("a release that gets no answer", lease::release);
            // The store has carried it out; the client repeats it, and by then the lock is another grant's.
            Lease next;
            if (same) {
                link.keepReplies();
                next = t.acquired("the next acquire by the same client", link.client(), name);
            } else {
                next = t.acquired("the next acquire by another client", other, name);
                link.keepReplies();
            }
            for (int i = 0; i < 4; i++) {
                t.pass(t.ttl(1, 4));
                Optional<Lease> stolen = third.lock(name).tryAcquire();
                t.expect(
                        stolen.isEmpty(),
                        "the release of an earlier grant was repeated, and that freed the grant of "
                                + (same ? "the same client" : "the next holder"));
            }
            t.expect(next.isHeld(), "the release of an earlier grant was repeated, and the next holder's lease ended");
            next.release();
        }
    }

    @Check(rules = "LK-1005 LK-1001 LK-1003", requires = Requirement.LINK)
    @Hint("What does close() wait for when nothing answers?")
    void closeEndsInTimeWhileNothingIsAnswered(CheckContext t) throws Exception {
        LockClient next = t.client("next");
        ClientLink link = t.link(
                "cut", prompt(t).with(CommonOptions.CLOSE_TIMEOUT, t.isVirtual() ? Duration.ofMillis(50) : t.ttl()));
        Lease lease = link.client().lock(t.name()).acquire();
        link.cut();
        Task<Boolean> close =
                t.start("close() while nothing is answered", () -> link.client().close());
        // Threads end in real time, on any clock.
        if (!t.isVirtual()) {
            within(t, "close() while nothing is answered", t.ttl(), close);
        }
        close.get();
        t.expect(!lease.isHeld(), "a lease of a closed client says that it is held");
        t.expectLoss(LeaseLoss.Cause.CLIENT_CLOSED, lease);
        Task<Lease> takes = t.acquiring("the acquire of the next client", next, t.name());
        within(t, "the expiry of what close() could not release", t.ttl(3, 2), takes);
        takes.get().release();
    }
}
