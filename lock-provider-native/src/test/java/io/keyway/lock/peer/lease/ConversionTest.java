// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.ManagerWorld.KEY;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.SharedGoal;
import org.junit.jupiter.api.Test;

/** A grant changes its mode: in one step, before all others, and over the end of the member. */
class ConversionTest extends ThreeClients {
    @Test
    void theOnlyReaderIsAWriterAtOnceWithAHigherTokenThanItsWholeRange() {
        long reader = a.has(SHARED);
        long hi = a.last(LockMessage.Granted.class).hi();
        world.advance(3 * MS);
        long writer = a.token(a.upgrades(reader));

        assertThat(writer).isGreaterThan(hi);
        assertThat(b.refused(b.tries(SHARED))).as("a is asked first").isFalse();
        a.denies(writer);
        assertThat(b.all(LockMessage.NotGranted.class)).hasSize(1);
        assertThat(c.shown().holders()).singleElement().satisfies(holder -> {
            assertThat(holder.mode()).isEqualTo(EXCLUSIVE);
            assertThat(holder.token()).isEqualTo(writer);
            assertThat(holder.nanos()).as("held since it was granted").isEqualTo(3 * MS);
        });
        a.release(writer);
        assertThat(b.has(EXCLUSIVE)).isGreaterThan(writer);
    }

    @Test
    void anUpgradeIsBeforeAllWhoWaitAndNobodyIsGrantedMeanwhile() {
        long first = a.has(SHARED);
        long second = b.has(SHARED);
        long writer = c.wants(EXCLUSIVE);
        long upgrade = a.upgrades(first);
        long newcomer = c.wants(SHARED);
        assertThat(c.refused(c.tries(SHARED))).isTrue();
        assertThat(b.recalls()).containsExactly(second);

        b.release(second);
        assertThat(a.token(upgrade)).isPositive();
        assertThat(c.token(writer)).isZero();
        assertThat(c.token(newcomer)).isZero();
        a.release(a.token(upgrade));
        assertThat(c.token(writer)).isPositive();
        c.release(c.token(writer));
        assertThat(c.token(newcomer)).isPositive();
        assertThat(world.goals).contains(SharedGoal.UPGRADED_AFTER_WAITING);
    }

    @Test
    void anUpgradeHasIdleReadersRecalledAndWaitsForThoseInUse() {
        long own = a.has(SHARED);
        long idle = b.has(SHARED);
        long used = c.has(SHARED);
        long upgrade = a.upgrades(own);
        assertThat(b.recalls()).containsExactly(idle);
        assertThat(c.recalls()).containsExactly(used);
        b.accepts(idle);
        assertThat(a.token(upgrade)).isZero();
        c.release(used);
        assertThat(a.token(upgrade)).isPositive();
    }

    @Test
    void ofTwoUpgradesTheSecondIsRefusedAtOnceAndGoesOnReading() {
        long first = a.has(SHARED);
        long second = b.has(SHARED);
        long upgrade = a.upgrades(first);
        long other = b.upgrades(second);
        assertThat(b.refused(other)).isTrue();
        assertThat(a.token(upgrade)).isZero();
        assertThat(b.shown().holders()).extracting(Participant::token).containsExactly(first, second);
        b.release(second);
        assertThat(a.token(upgrade)).isPositive();
        assertThat(world.goals).contains(SharedGoal.SECOND_UPGRADE_REFUSED);
    }

    @Test
    void anUpgradeThatDoesNotWaitGetsWhatIdleCachesHaveAndNothingElse() {
        long own = a.has(SHARED);
        long other = b.has(SHARED);
        long hopeful = a.triesToUpgrade(own);
        assertThat(a.recalls()).as("nobody is asked for its own").isEmpty();
        b.denies(other);
        assertThat(a.refused(hopeful)).isTrue();
        long again = a.triesToUpgrade(own);
        assertThat(b.recalls()).containsExactly(other, other);
        b.accepts(other);
        assertThat(a.token(again)).isGreaterThan(own);
    }

    @Test
    void anUpgradeThatDoesNotWaitIsOverWithItsPatience() {
        long own = a.has(SHARED);
        b.has(SHARED);
        long hopeful = a.triesToUpgrade(own);
        world.advance(500 * MS);
        assertThat(a.refused(hopeful)).isTrue();
        assertThat(c.has(SHARED)).as("nobody is kept out any more").isPositive();
    }

