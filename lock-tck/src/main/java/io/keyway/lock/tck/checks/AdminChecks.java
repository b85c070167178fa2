// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import io.keyway.lock.Capacity;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.Verdict;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.ClientLink;
import io.keyway.lock.tck.check.Hint;
import io.keyway.lock.tck.check.Requirement;
import io.keyway.lock.tck.check.Task;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Rules 1101 to 1106: looking and breaking. */
final class AdminChecks {
    @Check(rules = "LK-1101 LK-1102", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Is all of this kept at the store with the grant: client, mode, permits, token, metadata, since?")
    void aHeldLockIsShownWithItsHolder(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Map<String, String> metadata = Map.of("job", "nightly – ü", "host", "a=b;c");
        Lease lease = client.lock(t.name())
                .with(LockOptions.none().withMetadata(metadata))
                .acquire();
        t.pass(t.ttl(1, 4));
        LockStatus status = t.status(t.client("onlooker"), t.key(t.name()));
        t.expectEqual("the number of holders shown", 1, status.holders().size());
        LockStatus.Holder holder = status.holders().get(0);
        t.expectEqual("the holder's client", client.name(), holder.client());
        t.expectEqual("the holder's mode", LockMode.EXCLUSIVE, holder.mode());
        t.expectEqual("the holder's permits", 1, holder.permits());
        t.expectEqual("the holder's token", OptionalLong.of(lease.token()), holder.token());
        t.expectEqual("the holder's metadata", metadata, holder.metadata());
        t.expect(
                holder.since().compareTo(t.ttl(1, 8)) >= 0 && holder.since().compareTo(Duration.ofMinutes(10)) < 0,
                "the holder is said to hold since " + holder.since() + ", and got it about " + t.ttl(1, 4) + " ago");
        t.expectEqual("the waiters", List.of(), status.waiters());
        lease.release();
        t.until(
                "a lock that was released is shown no more",
                t.isVirtual() ? t.ttl(1, 2) : t.patience(),
                () -> client.admin().show(t.key(t.name())).isEmpty());
        Lease lapsed = client.lock(t.name("lapsed")).with(t.unrenewed()).acquire();
        t.until("a lease that is not renewed ends", () -> !lapsed.isHeld());
        t.until(
                "a lock whose lease lapsed is shown no more",
                t.isVirtual() ? t.ttl(1, 2) : t.patience(),
                () -> client.admin().show(t.key(t.name("lapsed"))).isEmpty());
    }

    @Check(rules = "LK-1110", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Does the store note when it grants a lock, or only when the request came?")
    void aHolderIsShownWithoutTheTimeForWhichItWaited(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        if (!notesGrants(holder)) {
            throw t.skipped(Verdict.NOT_APPLICABLE, "the store keeps no time of a grant");
        }
        Lease held = holder.lock(t.name()).acquire();
        Task<Lease> next = t.acquiring("the next acquire", t.client("next"), t.name());
        t.untilWaiting(holder, t.name(), 1);
        t.pass(t.ttl(1, 8));
        long released = t.now();
        held.release();
        Lease granted = next.get();
        LockStatus status = t.status(holder, t.key(t.name()));
        Duration most = Duration.ofNanos(t.now() - released).plus(t.ttl(1, 16));
        t.expectEqual("the number of holders shown", 1, status.holders().size());
        Duration since = status.holders().get(0).since();
        t.expect(
                since.compareTo(most) < 0,
                "who waited for " + t.ttl(1, 8) + " and then got the lock is said to hold it for " + since);
        granted.release();
    }

    private static boolean notesGrants(LockClient client) {
        try {
            return client.unwrap(LockBackend.class).notesGrants();
        } catch (IllegalArgumentException e) {
            return true; // of an engine
        }
    }

    @Check(
            rules = "LK-1101 LK-310",
            needs = {Feature.LIST, Feature.FIFO},
            from = Profile.SMOKE)
    @Hint("Are waiters kept at the store in the order of their requests?")
    void waitersAreShownInTheirOrder(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        Lease held = holder.lock(t.name()).acquire();
        List<LockClient> clients = new ArrayList<>();
        List<Task<Lease>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            LockClient client = t.client("waiter-" + i);
            clients.add(client);
            tasks.add(t.acquiring("the acquire of waiter " + i, client, t.name()));
            t.untilWaiting(holder, t.name(), i + 1);
        }
        List<String> shown = t.status(holder, t.key(t.name())).waiters().stream()
                .map(LockStatus.Waiter::client)
                .toList();
        t.expectEqual(
                "the waiters shown", clients.stream().map(LockClient::name).toList(), shown);
        held.release();
        t.releaseEach(tasks);
    }

    @Check(rules = "LK-1101", needs = Feature.LIST, from = Profile.SMOKE)
    @Hint("Does the cursor say after which key the next page begins, and is the order of keys the same for each page?")
    void everyHeldLockIsListedOnceOverAllPages(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        List<String> names = new ArrayList<>();
        List<Lease> held = new ArrayList<>();
        for (int i = 0; i < 23; i++) {
            String name = t.name("p/" + Integer.toString(i * 7919 % 1000, 36));
            names.add(name);
            held.add(client.lock(name).acquire());
        }
        Lease other = client.lock(t.name("q")).acquire();
        List<String> listed = new ArrayList<>();
        Optional<String> after = Optional.empty();
        int pages = 0;
        do {
            LockPage page = client.admin().list(t.name("p/"), after, 5);
            t.expect(
                    page.locks().size() <= 5,
                    "a page of at most 5 has " + page.locks().size());
            page.locks().forEach(status -> listed.add(status.key().name().value()));
            after = page.next();
            pages++;
            t.expect(pages < 50, "after 50 pages of 5 there is a next page, and 23 locks are held");
        } while (after.isPresent());
        t.expectEqual(
                "what the pages list",
                names.stream().sorted().toList(),
                listed.stream().sorted().toList());
        held.forEach(Lease::close);
        other.close();
    }

    @Check(
            rules = "LK-1101",
            needs = {Feature.LIST, Feature.SEMAPHORE})
    @Hint("Are semaphores listed beside locks, with their permits?")
    void aSemaphoreIsListedWithItsPermits(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        Map<String, String> metadata = Map.of("job", "nightly");
        LockOptions told = LockOptions.none().withMetadata(metadata);
        Lease two = client.semaphore(t.name(), Capacity.of(5)).with(told).acquire(2);
        Lease one = client.semaphore(t.name(), Capacity.of(5)).with(told).acquire(1);
        LockKey key = LockKey.semaphore(LockName.of(t.name()));
        t.expectEqual(
                "the keys that a listing shows while a semaphore of that name is held",
                List.of(key),
                client.admin().list(t.name(), Optional.empty(), 10).locks().stream()
                        .map(LockStatus::key)
                        .toList());
        LockStatus status = t.status(client, key);
        t.expectEqual(
                "the permits shown",
                List.of(1, 2),
                status.holders().stream()
                        .map(LockStatus.Holder::permits)
                        .sorted()
                        .toList());
        t.expect(
                status.holders().stream().allMatch(holder -> holder.mode() == LockMode.PERMITS),
                "the holders of a semaphore are shown with the mode of a lock");
        t.expect(
                status.holders().stream().allMatch(holder -> holder.metadata().equals(metadata)),
                "the holders of a semaphore are shown without the metadata that they gave: " + status.holders());
        two.close();
        one.close();
    }

    @Check(
            rules = "LK-1103",
            needs = {Feature.LIST, Feature.CACHING})
    @Hint("Does the authority know of a cached grant whether it is in use?")
    void aCachedLockIsNotShownAsHeld(CheckContext t) throws Exception {
        LockClient client = t.client("first");
        client.lock(t.name()).acquire().release();
        t.until(
                "a lock that lies in an idle cache is not shown as held",
                () -> t.status(t.client("onlooker"), t.key(t.name())).holders().isEmpty());
    }

    @Check(
            rules = "LK-1104 LK-1106 LK-801",
            needs = {Feature.BREAK, Feature.LIST},
            from = Profile.SMOKE)
    @Hint("Is the holder told by Signals.ended, with BROKEN and the reason?")
    void theHolderOfABrokenLeaseIsTold(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).acquire();
        LockClient operator = t.client("operator");
        t.expect(
                operator.admin().breakLease(t.key(t.name()), lease.token(), "for the TCK's sake"),
                "a lease that is in force was not broken");
        t.until("the broken holder's lease is LOST", () -> lease.state() == Lease.State.LOST);
        LeaseLoss loss = t.expectLoss(LeaseLoss.Cause.BROKEN, lease);
        t.expect(
                loss.detail().contains("for the TCK's sake"),
                "the reason of the break is not in the detail of the loss: " + loss.detail());
        t.expectEqual("the outcome of the release of a broken lease", ReleaseOutcome.ALREADY_LOST, lease.release());
        t.until(
                "the lock can be acquired after the break",
                () -> operator.lock(t.name()).tryAcquire().isPresent());
    }

