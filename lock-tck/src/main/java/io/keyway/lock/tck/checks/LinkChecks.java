// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Network;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import io.keyway.lock.tck.proxy.Direction;
import java.util.Optional;

/** What a broken link between client and server must not do, and what must follow from it. */
final class LinkChecks {
    /** Of 500 ms, unless ttls are stretched. */
    private static ClientOptions brief(CheckContext t) {
        return ClientOptions.defaults().withRequestTimeout(t.ttl(5, 12));
    }

    @Check(rules = "LK-510 LK-304", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("What happens when the connection ends: are grants tied to it, at the client or at the server?")
    void aConnectionThatIsResetEndsNoLease(CheckContext t) throws Exception {
        t.needsGrantsThatOutlastConnections();
        Network network = t.network();
        LockClient client = network.client("holder");
        LockClient rival = t.client("rival");
        Lease lease = client.lock(t.name()).acquire();
        for (int i = 0; i < 3; i++) {
            network.reset();
            t.expectTaken(rival, "a reset of the holder's connection has freed its lock");
            t.pass(t.ttl(1, 2));
            t.expect(lease.isHeld(), "a reset of the holder's connection has ended its lease");
        }
        t.expectEqual("the outcome of the release", ReleaseOutcome.RELEASED, lease.release());
        t.expectFree(rival, "the lock was released, and is not free");
    }

    @Check(rules = "LK-501 LK-502 LK-801", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("From when is belief counted, and is it computed at each question?")
    void aHolderThatIsCutOffStopsBeforeAnotherIsGranted(CheckContext t) throws Exception {
        cutOff(t, Network::blackHole);
    }

    @Check(rules = "LK-501 LK-502", requires = Requirement.PROXY)
    @Hint("Does the client go on believing while its renewals get no answer?")
    void aHolderThatIsNotAnsweredStopsBeforeAnotherIsGranted(CheckContext t) throws Exception {
        cutOff(t, network -> network.cut(Direction.TO_CLIENT));
    }

    @Check(rules = "LK-501 LK-502", requires = Requirement.PROXY)
    @Hint("Does the client go on believing while its renewals do not arrive?")
    void aHolderThatIsNotHeardStopsBeforeAnotherIsGranted(CheckContext t) throws Exception {
        cutOff(t, network -> network.cut(Direction.TO_SERVER));
    }

    @Check(rules = "LK-501 LK-801", requires = Requirement.PROXY)
    @Hint("Is a lease whose server is gone told to be lost at its deadline?")
    void aHolderWhoseServerIsGoneIsToldAtItsDeadline(CheckContext t) throws Exception {
        t.needsGrantsThatOutlastConnections();
        cutOff(t, Network::disconnect);
    }

    private interface Cut {
        void make(Network network);
    }

    private static void cutOff(CheckContext t, Cut cut) throws Exception {
        Network network = t.network();
        LockClient client = network.client("holder");
        LockClient rival = t.client("rival");
        Lease lease = client.lock(t.name()).acquire();
        cut.make(network);
        Task<Lease> next = t.acquiring("the rival's acquire", rival, t.name());
        Lease after = next.get();
        t.expect(!lease.isHeld(), "another client was granted the lock while the holder that was cut off believed");
        t.expectLoss(LeaseLoss.Cause.EXPIRED, lease);
        network.reset();
        network.heal();
        t.pass(t.ttl(3, 2));
        t.expect(!lease.isHeld(), "a lease that was lost is held again after the link was healed");
        t.expect(after.isHeld(), "the next holder's lease ended when the former holder's link was healed");
        t.expectEqual("the outcome of the late release", ReleaseOutcome.ALREADY_LOST, lease.release());
        t.expect(after.isHeld(), "the late release has ended the next holder's lease");
        after.release();
        Task<Lease> again = t.acquiring("an acquire over the healed link", client, t.name());
        again.get().release();
    }

    @Check(rules = "LK-1402 LK-1401 LK-307 LK-407", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("What becomes of a grant whose answer was lost: does a repetition find it by the id of the request, and a "
            + "withdrawal end it?")
    void aGrantWhoseReplyWasLostIsFoundOrGivenBack(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("asker", brief(t));
        LockClient rival = t.client("rival");
        // The connection stands before its replies are lost.
        client.lock(t.name("before")).acquire().release();
        network.loseReplies();
        Task<Optional<Lease>> attempt = t.start(
                "an attempt whose reply is lost", () -> client.lock(t.name()).tryAcquire());
        Optional<Throwable> thrown = attempt.outcome();
        network.reset();
        network.heal();
        if (thrown.isPresent()) {
            boolean honest =
                    thrown.get() instanceof LockUnavailableException || thrown.get() instanceof OutcomeUnknownException;
            t.expect(honest, "an attempt whose reply was lost ended with " + thrown.get());
        }
        Optional<Lease> kept = thrown.isPresent() ? Optional.empty() : attempt.get();
        t.expect(
                thrown.isPresent() || kept.isPresent(),
                "an attempt whose reply was lost ended with \"held by another\", and nobody holds the lock");
        if (kept.isPresent()) {
            kept.orElseThrow().release();
        }
        Task<Lease> next = t.acquiring("an acquire after the orphan", rival, t.name());
        next.get().release();
    }

    @Check(rules = "LK-308 LK-501", requires = Requirement.PROXY)
    @Hint("Is the deadline of a grant counted from the send of its request, and looked at before the lease is handed "
            + "out?")
    void aGrantThatArrivesTooLateIsNotHandedOut(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("asker", ClientOptions.defaults().withRequestTimeout(t.ttl(4, 1)));
        client.lock(t.name("before")).acquire().release();
        network.cut(Direction.TO_CLIENT);
        Task<Lease> acquire = t.acquiring("an acquire whose answer is late", client, t.name());
        t.pass(t.ttl(5, 4));
        t.expect(!acquire.isDone(), "an acquire returned a lease before any answer could arrive");
        network.heal();
        Lease lease = acquire.get();
        t.expect(lease.isHeld(), "an acquire returned a lease whose deadline had passed");
        t.expect(
                lease.remaining().compareTo(t.ttl(3, 4)) <= 0,
                "a new lease believes for " + lease.remaining() + ", more than 3/4 of its ttl of " + t.ttl());
        t.pass(t.ttl());
        t.expect(lease.isHeld(), "the lease of an acquire whose first answer was late is not renewed");
        lease.release();
    }

    @Check(rules = "LK-304 LK-307 LK-302", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("Does acquire() go on by itself after a lost reply, with the same request?")
    void anAcquireOutlastsLostReplies(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("asker", brief(t));
        client.lock(t.name("before")).acquire().release();
        network.loseReplies();
        Task<Lease> acquire = t.acquiring("an acquire whose first reply is lost", client, t.name());
        t.pass(t.ttl(1, 4));
        network.reset();
        network.heal();
        Lease lease = acquire.get();
        t.expect(lease.isHeld(), "an acquire that outlasted a lost reply returned a lease that is not held");
        t.expectTaken(t.client("rival"), "after an acquire with a lost reply a second client was given the lock");
        t.pass(t.ttl(3, 2));
        t.expect(
                lease.isHeld(),
                "the lease of an acquire with a lost reply was lost within 3/2 ttl: which grant is renewed?");
        t.expectEqual("the outcome of the release", ReleaseOutcome.RELEASED, lease.release());
        t.until(
                "the lock is free after the release",
                () -> t.client("next").lock(t.name()).tryAcquire().isPresent());
    }

    @Check(rules = "LK-508 LK-504 LK-802", requires = Requirement.PROXY)
    @Hint("Is a renewal whose answer was lost simply sent again?")
    void aRenewalWhoseReplyWasLostIsRepeated(CheckContext t) throws Exception {
        t.needsGrantsThatOutlastConnections();
        Network network = t.network();
        LockClient client = network.client("holder", brief(t));
        Lease lease = client.lock(t.name()).acquire();
        long token = lease.token();
        for (int i = 0; i < 3; i++) {
            network.loseReplies();
            t.pass(t.ttl(1, 8));
            network.reset();
            network.heal();
            t.pass(t.ttl(3, 4));
            t.expect(lease.isHeld(), "replies that were lost for an eighth of the ttl have cost a lease");
            t.expectEqual("the token after a repeated renewal", token, lease.token());
        }
        lease.release();
    }

    @Check(rules = "LK-703 LK-1402 LK-708", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("Is a release whose answer was lost said to be UNKNOWN, and repeated in the background?")
    void aReleaseWhoseReplyWasLostIsUnknownAndRepeated(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("holder", brief(t));
        Lease lease = client.lock(t.name()).acquire();
        network.loseReplies();
        Task<ReleaseOutcome> release = t.start("a release whose reply is lost", lease::release);
        ReleaseOutcome outcome = release.get();
        t.expect(!lease.isHeld(), "a lease is held after its release was called");
        t.expectEqual("a repetition of the release", outcome, lease.release());
        network.reset();
        network.heal();
        Task<Lease> next = t.start(
                "an acquire after a release without reply",
                () -> t.client("next").lock(t.name()).acquire());
        next.get().release();
    }

    @Check(rules = "LK-401 LK-1404 LK-1405", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("Is \"could not ask\" told apart from \"held by another\"?")
    void anAttemptThatReachesNobodyIsNotARefusal(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("asker", brief(t));
        client.lock(t.name("before")).acquire().release();
        network.disconnect();
        Task<Optional<Lease>> attempt =
                t.trying("an attempt while no server can be reached", client, t.name(), t.ttl(1, 4));
        Optional<Throwable> thrown = attempt.outcome();
        t.expect(thrown.isPresent(), "an attempt while no server could be reached was answered: " + thrown);
        LockException e =
                t.expectType("an attempt while no server can be reached", LockException.class, thrown.orElseThrow());
        t.expect(
                e instanceof LockUnavailableException || e instanceof OutcomeUnknownException,
                "an attempt while no server could be reached ended with " + e);
        t.expect(e.retryable(), "an attempt that reached no server is said not to be worth repeating: " + e);
        t.expect(e.server().isPresent(), "the exception names no server: " + e);
        network.heal();
        Task<Lease> next = t.acquiring("an acquire when the server is back", client, t.name());
        next.get().release();
    }

    @Check(rules = "LK-304 LK-412", requires = Requirement.PROXY, from = Profile.SMOKE)
    @Hint("Does a waiter get its place again after its connection has broken?")
    void aWaiterOutlastsABrokenLink(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("waiter");
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> waits = t.acquiring("an acquire over a link that breaks", client, t.name());
        t.untilWaiting(holder, t.name(), 1);
        network.disconnect();
        t.pass(t.ttl(1, 2));
        network.heal();
        t.pass(t.ttl(1, 2));
        network.blackHole();
        t.pass(t.ttl(1, 2));
        network.reset();
        network.heal();
        held.release();
        waits.get().release();
    }

    @Check(rules = "LK-305 LK-703 LK-1001", requires = Requirement.PROXY)
    @Hint("Is each call bounded by a timer, rather than by the socket?")
    void callsEndInTimeWhileNothingAnswers(CheckContext t) throws Exception {
        Network network = t.network();
        LockClient client = network.client("asker", brief(t));
        Lease lease = client.lock(t.name("held")).acquire();
        network.blackHole();
        long before = t.now();
        Task<Optional<Lease>> attempt = t.start(
                "tryAcquire() while nothing answers",
                () -> client.lock(t.name()).tryAcquire());
        attempt.outcome();
        Task<ReleaseOutcome> release = t.start("release() while nothing answers", lease::release);
        release.get();
        Task<Boolean> close = t.start("close() while nothing answers", () -> client.close());
        close.get();
        t.note("tryAcquire, release and close took " + (t.now() - before) / 1_000_000 + " ms while nothing answered");
    }
}