    @Test
    void aKeptPlaceOfAnotherReaderHoldsAnUpgradeUp() {
        long own = a.has(SHARED);
        long kept = b.token(b.wantsAtLeast(SHARED, 400 * MS));
        b.release(kept);
        long upgrade = a.upgrades(own);
        assertThat(a.refused(a.triesToUpgrade(own))).isTrue();
        world.advance(399 * MS);
        assertThat(a.token(upgrade)).isZero();
        world.advance(MS);
        assertThat(a.token(upgrade)).isPositive();
    }

    @Test
    void aDowngradeIsDoneAtOnceAndLetsInWhoMayHoldBesideIt() {
        long writer = a.has(EXCLUSIVE);
        long hi = a.last(LockMessage.Granted.class).hi();
        long reader = b.wants(SHARED);
        long other = c.wants(EXCLUSIVE);
        long last = b.wants(SHARED);
        long own = a.token(a.downgrades(writer));

        assertThat(own).isGreaterThan(hi);
        assertThat(b.token(reader)).isPositive();
        assertThat(b.token(last)).as("the writer is before it").isZero();
        assertThat(c.token(other)).isZero();
        a.release(own);
        b.release(b.token(reader));
        assertThat(c.token(other)).isPositive();
        assertThat(world.goals).contains(SharedGoal.DOWNGRADED);
    }

    @Test
    void aDowngradeHappensDuringAQuarantineToo() {
        long writer = a.has(EXCLUSIVE);
        world.crash();
        a.connect();
        b.connect();
        a.reasserts(EXCLUSIVE, 1, writer);
        long reader = b.wants(SHARED);
        long own = a.token(a.downgrades(writer));
        assertThat(own).isGreaterThan(writer);
        assertThat(b.token(reader)).as("nothing new is granted yet").isZero();
        keepBeating(4 * TTL, a, b);
        assertThat(b.token(reader)).isPositive();
    }

    @Test
    void afterARestartTheReassertionGoesFirstAndTheUpgradeWaitsForTheEndOfTheQuarantine() {
        long reader = a.has(SHARED);
        world.crash();
        a.connect();
        a.reasserts(SHARED, 1, reader);
        long upgrade = a.upgrades(reader);
        assertThat(a.token(upgrade)).isZero();
        keepBeating(4 * TTL - 1, a);
        assertThat(a.token(upgrade)).isZero();
        keepBeating(1, a);
        assertThat(a.token(upgrade)).isGreaterThan(reader);
    }

    // Over the end of the member

    @Test
    void afterACleanEndWhoHasNotHeardOfItsUpgradeClaimsItsReadLease() {
        long reader = a.has(SHARED);
        long writer = a.token(a.upgrades(reader));
        world.handOver();
        a.connect();
        b.connect();
        a.doesNotTake(writer);
        a.reasserts(SHARED, 1, reader);
        assertThat(a.all(LockMessage.Reasserted.class))
                .extracting(LockMessage.Reasserted::token)
                .containsExactly(reader);
        long beside = b.has(SHARED);
        assertThat(beside).isGreaterThan(writer);
        b.release(beside);
        assertThat(a.token(a.upgrades(reader))).isPositive();
    }

    @Test
    void afterACleanEndWhoHasHeardOfItClaimsTheWriteLease() {
        long reader = a.has(SHARED);
        long writer = a.token(a.upgrades(reader));
        world.handOver();
        a.connect();
        b.connect();
        a.reasserts(EXCLUSIVE, 1, writer);
        long waits = b.wants(SHARED);
        assertThat(b.token(waits)).isZero();
        a.release(writer);
        assertThat(b.token(waits)).isPositive();
    }

    @Test
    void afterACleanEndWhoHasAskedForADowngradeClaimsAReadLeaseByItsOldToken() {
        long writer = a.has(EXCLUSIVE);
        long own = a.token(a.downgrades(writer));
        world.handOver();
        a.connect();
        b.connect();
        a.doesNotTake(own);
        a.reasserts(SHARED, 1, writer);
        assertThat(a.all(LockMessage.Reasserted.class)).hasSize(1);
        assertThat(b.has(SHARED)).isGreaterThan(own);
        a.release(writer);
    }

    @Test
    void aClaimOfTheWriteLeaseThatWasGivenUpIsRefused() {
        long writer = a.has(EXCLUSIVE);
        a.downgrades(writer);
        world.handOver();
        a.connect();
        a.say(new LockMessage.Reassert(
                KEY,
                99,
                writer,
                writer,
                writer,
                EXCLUSIVE,
                1,
                TTL,
                new io.keyway.lock.spi.Owner("a", java.util.Map.of())));
        assertThat(a.all(LockMessage.Reasserted.class)).isEmpty();
        assertThat(a.all(LockMessage.Revoke.class)).hasSize(1);
    }
}