    @Check(rules = "LK-1106", needs = Feature.BREAK)
    @Hint("On its way to the holder, is the reason encoded in UTF-8 and decoded again each time, and is it that of "
            + "this break?")
    void theReasonOfABreakReachesTheHolderAsItWasGiven(CheckContext t) throws Exception {
        LockClient holder = t.client("holder");
        LockClient operator = t.client("operator");
        // The second of the same lock, by another reason.
        for (String reason : List.of(
                "nicht nötig – 100 % für alle; 試験 \uD83D\uDD12 'a=b' \"c|d\" e+f", "once more, for another reason")) {
            Lease lease = t.acquired("an acquire", holder, t.name());
            t.expect(
                    operator.admin().breakLease(t.key(t.name()), lease.token(), reason),
                    "a lease that is in force was not broken");
            LeaseLoss loss = t.lossOf(lease);
            t.never(
                    !loss.detail().contains(reason),
                    "a lease was broken for the reason " + reason + ", and its holder was told: " + loss.detail());
        }
    }

    @Check(rules = "LK-1104", needs = Feature.BREAK, from = Profile.SMOKE)
    @Hint("Is the token compared in the same step in which the grant is ended?")
    void aBreakByAnotherTokenEndsNothing(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease first = client.lock(t.name()).acquire();
        long old = first.token();
        first.release();
        Lease second = client.lock(t.name()).acquire();
        LockClient operator = t.client("operator");
        t.never(
                operator.admin().breakLease(t.key(t.name()), old, "an old token"),
                "a break by the token of an earlier grant was said to be done");
        t.never(
                operator.admin().breakLease(t.key(t.name()), second.token() + 1, "a token to come"),
                "a break by a token that was never granted was said to be done");
        t.never(
                operator.admin().breakLease(t.key(t.name("free")), 1, "nothing there"),
                "a break of a lock that nobody holds was said to be done");
        t.pass(t.ttl(5, 4));
        t.expect(second.isHeld(), "a break by another token ended the lease");
        second.release();
    }

