// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.DistributedSemaphore;
import io.keyway.lock.Feature;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;

/** Rules 601, 602, 606 and 607: tokens of grants, while no server restarts. */
final class TokenChecks {
    /** The tokens of one name in the order of grants; each is compared with the one before. */
    private static final class Row {
        private final CheckContext context;
        private long last;
        private boolean any;
        private final Set<Long> all = new HashSet<>();

        Row(CheckContext context) {
            this.context = context;
        }

        /** One that may be in force beside those since the last that excludes it: a cache may have kept its token. */
        Lease beside(String how, Lease lease, long highestExclusive) {
            if (!context.has(Feature.CACHING)) {
                return next(how, lease);
            }
            context.never(
                    !all.add(lease.token()),
                    "two grants of one name have the token " + lease.token() + "; the later one came " + how);
            context.never(
                    lease.token() <= highestExclusive,
                    "a grant " + how + " has token " + lease.token() + ", not higher than " + highestExclusive
                            + ", that of a grant before it which excludes it");
            any = true;
            last = Math.max(last, lease.token());
            return lease;
        }

        Lease next(String how, Lease lease) {
            context.never(
                    any && lease.token() == last,
                    "two grants of one name have the token " + last + "; the later one came " + how);
            context.never(
                    any && lease.token() < last,
                    "a grant " + how + " has token " + lease.token() + ", lower than " + last
                            + ", that of the grant before it");
            any = true;
            last = lease.token();
            return lease;
        }
    }

    @Check(rules = "LK-602 LK-601", needs = Feature.FENCING, from = Profile.SMOKE)
    @Hint("Who draws the token: the store, in the same step as the grant, or the client, or a clock?")
    void tokensRiseFromGrantToGrant(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Row row = new Row(t);
        for (int i = 0; i < t.rounds(10, 40, 200); i++) {
            // The same client twice, then another: a re-acquire from a cache is a grant too.
            row.next("to the same client", one.lock(t.name()).acquire()).release();
            row.next("to the same client", one.lock(t.name()).acquire()).release();
            row.next("to another client", two.lock(t.name()).acquire()).close();
        }
    }

    @Check(rules = "LK-601", needs = Feature.FENCING, from = Profile.SMOKE)
    @Hint("Does each grant draw a token, also that of a lock that its client has just released?")
    void eachGrantHasATokenOfItsOwn(CheckContext t) throws Exception {
        noTwoGrantsHaveOneToken(t);
    }

