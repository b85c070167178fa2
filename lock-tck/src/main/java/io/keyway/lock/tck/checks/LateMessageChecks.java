// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.OutcomeUnknownException;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;

/** Rules 701 and 707: messages about a grant that arrive when it is over, and perhaps another stands in its place. */
final class LateMessageChecks {
    private static ClientOptions prompt(CheckContext t) {
        return ClientOptions.defaults().withRequestTimeout(t.ttl(1, 4));
    }

    @Check(rules = "LK-701 LK-707 LK-302", requires = Requirement.LINK)
    @Hint("What does the store look for when a release arrives: the grant by its token, or whoever holds that name?")
    void theReleaseOfALapsedLeaseEndsNotTheNext(CheckContext t) throws Exception {
        LockClient next = t.client("next");
        LockClient rival = t.client("rival");
        ClientLink link = t.link("lapsed", prompt(t));
        Lease lapsed = link.client().lock(t.name()).acquire();
        link.cut();
        Lease lease = t.acquired("the acquire of the next holder", next, t.name());
        t.expect(!lapsed.isHeld(), "the lock was granted while a holder that was cut off believed");
        link.heal();
        for (int i = 0; i < 4; i++) {
            t.pass(t.ttl(1, 2));
            t.expect(lease.isHeld(), "the late release of a lapsed lease ended the lease of the next holder");
            t.expectTaken(rival, "the late release of a lapsed lease freed the lock of the next holder");
        }
        t.expectEqual("the outcome of the release of a lapsed lease", ReleaseOutcome.ALREADY_LOST, lapsed.release());
        t.expectEqual("the outcome of the next holder's release", ReleaseOutcome.RELEASED, lease.release());
    }

    @Check(rules = "LK-707 LK-1106", requires = Requirement.LINK, needs = Feature.BREAK)
    @Hint("What does the store answer to the release of a grant that is not in force: done, or not held?")
    void theReleaseOfALeaseThatWasBrokenMeanwhileIsTold(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        ClientLink link = t.link("holder", prompt(t));
        Lease lease = link.client().lock(t.name()).acquire();
        link.cut();
        Task<Boolean> breaking = t.start(
                "breakLease", () -> operator.admin().breakLease(t.key(t.name()), lease.token(), "while it is cut off"));
        if (breaking.outcome().filter(OutcomeUnknownException.class::isInstance).isPresent()) {
            throw t.skipped(
                    Verdict.NOT_APPLICABLE,
                    "the provider confirms no break before the holder that is cut off has answered");
        }
        t.expect(breaking.get(), "breaking a lease that is in force says that it is not");
        link.heal();
        ReleaseOutcome outcome = t.call("the release of the broken lease", lease::release);
        t.expect(
                outcome != ReleaseOutcome.RELEASED,
                "the release of a lease that was broken before says RELEASED; its holder should learn of the break");
        t.expectEqual("the state of a lease that was broken", Lease.State.LOST, lease.state());
    }
}