    @Check(rules = "LK-1105 LK-302", needs = Feature.BREAK)
    @Hint("Is the place of a broken holder kept until its release arrives or its ttl has passed?")
    void theNextGrantWaitsUntilABrokenHolderHasStopped(CheckContext t) throws Exception {
        for (int i = 0; i < t.rounds(1, 3, 20); i++) {
            String name = t.freshName();
            LockClient holder = t.client("holder-" + i);
            LockClient waiter = t.client("waiter-" + i);
            Lease lease = holder.lock(name).acquire();
            Task<Lease> next = t.acquiring("the acquire of a waiter", waiter, name);
            t.untilWaiting(waiter, name, 1);
            waiter.admin().breakLease(t.key(name), lease.token(), "in favour of the waiter");
            Lease after = next.get();
            t.expect(!lease.isHeld(), "after a break the next lease was granted while the broken holder believed");
            t.expect(after.isHeld(), "the lease granted after a break is not held");
            after.release();
        }
    }

    @Check(
            rules = "LK-1104 LK-1305",
            needs = {Feature.BREAK, Feature.SEMAPHORE})
    @Hint("Does a break of a semaphore's grant end that one alone?")
    void aBreakOfPermitsEndsTheOneGrant(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease one = client.semaphore(t.name(), Capacity.of(2)).acquire();
        Lease two = client.semaphore(t.name(), Capacity.of(2)).acquire();
        LockKey key = LockKey.semaphore(LockName.of(t.name()));
        t.expect(client.admin().breakLease(key, one.token(), "one of two"), "a grant in force was not broken");
        t.until("the broken lease is lost", () -> one.state() == Lease.State.LOST);
        t.expect(two.isHeld(), "the break of one grant ended another one of the same semaphore");
        t.until(
                "the permit is back",
                () -> client.semaphore(t.name(), Capacity.of(2)).tryAcquire().isPresent());
    }

    @Check(
            rules = "LK-1104 LK-1202",
            needs = {Feature.BREAK, Feature.READ_WRITE})
    @Hint("Does a break find its grant by the token, or all that hold the lock?")
    void aBreakOfOneReaderLeavesTheOthers(CheckContext t) throws Exception {
        LockClient client = t.client("reader");
        Lease one = client.readWriteLock(t.name()).read().acquire();
        Lease two = client.readWriteLock(t.name()).read().acquire();
        Lease other = t.client("other").readWriteLock(t.name()).read().acquire();
        t.expect(
                client.admin().breakLease(t.key(t.name()), one.token(), "one of three"),
                "a grant in force was not broken");
        t.until("the broken lease is lost", () -> one.state() == Lease.State.LOST);
        t.pass(t.ttl(5, 4));
        t.expect(two.isHeld() && other.isHeld(), "the break of one reader's lease ended that of another reader");
        t.expectTaken(
                t.client("writer"), "one of three readers was broken, and a writer was admitted beside the others");
    }

    @Check(rules = "LK-506 LK-1104", needs = Feature.BREAK, requires = Requirement.LINK)
    @Hint("If several leases are renewed in one message: which of them does each answer mean?")
    void aRenewalThatIsRefusedEndsNoOtherLease(CheckContext t) throws Exception {
        LockClient operator = t.client("operator");
        ClientLink link = t.link("holder");
        Lease broken = link.client().lock(t.name()).acquire();
        Lease second = link.client().lock(t.name("second")).acquire();
        Lease third = link.client().lock(t.name("third")).acquire();
        // Its holder learns of the break only when it renews.
        link.cut();
        Task<Boolean> breaking =
                t.start("breakLease", () -> operator.admin().breakLease(t.key(t.name()), broken.token(), "unheard"));
        t.pass(t.ttl(1, 16));
        link.heal();
        breaking.outcome();
        t.until("the lease that was broken is lost", () -> !broken.isHeld());
        t.pass(t.ttl(5, 4));
        for (Lease lease : List.of(second, third)) {
            t.expect(
                    lease.isHeld(),
                    "of three leases of one client one was broken, and another one ended: state " + lease.state());
            t.expectTaken(
                    operator.lock(lease.name()),
                    "of three leases of one client one was broken, and the lock of another one is free");
        }
    }
}
