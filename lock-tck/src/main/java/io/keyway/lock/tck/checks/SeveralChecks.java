// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseSet;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockName;
import io.keyway.lock.LockSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Rules 1701 to 1709: several locks at once; for the end of what was held see {@link SetLossChecks}. */
final class SeveralChecks {
    /** The names of a set, in their order. */
    static String low(CheckContext t) {
        return t.name("a-low");
    }

    static String high(CheckContext t) {
        return t.name("b-high");
    }

    /** The set of both, given the wrong way round. */
    static LockSet both(CheckContext t, LockClient client) {
        return set(t, client, high(t), low(t));
    }

    private static LockSet set(CheckContext t, LockClient client, String... names) {
        return t.subject()
                .several()
                .over(client, List.of(names).stream().map(LockName::of).toList());
    }

    @Check(rules = "LK-1701 LK-1709", from = Profile.SMOKE)
    @Hint("What is released when a later lock of the set is taken, and what when the set is?")
    void allLocksOfASetAreHeldOrNone(CheckContext t) throws Exception {
        LockSet set = both(t, t.client("holder"));
        LockClient other = t.client("other");
        Optional<LeaseSet> attempt = set.tryAcquire();
        t.expect(attempt.isPresent(), "tryAcquire() of a set whose locks are free is empty");
        LeaseSet leases = attempt.orElseThrow();
        t.expect(leases.isHeld(), "a set that was just handed out is not held");
        t.expectTaken(other, low(t), "another client was granted the first lock of a set that is held");
        t.expectTaken(other, high(t), "another client was granted the second lock of a set that is held");
        t.expectEqual("the release of a set", ReleaseOutcome.RELEASED, leases.release());
        t.expect(!leases.isHeld(), "a set that was released is held");
        t.expectEqual("the repeated release of a set", ReleaseOutcome.RELEASED, leases.release());
        t.expectThrows("ensureHeld() of a released set", IllegalStateException.class, leases::ensureHeld);
        t.expectFree(other, low(t), "a set was released, and its first lock is not free")
                .release();
        Lease taken = t.expectFree(other, high(t), "a set was released, and its second lock is not free");
        t.expect(set.tryAcquire().isEmpty(), "a set was handed out though another client holds one of its locks");
        t.expectFreeSoon(other, low(t), "a set was not acquired, and one of its locks is not free");
        t.expect(taken.isHeld(), "an attempt for a set ended the lease of another client");
    }

    @Check(rules = "LK-1702", from = Profile.SMOKE)
    @Hint("Are the names sorted, and is a lock asked for before the one below it is granted?")
    void theLocksOfASetAreAskedForInTheirOrder(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient other = t.client("other");
        LockSet set = both(t, t.client("waiter"));
        Lease high = holder.lock(high(t)).acquire();
        Task<LeaseSet> first = t.start("the acquire of a set whose second lock is held", set::acquire);
        t.untilWaiting(holder, high(t), 1);
        t.expectTaken(
                other,
                low(t),
                "a set waits for its second lock and does not hold the first: it asks in the order in which the names"
                        + " were given, and two sets with the same names could wait for each other");
        high.release();
        first.get().release();
        Lease low = holder.lock(low(t)).acquire();
        Task<LeaseSet> second = t.start("the acquire of a set whose first lock is held", set::acquire);
        t.untilWaiting(holder, low(t), 1);
        t.expectFree(
                        other,
                        high(t),
                        "a set waits for its first lock and holds the second: two sets could wait for each other")
                .release();
        low.release();
        second.get().release();
    }

