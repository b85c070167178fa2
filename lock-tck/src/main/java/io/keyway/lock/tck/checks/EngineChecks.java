// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Task;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Rule 1508: what a provider's own engine tells. The TCK listens in all checks; here it brings about each fate of a
 * request once.
 */
final class EngineChecks {
    @Check(rules = "LK-1508 LK-505", from = Profile.SMOKE)
    @Hint("Which calls does the engine make to the sink of one request: one of granted, refused and failed, after it "
            + "nothing but doubt, certain and one ended, and never two at once?")
    void aSinkIsToldOneFateInItsOrder(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        if (t.isOverBackend()) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the engine is the kit's own");
        }
        Lease held = one.lock(t.name()).acquire();
        t.expectTaken(two, "a lock that is held was granted again");
        Optional<Lease> late =
                t.call("a wait that ends", () -> two.lock(t.name()).tryAcquire(t.ttl(1, 8)));
        t.expect(late.isEmpty(), "a lock that is held was granted again");
        CompletableFuture<Lease> cancelled = two.lock(t.name()).acquireAsync();
        Task<Lease> waits = t.acquiring("a waiter's acquire", two, t.name());
        t.untilWaiting(one, t.name(), 2);
        cancelled.cancel(false);
        held.release();
        Lease next = waits.get();
        t.pass(t.ttl(5, 4));
        t.expect(next.isHeld(), "a lease that is renewed was lost");
        next.release();
        Lease brief = one.lock(t.name("brief")).with(t.unrenewed()).acquire();
        t.until("a lease that is not renewed ends", () -> !brief.isHeld());
        t.acquired("the next acquire", two, t.name("brief")).release();
        t.pass(t.ttl(1, 4));
    }
}
