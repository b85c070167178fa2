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
import io.keyway.lock.LockUrl;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Skipped;
import io.keyway.lock.tck.check.Task;
import java.util.Optional;

/**
 * Rules 608 to 610: a floor of tokens, for a store that takes the place of another. It stays in the store for good, so
 * all of it happens in a place for tests, which is removed at the end.
 */
final class FloorChecks {
    /** Further than any store counts during a check. */
    private static final long FAR = 1L << 44;

    @Check(rules = "LK-608", needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("Is the floor kept where tokens are counted, and applied to those of all clients?")
    void eachTokenIsAboveTheFloorWhoeverAsks(CheckContext t) throws Exception {
        LockUrl place = place(t);
        LockClient early = client(t, "early", place);
        long floor = farAbove(t, early, place);
        LockClient asking = asking(t, place, floor);
        Task<Lease> asked = t.acquiring("the client that gives a floor", asking, t.name());
        boolean raised = t.happens(t.ttl(1, 2), asked::isDone);
        if (!raised) {
            // The store may wait until nobody is connected who would go on below.
            early.close();
        }
        long first = above(t, floor, "the client that gave it", asked.get());
        long second = above(t, first, "a client without a floor", take(client(t, "late", place), t.name()));
        if (raised) {
            second = above(t, second, "a client that was connected before", take(early, t.name()));
        }
        above(t, second, "the client that gave it", take(asking, t.name()));
        above(t, floor, "a client without a floor, for another name", take(client(t, "other", place), t.freshName()));
    }

    @Check(rules = "LK-609", needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("Does start compare the floor of the client with that of the store (TokenFloor.isAbove)?")
    void aFloorBelowThatOfTheStoreIsRefused(CheckContext t) throws Exception {
        LockUrl place = place(t);
        LockClient early = client(t, "early", place);
        long floor = farAbove(t, early, place);
        early.close();
        LockClient asking = asking(t, place, floor);
        long first = above(t, floor, "the client that gave it", take(asking, t.name()));
        long lower = floor - 1;
        LockException refusal = t.expectThrows(
                "tryAcquire of a client whose floor is lower than that of the store",
                LockException.class,
                () -> asking(t, place, lower).lock(t.name()).tryAcquire());
        t.expect(!refusal.retryable(), "the refusal says that another try may help: " + refusal);
        String said = String.valueOf(refusal.getMessage());
        t.expect(
                said.contains(Long.toString(lower)) && said.contains(Long.toString(floor)),
                "the refusal does not name the floors " + lower + " and " + floor + ": " + said);
        long second = above(t, first, "a client that gives the same floor", take(asking(t, place, floor), t.name()));
        above(t, second, "the client that gave it", take(asking, t.name()));
    }

    @Check(rules = "LK-608", needs = Feature.FENCING, requires = Requirement.SERVER, alone = true)
    @Hint("Is the floor on disk when the first client that gives it is granted something?")
    void theFloorOutlastsARestartOfTheServer(CheckContext t) throws Exception {
        if (t.guarantees().tokens().grade() == Grade.NO) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the provider promises no order of tokens over a restart");
        }
        LockUrl place = place(t);
        LockClient early = client(t, "early", place);
        long floor = farAbove(t, early, place);
        early.close();
        LockClient asking = asking(t, place, floor);
        long first = above(t, floor, "the client that gave it", take(asking, t.name()));
        asking.close();
        t.server().kill();
        t.server().restart();
        Task<Lease> after = t.acquiring("a client without a floor", client(t, "after", place), t.name());
        above(t, first, "a client without a floor, after a restart of the server", after.get());
        above(t, floor, "a client without a floor, for another name", take(client(t, "other", place), t.freshName()));
    }

    @Check(rules = "LK-610", needs = Feature.FENCING, alone = true, from = Profile.SMOKE)
    @Hint("What of the store is shared by testUrl and the URL itself? What does Leftovers.remove leave there?")
    void aPlaceForTestsIsApartAndLeavesNothing(CheckContext t) throws Exception {
        LockUrl place = t.testUrl()
                .orElseThrow(() -> t.skipped(
                        Verdict.NOT_APPLICABLE, "the provider names no place for tests (LockProvider.testUrl)"));
        t.never(place.equals(t.url()), "testUrl names the URL itself");
        t.never(
                t.sharesTestUrl(),
                "testUrl names " + place + " whatever the word: of two runs at once one removes what the other has");
        try (LockClient here = t.openUnrecorded(t.url(), ClientOptions.defaults())) {
            Lease held = here.lock(t.name()).acquire();
            long floor;
            try (LockClient there = t.openPlace(place)) {
                Optional<Lease> same = there.lock(t.name()).tryAcquire();
                t.neverWhile(
                        held, same.isEmpty(), "a lock that is held at the URL keeps others out in the place for tests");
                floor = Math.max(held.token(), same.orElseThrow().token()) + FAR;
                same.orElseThrow().release();
            }
            boolean floors = t.offers(CommonOptions.TOKEN_FLOOR) && hasRoom(floor);
            if (floors) {
                raises(t, place, here, floor);
            }
            t.removeLeftovers();
            t.neverWhile(
                    held,
                    t.client("rival").lock(t.name()).tryAcquire().isPresent(),
                    "a lock at the URL went with what was removed in the place for tests");
            t.expect(held.isHeld(), "a lease at the URL ended when the place for tests was removed");
            if (!floors) {
                throw t.skipped(
                        Verdict.NOT_APPLICABLE,
                        "locks are apart; no floor was given, since the provider has no option "
                                + CommonOptions.TOKEN_FLOOR + ", or its tokens have no room for one");
            }
            try (LockClient next = t.openPlace(place)) {
                below(t, floor, "a client of the place, after its leftovers were removed,", take(next, t.name()));
            }
            t.removeLeftovers();
        }
    }

    /** Gives a floor in the place, of which the URL itself has nothing. */
    private static void raises(CheckContext t, LockUrl place, LockClient here, long floor) throws Exception {
        LockUrl raised = place.withOption(CommonOptions.TOKEN_FLOOR.name(), Long.toString(floor));
        try (LockClient asking = t.openUnrecorded(raised, ClientOptions.defaults())) {
            above(t, floor, "the client that gave it", take(asking, t.name()));
        } catch (InvalidLockUrlException e) {
            throw refusesFloors(t, e);
        }
        below(t, floor, "a client at the URL itself", take(here, t.freshName()));
        below(t, floor, "a new client at the URL itself", take(t.client("late"), t.freshName()));
    }

    private static void below(CheckContext t, long floor, String who, Lease lease) {
        t.never(
                lease.token() > floor,
                who + " was granted token " + lease.token() + ", which is above " + floor
                        + ", a floor that was given in the place for tests");
    }

    /** Where a floor may be given; gives the check up if nowhere, or if there is no option for it. */
    private static LockUrl place(CheckContext t) throws InterruptedException {
        if (!t.takes(CommonOptions.TOKEN_FLOOR)) {
            throw t.skipped(
                    Verdict.NOT_APPLICABLE,
                    "the provider has no option " + CommonOptions.TOKEN_FLOOR
                            + ", or the subject's URL says it already");
        }
        return t.placeForGood();
    }

    private static LockClient client(CheckContext t, String role, LockUrl place) {
        return t.client(role, ClientOptions.defaults(), place);
    }

    /** A floor that no token of the place has reached yet; gives the check up if there is none. */
    private static long farAbove(CheckContext t, LockClient client, LockUrl place) throws InterruptedException {
        long floor = take(client, t.name()).token() + FAR;
        if (!hasRoom(floor)) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the tokens of the subject have no room for a higher floor");
        }
        try {
            asking(t, place, floor);
        } catch (InvalidLockUrlException e) {
            throw refusesFloors(t, e);
        }
        return floor;
    }

    private static boolean hasRoom(long floor) {
        return floor > 0 && floor <= 1L << 62;
    }

    private static Skipped refusesFloors(CheckContext t, InvalidLockUrlException e) {
        return t.skipped(Verdict.NOT_APPLICABLE, "the provider takes no floor at this URL: " + e.getMessage());
    }

    private static LockClient asking(CheckContext t, LockUrl place, long floor) {
        return client(
                t, "asking for " + floor, place.withOption(CommonOptions.TOKEN_FLOOR.name(), Long.toString(floor)));
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