    @Check(rules = "LK-1702 LK-1701", statistical = "users of the same locks, in every order, go on")
    @Hint("Can two sets wait for each other?")
    void usersOfTheSameLocksNeverBlockEachOther(CheckContext t) throws Exception {
        List<List<String>> orders = List.of(
                List.of("1", "2", "3"),
                List.of("3", "2", "1"),
                List.of("2", "3"),
                List.of("3", "1"),
                List.of("2", "1"));
        int rounds = t.rounds(2, 5, 20);
        List<Task<Integer>> users = new ArrayList<>();
        for (List<String> order : orders) {
            LockSet set = set(
                    t,
                    t.client("user" + users.size()),
                    order.stream().map(t::name).toArray(String[]::new));
            users.add(t.start("a user of several locks", () -> {
                int done = 0;
                while (done < rounds) {
                    try (LeaseSet leases = set.acquire()) {
                        leases.ensureHeld();
                        done++;
                    }
                }
                return done;
            }));
        }
        t.join(users);
    }

    @Check(rules = "LK-1703 LK-1701")
    @Hint("Is the limit of the wait counted anew for each lock?")
    void oneLimitIsForTheWholeSet(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient other = t.client("other");
        LockSet set = both(t, t.client("waiter"));
        Lease low = holder.lock(low(t)).acquire();
        Lease high = holder.lock(high(t)).acquire();
        Duration limit = t.ttl(2, 1);
        long begun = t.now();
        Task<Optional<LeaseSet>> waits = t.start("a set with a limit", () -> set.tryAcquire(limit));
        t.untilWaiting(holder, low(t), 1);
        t.passUntil(begun + limit.toNanos() * 3 / 4);
        low.release();
        t.untilWaiting(holder, high(t), 1);
        t.expectEnd(
                Duration.ofNanos(Math.max(0, begun + limit.toNanos() - t.now())).plus(t.ttl(1, 8)),
                waits,
                "a set that may wait for 2 ttl and had its first lock after three quarters of that was still waiting"
                        + " for the second when they were over");
        t.expect(waits.get().isEmpty(), "a set was handed out though another client holds one of its locks");
        t.expectFreeSoon(other, low(t), "the wait for a set was over, and its first lock is not free");
        t.expect(high.isHeld(), "a wait for a set ended the lease of another client");
        high.release();
        Lease free = t.takesSoon(other, high(t), "the wait for a set was over, and its second lock is not free");
        t.pass(t.ttl(5, 4));
        t.expect(free.isHeld(), "a set that had given up was granted one of its locks");
    }

    /** How a call for a set is given up. */
    private interface GivesUp {
        void run() throws Exception;
    }

    private static void leavesNothing(CheckContext t, String how, LockClient waiter, GivesUp gives) throws Exception {
        LockClient other = t.client("other");
        gives.run();
        t.expectFreeSoon(other, low(t), how + ", and the lock that it held is not free");
        t.expectFreeSoon(waiter, low(t), how + ", and the lock that it held is not free for its own client");
    }

    @Check(rules = "LK-1701 LK-403", from = Profile.SMOKE)
    @Hint("Who releases what is held when the wait for the next lock throws?")
    void aSetWhoseThreadIsInterruptedHoldsNothing(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        Lease high = holder.lock(high(t)).acquire();
        Task<LeaseSet> waits = t.start(
                "the acquire of an interrupted thread", () -> both(t, waiter).acquire());
        t.untilWaiting(holder, high(t), 1);
        leavesNothing(t, "a thread that waited for a set was interrupted", waiter, () -> {
            waits.interrupt();
            Optional<Throwable> thrown = waits.outcome();
            t.expect(
                    thrown.orElse(null) instanceof InterruptedException,
                    "a thread was interrupted while it waited for a set: acquire should throw InterruptedException,"
                            + " and it " + thrown.map(e -> "threw " + e).orElse("returned"));
        });
        high.release();
    }

    @Check(rules = "LK-1701 LK-406")
    @Hint("Is the request under way withdrawn, and what is held given back, when somebody completes the future?")
    void aSetWhoseFutureIsCancelledHoldsNothing(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient waiter = t.client("waiter");
        Lease high = holder.lock(high(t)).acquire();
        CompletableFuture<LeaseSet> future = both(t, waiter).acquireAsync();
        t.untilWaiting(holder, high(t), 1);
        leavesNothing(t, "the future of a set was cancelled", waiter, () -> future.cancel(false));
        high.release();
        Lease free = t.takesSoon(t.client("next"), high(t), "a cancelled set has the lock that it waited for");
        t.pass(t.ttl(5, 4));
        t.expect(free.isHeld(), "a set whose future had been cancelled was granted one of its locks");
    }