    private static void noTwoGrantsHaveOneToken(CheckContext t) throws InterruptedException {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < t.rounds(10, 30, 100); i++) {
            Lease lease = (i % 3 == 0 ? two : one).lock(t.name()).acquire();
            t.never(!seen.add(lease.token()), "two grants of one name have the token " + lease.token());
            lease.release();
        }
    }

    @Check(rules = "LK-602 LK-601", needs = Feature.FENCING, from = Profile.SMOKE)
    @Hint("Is the token counted for each client, or for the name?")
    void aClientThatIsAheadElsewhereIsNotAheadHere(CheckContext t) throws Exception {
        LockClient busy = t.client("busy");
        LockClient idle = t.client("idle");
        Row row = new Row(t);
        row.next("at first", idle.lock(t.name()).acquire()).release();
        for (int i = 0; i < 20; i++) {
            busy.lock(t.name("elsewhere" + i % 3)).acquire().release();
        }
        row.next("to a client that used other names", busy.lock(t.name()).acquire())
                .release();
        row.next("to a client that used no other name", idle.lock(t.name()).acquire())
                .release();
        row.next("to a new client", t.client("new").lock(t.name()).acquire()).release();
    }

    @Check(rules = "LK-602 LK-601", needs = Feature.FENCING)
    @Hint("Is the counter of a name forgotten together with its last grant?")
    void tokensRiseOverALapseAndAnIdleTime(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Row row = new Row(t);
        Lease lapsed =
                row.next("at first", one.lock(t.name()).with(t.unrenewed()).acquire());
        row.next("after a lapse", t.acquired("the next acquire", two, t.name())).release();
        lapsed.release();
        t.pass(t.isVirtual() ? Duration.ofHours(2) : t.ttl(3, 2));
        row.next("after an idle time", two.lock(t.name()).acquire()).release();
        one.close();
        t.pass(t.ttl(3, 2));
        row.next(
                        "after the close of a client that had used it",
                        two.lock(t.name()).acquire())
                .release();
    }

    @Check(rules = "LK-602 LK-601", needs = Feature.FENCING)
    @Hint("Does a request that was refused or given up change the token?")
    void tokensRiseOverRequestsThatWereGivenUp(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Row row = new Row(t);
        for (int i = 0; i < t.rounds(3, 8, 40); i++) {
            Lease held = row.next("to the first client", one.lock(t.name()).acquire());
            t.expectTaken(two, "a lock that is held was granted");
            CompletableFuture<Lease> cancelled = two.lock(t.name()).acquireAsync();
            CompletableFuture<Lease> stays = two.lock(t.name()).acquireAsync();
            t.pass(t.ttl(1, 50));
            cancelled.cancel(false);
            long token = held.token();
            t.expectEqual("the token of a lease that is held", token, held.token());
            held.release();
            row.next("to one that waited", t.call("a future for the lock", stays::get))
                    .release();
        }
    }

    @Check(
            rules = "LK-601 LK-602",
            needs = {Feature.FENCING, Feature.READ_WRITE})
    @Hint("Has each reader a token of its own, or all the one of the lock?")
    void eachSharedLeaseHasATokenOfItsOwn(CheckContext t) throws Exception {
        LockClient one = t.client("one");
        LockClient two = t.client("two");
        Row row = new Row(t);
        Lease writer =
                row.next("to a writer", one.readWriteLock(t.name()).write().acquire());
        writer.release();
        for (int round = 0; round < 2; round++) {
            List<Lease> readers = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                LockClient client = i % 2 == 0 ? one : two;
                readers.add(row.beside(
                        "to a reader beside others",
                        client.readWriteLock(t.name()).read().acquire(),
                        writer.token()));
            }
            readers.forEach(Lease::release);
        }
        row.next(
                        "to a writer after readers",
                        two.readWriteLock(t.name()).write().acquire())
                .release();
        row.next("to a plain lock after readers", one.lock(t.name()).acquire()).release();
    }

    @Check(
            rules = "LK-601 LK-602",
            needs = {Feature.FENCING, Feature.SEMAPHORE})
    @Hint("Has each grant of permits a token of its own?")
    void eachGrantOfPermitsHasATokenOfItsOwn(CheckContext t) throws Exception {
        DistributedSemaphore one = t.client("one").semaphore(t.name(), Capacity.of(6));
        DistributedSemaphore two = t.client("two").semaphore(t.name(), Capacity.of(6));
        Row row = new Row(t);
        for (int i = 0; i < 4; i++) {
            Lease first = row.beside("of one permit", one.acquire(), 0);
            Lease second = row.beside("of two permits", two.acquire(2), 0);
            Lease third = row.beside("of three permits", one.acquire(3), 0);
            second.release();
            first.release();
            third.release();
        }
    }

    @Check(rules = "LK-607", lacks = Feature.FENCING)
    @Hint("What names a grant in the messages that end or extend it?")
    void tokensAreUniqueAlsoWithoutFencing(CheckContext t) throws Exception {
        noTwoGrantsHaveOneToken(t);
    }

    @Check(rules = "LK-606")
    @Hint("What does the guard do with a new name when it remembers as many as it may?")
    void aFullGuardForgetsNothing(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        FenceGuard guard = FenceGuard.inMemory(2);
        Lease first = client.lock(t.name("first")).acquire();
        Lease second = client.lock(t.name("second")).acquire();
        Lease third = client.lock(t.name("third")).acquire();
        t.expect(guard.admits(first) && guard.admits(second), "a guard refused the first tokens that it saw");
        t.expectThrows("a third name in a guard for two", IllegalStateException.class, () -> guard.admits(third));
        t.expect(
                !guard.admits(first.name(), first.token() - 1),
                "a guard that was full admitted a token lower than one that it had seen");
        guard.forget(first.name());
        t.expect(guard.admits(third), "a guard that forgot one name refused another");
    }
}
