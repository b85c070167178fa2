// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.CommonOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Grade;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;

/** Rules 608 and 609: a floor of tokens, for a store that takes the place of another. */
final class FloorChecks {
    /**
     * Further than any store counts during a check, and so little that there is room for hundreds of thousands of
     * checks.
     */
    private static final long FAR = 1L << 44;

    @Check(rules = "LK-608", needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("Is the floor kept where tokens are counted, and applied to those of all clients?")
    void eachTokenIsAboveTheFloorWhoeverAsks(CheckContext t) throws Exception {
        LockClient early = t.client("early");
        long floor = farAbove(t, early);
        LockClient asking = asking(t, floor);
        Task<Lease> asked = t.acquiring("the client that gives a floor", asking, t.name());
        boolean raised = t.happens(t.ttl(1, 2), asked::isDone);
        if (!raised) {
            // The store may wait until nobody is connected who would go on below.
            early.close();
        }
        long first = above(t, floor, "the client that gave it", asked.get());
        long second = above(t, first, "a client without a floor", take(t.client("late"), t.name()));
        if (raised) {
            second = above(t, second, "a client that was connected before", take(early, t.name()));
        }
        above(t, second, "the client that gave it", take(asking, t.name()));
        above(t, floor, "a client without a floor, for another name", take(t.client("other"), t.freshName()));
    }

    @Check(rules = "LK-609", needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("Does start compare the floor of the client with that of the store (TokenFloor.isAbove)?")
    void aFloorBelowThatOfTheStoreIsRefused(CheckContext t) throws Exception {
        LockClient early = t.client("early");
        long floor = farAbove(t, early);
        early.close();
        LockClient asking = asking(t, floor);
        long first = above(t, floor, "the client that gave it", take(asking, t.name()));
        long lower = floor - 1;
        LockException refusal = t.expectThrows(
                "tryAcquire of a client whose floor is lower than that of the store",
                LockException.class,
                () -> asking(t, lower).lock(t.name()).tryAcquire());
        t.expect(!refusal.retryable(), "the refusal says that another try may help: " + refusal);
        String said = String.valueOf(refusal.getMessage());
        t.expect(
                said.contains(Long.toString(lower)) && said.contains(Long.toString(floor)),
                "the refusal does not name the floors " + lower + " and " + floor + ": " + said);
        long second = above(t, first, "a client that gives the same floor", take(asking(t, floor), t.name()));
        above(t, second, "the client that gave it", take(asking, t.name()));
    }

    @Check(rules = "LK-608", needs = Feature.FENCING, requires = Requirement.SERVER, alone = true)
    @Hint("Is the floor on disk when the first client that gives it is granted something?")
    void theFloorOutlastsARestartOfTheServer(CheckContext t) throws Exception {
        if (t.guarantees().tokens().grade() == Grade.NO) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the provider promises no order of tokens over a restart");
        }
        LockClient early = t.client("early");
        long floor = farAbove(t, early);
        early.close();
        LockClient asking = asking(t, floor);
        long first = above(t, floor, "the client that gave it", take(asking, t.name()));
        asking.close();
        t.server().kill();
        t.server().restart();
        Task<Lease> after = t.acquiring("a client without a floor", t.client("after"), t.name());
        above(t, first, "a client without a floor, after a restart of the server", after.get());
        above(t, floor, "a client without a floor, for another name", take(t.client("other"), t.freshName()));
    }

    /**
     * A floor that no token of the subject has reached yet; gives the check up if there is none, or no option for it.
     */
    private static long farAbove(CheckContext t, LockClient client) throws InterruptedException {
        if (!t.takes(CommonOptions.TOKEN_FLOOR)) {
            throw t.skipped(
                    Verdict.NOT_APPLICABLE,
                    "the provider has no option " + CommonOptions.TOKEN_FLOOR
                            + ", or the subject's URL says it already");
        }
        long floor = take(client, t.name()).token() + FAR;
        if (floor < 0 || floor > 1L << 62) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the tokens of the subject have no room for a higher floor");
        }
        try {
            asking(t, floor);
        } catch (InvalidLockUrlException e) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the provider takes no floor at this URL: " + e.getMessage());
        }
        return floor;
    }

    private static LockClient asking(CheckContext t, long floor) {
        return t.client(
                "asking for " + floor,
                ClientOptions.defaults(),
                t.urlWith(CommonOptions.TOKEN_FLOOR.name(), Long.toString(floor)));
    }

    private static Lease take(LockClient client, String name) throws InterruptedException {
        Lease lease = client.lock(name).acquire();
        lease.release();
        return lease;
    }

    private static long above(CheckContext t, long least, String who, Lease lease) {
        lease.release();
        t.never(
                lease.token() <= least,
                who + " was granted token " + lease.token() + ", which is not above " + least
                        + ", the floor or a token that was granted before");
        return lease.token();
    }
}