    @Check(rules = "LK-1701 LK-1703")
    @Hint("Does the future of a set take the locks as acquire() does, and is its limit for all of them?")
    void theFutureOfASetHasAllOrNone(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient other = t.client("other");
        LockSet set = both(t, t.client("waiter"));
        CompletableFuture<LeaseSet> future = set.acquireAsync();
        LeaseSet leases = t.call("the future of a set", future::get);
        t.expect(leases.isHeld(), "a set that was just handed out is not held");
        t.expectTaken(other, low(t), "another client was granted the first lock of a set that is held");
        t.expectTaken(other, high(t), "another client was granted the second lock of a set that is held");
        CompletableFuture<ReleaseOutcome> outcome = leases.releaseAsync().toCompletableFuture();
        t.until("releaseAsync() of a set completes", outcome::isDone);
        t.expectEqual("what releaseAsync() of a set says", ReleaseOutcome.RELEASED, outcome.join());
        Lease high = holder.lock(high(t)).acquire();
        CompletableFuture<Optional<LeaseSet>> limited = set.tryAcquireAsync(t.ttl());
        t.expect(
                t.call("the future of a set with a limit", limited::get).isEmpty(),
                "the future of a set has one though another client holds one of its locks");
        t.expectFreeSoon(other, low(t), "the future of a set was empty, and one of its locks is not free");
        high.release();
    }

    @Check(rules = "LK-1701 LK-1402", requires = Requirement.LINK)
    @Hint("What becomes of the locks that a set holds when the wait for the next ends without an answer?")
    void aSetThatLostItsStoreWhileItWaitedLeavesNothing(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient other = t.client("other");
        ClientLink link = t.link("cut");
        LockSet set = both(t, link.client());
        Lease high = holder.lock(high(t)).acquire();
        Task<Optional<LeaseSet>> waits = t.start("a set with a limit", () -> set.tryAcquire(t.ttl()));
        t.untilWaiting(holder, high(t), 1);
        link.cut();
        Optional<Throwable> thrown = waits.outcome();
        if (thrown.isPresent()) {
            t.expectType("a wait for a set without an answer", LockException.class, thrown.get());
        } else {
            t.expect(waits.get().isEmpty(), "a set was handed out though another client holds one of its locks");
        }
        link.heal();
        high.release();
        t.comesFree(t.ttl(5, 2), other, low(t), "a set had given up, and the lock that it held never came free")
                .release();
        t.comesFree(t.ttl(5, 2), other, high(t), "a set had given up, and the lock that it waited for is not free")
                .release();
    }

    @Check(rules = "LK-1701")
    @Hint("Is each lease looked at again when the last lock is granted?")
    void aSetIsHandedOutWhileAllAreHeld(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient other = t.client("other");
        LockSet set = both(t, t.client("waiter")).with(t.unrenewed());
        Lease high = holder.lock(high(t)).acquire();
        Task<LeaseSet> waits = t.start("the acquire of a set that is not renewed", set::acquire);
        t.untilWaiting(holder, high(t), 1);
        t.pass(t.ttl(3, 2));
        // Before the grant: time may move on while this thread is told of it.
        long begun = t.now();
        high.release();
        LeaseSet leases = waits.get();
        boolean held = leases.isHeld();
        boolean late = t.now() - begun > t.ttl(1, 4).toNanos();
        t.expect(
                held || late,
                "the first lock of a set lapsed while the set waited for the second, and the set was handed out"
                        + " without it");
        if (held) {
            boolean free = other.lock(low(t)).tryAcquire().isPresent();
            t.expect(!free || !leases.isHeld(), "another client was granted the first lock of a set that is held");
        }
        leases.close();
    }

