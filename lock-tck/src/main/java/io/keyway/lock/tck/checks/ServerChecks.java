// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;

/** What a server that crashes, comes back or stands still must not do: rules 304, 412, 502, 603, 1510. */
final class ServerChecks {
    @Check(rules = "LK-304 LK-412", requires = Requirement.SERVER, alone = true, from = Profile.SMOKE)
    @Hint("Does the client connect again by itself, and repeat what was not answered?")
    void anAcquireOutlastsARestartOfTheServer(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        // Another lock: this one could come from the client's cache, without its server.
        client.lock(t.name("before")).acquire().release();
        t.server().kill();
        Task<Lease> acquire;
        try {
            acquire = t.acquiring("an acquire while the server is down", client, t.name());
            t.pass(t.ttl(1, 2));
        } finally {
            t.server().restart();
        }
        Lease lease = acquire.get();
        t.expect(lease.isHeld(), "an acquire that outlasted a restart of the server returned a lease that is not held");
        lease.release();
    }

    @Check(rules = "LK-401", requires = Requirement.SERVER, alone = true, from = Profile.SMOKE)
    @Hint("What does a server that was just started answer to a request that waits, if it grants nothing yet?")
    void aServerThatComesBackSaysTakenOfNothingThatNobodyHolds(CheckContext t) throws Exception {
        LockClient client = t.client("asks");
        // Who holds something may have to be waited for.
        Lease before = client.lock(t.name("before")).acquire();
        t.server().kill();
        t.server().restart();
        for (int i = 0; i < 4; i++) {
            String name = t.freshName();
            DistributedLock lock = client.lock(name);
            Duration wait = i < 2 ? t.ttl(1, 8) : Duration.ZERO;
            boolean sync = i % 2 == 0;
            Task<Optional<Lease>> tries = t.start(
                    "a try that waits " + text(wait) + " after a restart of the server",
                    () -> sync ? lock.tryAcquire(wait) : inTime(lock.tryAcquireAsync(wait)));
            Optional<Throwable> failure = tries.outcome();
            if (failure.isPresent()) {
                t.expectType("the end of a try after a restart", LockUnavailableException.class, failure.get());
            } else {
                Optional<Lease> lease = tries.get();
                t.expect(
                        lease.isPresent(),
                        "after a restart of the server a try that waits " + text(wait)
                                + " heard that somebody else has a lock that nobody has ever held");
                lease.orElseThrow().release();
            }
        }
        t.acquired("an acquire after a restart", client, t.name()).release();
        before.release();
    }

    private static Optional<Lease> inTime(CompletableFuture<Optional<Lease>> future) throws Exception {
        try {
            return future.get();
        } catch (ExecutionException e) {
            throw e.getCause() instanceof LockException failure ? failure : e;
        }
    }

    @Check(rules = "LK-1510 LK-301 LK-302", requires = Requirement.SERVER, alone = true, from = Profile.SMOKE)
    @Hint("What does the server know of its grants after a restart; if nothing, how long is it closed?")
    void aServerThatComesBackGrantsNothingThatIsStillBelieved(CheckContext t) throws Exception {
        if (t.guarantees().failover().grade() == Grade.NO
                && t.guarantees().exclusion().grade() == Grade.NO) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the provider promises no exclusion over a restart");
        }
        LockClient holder = t.client("holder");
        LockClient rival = t.client("rival");
        Lease lease = holder.lock(t.name()).acquire();
        t.server().kill();
        t.server().restart();
        Task<Lease> next = t.acquiring("the rival's acquire after a restart", rival, t.name());
        boolean granted = t.happens(t.ttl(), next::isDone);
        if (granted) {
            t.expect(!lease.isHeld(), "after a restart of the server the lock was granted while its holder believed");
        }
        lease.release();
        next.get().release();
    }

    @Check(rules = "LK-603", requires = Requirement.SERVER, needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("Where does the counter of tokens live, and is it forced to disk, or led by an epoch?")
    void tokensRiseOverARestartOfTheServer(CheckContext t) throws Exception {
        if (t.guarantees().tokens().grade() == Grade.NO) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the provider promises no order of tokens over a restart");
        }
        LockClient client = t.client("first");
        long last = 0;
        for (int i = 0; i < 3; i++) {
            Lease lease = client.lock(t.name()).acquire();
            last = lease.token();
            lease.release();
        }
        t.server().kill();
        t.server().restart();
        Task<Lease> acquire = t.acquiring("an acquire after a restart", client, t.name());
        Lease lease = acquire.get();
        t.expect(
                lease.token() > last,
                "before a restart of the server token " + last + " was granted, after it " + lease.token());
        lease.release();
    }

    @Check(rules = "LK-501 LK-502 LK-412", requires = Requirement.PAUSE, alone = true)
    @Hint("Does a server that goes on look at its clock before it answers what has piled up?")
    void aServerThatStoodStillMakesNoTwoBelieve(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient rival = t.client("rival");
        Lease lease = holder.lock(t.name()).acquire();
        Task<Lease> next = t.acquiring("the rival's acquire", rival, t.name());
        t.untilWaiting(holder, t.name(), 1);
        t.server().pause();
        try {
            t.until("the holder's belief ends while its server stands still", () -> !lease.isHeld());
        } finally {
            t.server().resume();
        }
        Lease after = next.get();
        t.expect(!lease.isHeld(), "a lease that was lost is held again after its server went on");
        after.release();
    }
}
