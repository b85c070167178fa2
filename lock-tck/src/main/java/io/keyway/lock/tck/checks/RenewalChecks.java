// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.checks;

import static io.keyway.lock.tck.check.Expectations.text;

import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockStatus;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.tck.Profile;
import io.keyway.lock.tck.check.Check;
import io.keyway.lock.tck.check.CheckContext;
import io.keyway.lock.tck.check.Hint;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;

/** Rules 502, 505 to 508 and 515: how a lease lives on. */
final class RenewalChecks {
    @Check(rules = "LK-505", from = Profile.SMOKE)
    @Hint("Does the lease say of itself what was asked for?")
    void aNewLeaseSaysWhatItIs(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).acquire();
        t.expectEqual("name()", t.name(), lease.name().value());
        t.expectEqual("mode()", LockMode.EXCLUSIVE, lease.mode());
        t.expectEqual("permits()", 1, lease.permits());
        t.expect(lease.isHeld(), "a lease that was just acquired says that it is not held, state " + lease.state());
        lease.ensureHeld();
        Duration remaining = lease.remaining();
        t.expect(!remaining.isNegative() && !remaining.isZero(), "remaining() of a new lease is " + remaining);
        t.expect(
                remaining.compareTo(lease.ttl().multipliedBy(3).dividedBy(4)) <= 0,
                "remaining() is " + remaining + ", more than 3/4 of the ttl, " + lease.ttl());
        t.expect(!t.isToldLost(lease), "lost() of a lease that is held is complete");
        t.expectEqual("the release", ReleaseOutcome.RELEASED, lease.release());
        t.expectEqual("the state after the release", Lease.State.RELEASED, lease.state());
        t.expect(!lease.isHeld(), "a released lease says that it is held");
        t.expectEqual("remaining() after the release", Duration.ZERO, lease.remaining());
        t.expect(!t.isToldLost(lease), "lost() of a released lease is complete");
    }

    @Check(rules = "LK-506 LK-502 LK-508", from = Profile.SMOKE)
    @Hint("Who renews the lease while nobody calls it, and does the store count from the last renewal?")
    void aLeaseIsHeldForAsLongAsItsClientLives(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        Lease lease = t.client("holder").lock(t.name()).acquire();
        long token = lease.token();
        for (int i = 0; i < 5; i++) {
            t.pass(t.ttl(1, 2));
            t.expect(
                    lease.isHeld(),
                    "a lease that nobody released ended after " + (i + 1) + " half ttl, state " + lease.state());
            t.expectTaken(second, "a second client was granted a lock that has been held for " + (i + 1) + " half ttl");
            t.expectEqual("the token after renewals", token, lease.token());
        }
        t.expectEqual("the release after renewals", ReleaseOutcome.RELEASED, lease.release());
        t.expectFree(second, "released after renewals, and not free");
    }

    @Check(rules = "LK-506")
    @Hint("Does renewal begin with the grant, or when somebody looks at the future?")
    void aLeaseThatNobodyLooksAtIsRenewed(CheckContext t) throws Exception {
        LockClient second = t.client("second");
        CompletableFuture<Lease> future = t.client("holder").lock(t.name()).acquireAsync();
        t.until("the future of a free lock completes", future::isDone);
        t.pass(t.ttl(5, 2));
        t.expectTaken(second, "a lease whose future nobody looked at was not renewed: another client has the lock now");
        t.expect(future.join().isHeld(), "a lease whose future nobody looked at was lost");
    }

    @Check(rules = "LK-506")
    @Hint("Are all leases of a client renewed, or those of the first batch, or the last one?")
    void everyLeaseOfAClientIsRenewed(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        LockClient second = t.client("second");
        List<CompletableFuture<Lease>> futures = new ArrayList<>();
        // More than one message of renewals can hold.
        int leases = t.rounds(20, 300, 600);
        for (int i = 0; i < leases; i++) {
            // Different ttls, so that no one period fits all.
            Duration ttl = t.ttl(2 + i % 3, 2);
            Duration longest = t.guarantees().maxTtl();
            futures.add(client.lock(t.name("n" + i))
                    .with(LockOptions.none().withTtl(ttl.compareTo(longest) > 0 ? longest : ttl))
                    .acquireAsync());
        }
        t.until("a client acquires " + leases + " locks", () -> futures.stream().allMatch(CompletableFuture::isDone));
        List<Lease> all = futures.stream().map(CompletableFuture::join).toList();
        t.pass(t.ttl(5, 2));
        for (int i = 0; i < leases; i++) {
            Lease lease = all.get(i);
            t.expect(
                    lease.isHeld(),
                    "lease " + (i + 1) + " of " + leases + " of one client, with a ttl of " + text(lease.ttl())
                            + ", was not renewed: its state is " + lease.state());
        }
        List<CompletableFuture<Optional<Lease>>> attempts = all.stream()
                .map(lease -> second.lock(lease.name()).tryAcquireAsync(Duration.ZERO))
                .toList();
        t.until("attempts of " + leases + " locks end", () -> attempts.stream().allMatch(CompletableFuture::isDone));
        for (int i = 0; i < leases; i++) {
            t.expect(
                    attempts.get(i).join().isEmpty(),
                    "lock " + (i + 1) + " of " + leases
                            + " that one client holds is free, and its holder believes that it is held");
        }
        for (int i = 0; i < leases; i += 2) {
            all.get(i).release();
        }
        t.pass(t.ttl(3, 2));
        for (int i = 1; i < leases; i += 2) {
            t.expect(
                    all.get(i).isHeld(), "after the release of every second lease of a client others were not renewed");
        }
    }

    @Check(rules = "LK-511")
    @Hint("Does the renewal of one lease of a client extend its others?")
    void aRenewedSiblingExtendsNothingElse(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease renewed = client.lock(t.name("renewed")).acquire();
        Lease once = client.lock(t.name()).with(t.unrenewed()).acquire();
        long got = t.now();
        Lease also = client.lock(t.name("also")).acquire();
        t.passUntil(got + once.ttl().toNanos() * 3 / 4 + 1);
        t.expect(!once.isHeld(), "a lease with Renewal.NONE outlived its ttl beside one that is renewed");
        t.pass(t.ttl());
        t.expect(renewed.isHeld() && also.isHeld(), "leases that are renewed ended beside one with Renewal.NONE");
    }

    @Check(rules = "LK-507")
    @Hint("When is a renewal sent: at half of the ttl, or so late that a lost one costs the lease?")
    void aRenewalComesEarlyEnoughForASecondOne(CheckContext t) throws Exception {
        Lease lease = t.client("holder").lock(t.name()).acquire();
        Duration least = t.ttl(1, 8);
        Duration best = Duration.ZERO;
        Duration before = lease.remaining();
        for (int i = 0; i < 60 && best.compareTo(least) < 0; i++) {
            t.pass(t.ttl(1, 20));
            Duration now = lease.remaining();
            if (now.compareTo(before) > 0) {
                // Not sent earlier than one step before this question; what was left then, at most.
                Duration left = before;
                best = left.compareTo(best) > 0 ? left : best;
            }
            before = now;
        }
        t.expect(
                best.compareTo(least) >= 0,
                "of all renewals within 3 ttl none came when more than " + text(best)
                        + " of belief was left; sent at half of the ttl it leaves a quarter, "
                        + text(t.ttl(1, 4)));
    }

    @Check(rules = "LK-508", needs = Feature.LIST)
    @Hint("Does the store write a new token when it renews?")
    void theAuthoritysTokenIsThatOfTheLease(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        Lease lease = client.lock(t.name()).acquire();
        for (int i = 0; i < 3; i++) {
            LockStatus status = client.admin().show(t.key(t.name())).orElse(null);
            t.expect(status != null && status.holders().size() == 1, "show() of a held lock gives " + status);
            if (status != null) {
                t.expectEqual(
                        "the token that the authority shows",
                        OptionalLong.of(lease.token()),
                        status.holders().get(0).token());
            }
            t.pass(t.ttl());
        }
    }

    @Check(rules = "LK-515")
    @Hint("Who looks whether a lease is held for longer than warnAfter, and does it repeat itself?")
    void aLeaseHeldTooLongIsReportedOnce(CheckContext t) throws Exception {
        LockClient client = t.client("holder");
        List<LockEvent> told = new CopyOnWriteArrayList<>();
        client.addListener(event -> {
            if (event.type() == LockEvent.Type.HELD_LONG) {
                told.add(event);
            }
        });
        LockOptions warned = LockOptions.none().withWarnAfter(t.ttl(1, 2));
        Lease brief = client.lock(t.name("brief")).with(warned).acquire();
        long sent = t.now();
        Lease lease = client.lock(t.name()).with(warned).acquire();
        brief.release();
        boolean prompt = t.now() - sent < t.ttl(1, 4).toNanos();
        t.until("HELD_LONG is told for a lease that is held longer than its warnAfter", () -> !told.isEmpty());
        t.pass(t.ttl(3, 2));
        t.expect(lease.isHeld(), "a lease ended because it was reported");
        long own = told.stream()
                .filter(event -> event.token().equals(OptionalLong.of(lease.token())))
                .count();
        t.expectEqual("the number of reports of one lease", 1L, own);
        t.expect(!prompt || told.size() == 1, "a lease that was released before its warnAfter was reported: " + told);
    }
}