    @Check(rules = "LK-1707 LK-602", needs = Feature.FENCING, from = Profile.SMOKE)
    @Hint("Is the token of a set's lock that of its own grant?")
    void aSetHasTheTokenOfEachOfItsGrants(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        List<String> names = List.of(low(t), high(t));
        List<Long> before = new ArrayList<>();
        // One name has had more grants than the other.
        for (String name : List.of(high(t), high(t), low(t), high(t))) {
            try (Lease lease = other.lock(name).acquire()) {
                before.add(lease.token());
            }
        }
        LeaseSet leases = both(t, t.client("holder")).acquire();
        Set<String> has = new HashSet<>();
        leases.tokens().forEach((name, token) -> has.add(name.value()));
        t.expectEqual("the names for which a set has tokens", Set.copyOf(names), has);
        t.expect(
                leases.token(low(t)) > before.get(2) && leases.token(high(t)) > before.get(3),
                "the tokens of a set, " + leases.tokens() + ", are not higher than those of earlier grants, " + before);
        if (t.has(Feature.LIST)) {
            for (String name : names) {
                t.expectEqual(
                        "the token that is shown of the holder of " + name,
                        leases.token(name),
                        t.status(other, t.key(name)).holders().get(0).token().orElse(-1));
            }
        }
        t.expectThrows(
                "the token of a name that is none of the set",
                IllegalArgumentException.class,
                () -> leases.token(t.name("stranger")));
        leases.release();
        for (String name : names) {
            try (Lease lease = other.lock(name).acquire()) {
                t.expect(
                        lease.token() > leases.token(name),
                        "a grant after that of a set has the token " + lease.token() + ", and the set had "
                                + leases.token(name));
            }
        }
    }

    @Check(rules = "LK-1708", from = Profile.SMOKE)
    @Hint("What does a set say of names that it cannot take?")
    void aSetRefusesWhatItCannotHold(CheckContext t) throws Exception {
        LockClient client = t.client("asker");
        t.expectThrows("a set without names", IllegalArgumentException.class, () -> set(t, client));
        IllegalArgumentException twice = t.expectThrows(
                "a set with one name twice",
                IllegalArgumentException.class,
                () -> set(t, client, low(t), high(t), low(t)));
        t.expect(
                String.valueOf(twice.getMessage()).contains(low(t)),
                "the refusal of a name that is there twice does not name it: " + twice.getMessage());
        List<String> many = new ArrayList<>();
        for (int i = 0; i <= LockSet.MAX_NAMES; i++) {
            many.add(t.name("n" + i));
        }
        t.expectThrows(
                "a set with " + many.size() + " names",
                IllegalArgumentException.class,
                () -> set(t, client, many.toArray(String[]::new)));
    }

    @Check(rules = "LK-1709 LK-1701")
    @Hint("Does the release of a set send the releases of all its leases?")
    void aSetOfAsManyAsThereMayBeIsHeldAndReleased(CheckContext t) throws Exception {
        LockClient other = t.client("other");
        int size = t.rounds(2, 8, LockSet.MAX_NAMES);
        List<String> names = new ArrayList<>();
        for (int i = 0; i < size; i++) {
            names.add(t.name("n" + i));
        }
        LockSet set = set(t, t.client("holder"), names.toArray(String[]::new));
        LeaseSet leases = t.call("the acquire of " + size + " locks", set::acquire);
        for (String name : names) {
            t.expectTaken(other, name, "another client was granted a lock of a set that is held");
        }
        t.expect(leases.isHeld(), "a set of " + size + " locks, which are renewed, is not held");
        t.expectEqual("the release of a set", ReleaseOutcome.RELEASED, leases.release());
        for (String name : names) {
            t.expectFree(other, name, "a set was released, and one of its locks is not free")
                    .release();
        }
    }
}
