// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.queue.UnsafeModes;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Unsafe;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * The unsafe interleavings of the source's service: none happens here, and each one is found when its repair is undone.
 */
class UnsafeTracesTest {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    private static LeaseWorld world(@Nullable Unsafe variant) {
        LockSettings settings = LockSettings.defaults();
        LeaseWorld world = variant == null
                ? new LeaseWorld(settings)
                : new LeaseWorld(
                        UnsafeVariants.members(variant, settings), () -> UnsafeVariants.clients(variant, settings));
        for (int i = 0; i < 3; i++) {
            world.client();
        }
        return world;
    }

    private static void onlyThe(Unsafe variant, Function<@Nullable Unsafe, LeaseWorld> script) {
        assertThat(script.apply(null).violations).isEmpty();
        assertThat(script.apply(variant).violations).isNotEmpty();
    }

    @Test
    void aGrantIsNotBelievedFromItsReceipt() {
        onlyThe(Unsafe.DEADLINE_FROM_RECEIPT, variant -> {
            LeaseWorld world = world(variant);
            world.client(0).holdToClient(true);
            world.client(0).acquire("a");
            world.client(1).acquire("a");
            world.settle();
            world.client(0).holdToMember(true);
            world.advance(TTL);
            assertThat(world.client(1).believes("a")).isPositive();
            world.client(0).holdToClient(false);
            world.advance(MS);
            return world;
        });
    }

    @Test
    void aLateReleaseDoesNotEndTheNextGrant() {
        onlyThe(Unsafe.RELEASE_WITHOUT_TOKEN, variant -> {
            LeaseWorld world = world(variant);
            LeaseWorld.Client c0 = world.client(0);
            c0.holdToClient(true);
            long first = c0.acquire("a");
            world.settle();
            c0.call("a", new LockCall.Withdraw(first));
            c0.acquire("a");
            world.settle();
            world.client(1).acquire("a");
            world.settle();
            // Both grants arrive; the first one is unwanted, and goes back while the second is held.
            c0.holdToClient(false);
            world.settle();
            assertThat(c0.believes("a")).isPositive();
            return world;
        });
    }

    @Test
    void aRestartedMemberGrantsNothingWhileOldLeasesMayRun() {
        onlyThe(Unsafe.NO_QUARANTINE, variant -> {
            LeaseWorld world = world(variant);
            world.client(0).acquire("a");
            world.settle();
            world.client(0).isolate();
            long safe = 4 * TTL;
            long wait = variant == null ? safe : UnsafeVariants.quarantine(variant, safe);
            world.restart(wait == 0 ? io.keyway.lock.peer.kernel.Turn.NEVER : world.now() + wait);
            world.client(1).acquire("a");
            world.advance(5 * TTL);
            assertThat(world.client(1).believes("a")).isPositive();
            return world;
        });
    }

    @Test
    void aCachedLockIsNotUsedOnceARecallIsAccepted() {
        onlyThe(Unsafe.CACHE_DURING_OFFER, variant -> {
            LeaseWorld world = world(variant);
            LeaseWorld.Client c0 = world.client(0);
            c0.acquire("a");
            world.settle();
            c0.release("a");
            c0.holdToMember(true);
            world.client(1).acquire("a");
            world.settle();
            // ACCEPTED is under way; now a user of c0 wants the lock.
            c0.acquire("a");
            c0.holdToMember(false);
            world.settle();
            assertThat(world.client(1).believes("a")).isPositive();
            return world;
        });
    }

    @Test
    void aLateAnswerIsNotTakenForAGrant() {
        onlyThe(Unsafe.LATE_ANSWER_IS_A_GRANT, variant -> {
            LeaseWorld world = world(variant);
            LeaseWorld.Client c0 = world.client(0);
            c0.holdToClient(true);
            long first = c0.acquire("a");
            world.settle();
            world.client(1).acquire("a");
            world.settle();
            c0.call("a", new LockCall.Withdraw(first));
            world.settle();
            assertThat(world.client(1).believes("a")).isPositive();
            c0.acquire("a");
            c0.holdToClient(false);
            world.settle();
            return world;
        });
    }

    @Test
    void aWaiterThatGaveUpIsNotGranted() {
        for (Unsafe variant : new @Nullable Unsafe[] {null, Unsafe.WAITER_STAYS}) {
            LeaseWorld world = world(variant);
            world.client(0).acquire("a");
            world.settle();
            long request = world.client(1).acquire("a");
            world.client(2).acquire("a");
            world.settle();
            world.client(1).call("a", new LockCall.Withdraw(request));
            world.settle();
            world.client(0).release("a");
            world.settle();
            // The lock moves on in this instant, or lies idle until the lease that nobody took has run out.
            assertThat(world.client(2).believes("a") != 0).isEqualTo(variant == null);
            assertThat(world.violations).isEmpty();
        }
    }

    private static ManagerWorld managerWorld(@Nullable UnsafeModes variant) {
        LockSettings settings = LockSettings.defaults();
        return variant == null
                ? new ManagerWorld(Admission.LOCKS, settings)
                : new ManagerWorld(key -> variant.manager(key, settings));
    }

    @Test
    void anUpgradeThatReachedNobodyKeepsNoReadersOut() {
        for (UnsafeModes variant : new @Nullable UnsafeModes[] {null, UnsafeModes.WITHDRAWN_UPGRADE_STAYS}) {
            ManagerWorld world = managerWorld(variant);
            ManagerWorld.Client a = world.client();
            ManagerWorld.Client b = world.client();
            long reader = a.has(LockMode.SHARED);
            long upgrade = a.upgrades(reader);
            long waits = b.wants(LockMode.SHARED);
            a.doesNotTake(a.token(upgrade));
            a.goesOnWith(reader, LockMode.SHARED);
            a.withdraws(upgrade);
            assertThat(b.token(waits) != 0).isEqualTo(variant == null);
        }
    }

    @Test
    void readersKeepTheirLeasesOverARestart() {
        for (UnsafeModes variant : new @Nullable UnsafeModes[] {null, UnsafeModes.READERS_NOT_REASSERTED}) {
            ManagerWorld world = managerWorld(variant);
            ManagerWorld.Client a = world.client();
            ManagerWorld.Client b = world.client();
            long first = a.has(LockMode.SHARED);
            long second = b.has(LockMode.SHARED);
            world.crash();
            a.connect();
            a.reasserts(LockMode.SHARED, 1, first);
            b.connect();
            b.reasserts(LockMode.SHARED, 1, second);
            int refused = a.all(LockMessage.Revoke.class).size()
                    + b.all(LockMessage.Revoke.class).size();
            assertThat(refused).isEqualTo(variant == null ? 0 : 2);
            assertThat(a.shown().holders()).hasSize(variant == null ? 2 : 0);
        }
    }
}
