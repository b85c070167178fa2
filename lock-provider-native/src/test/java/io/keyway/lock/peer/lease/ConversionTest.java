// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.ManagerWorld.KEY;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.queue.Admission;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.SharedGoal;
import org.junit.jupiter.api.Test;

/** A grant changes its mode: in one step, before all others, and whatever crosses it. */
class ConversionTest {
    private final ManagerWorld world = new ManagerWorld(Admission.LOCKS);
    private final ManagerWorld.Client a = world.client();
    private final ManagerWorld.Client b = world.client();
    private final ManagerWorld.Client c = world.client();

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

    private void keepBeating(long nanos, ManagerWorld.Client... clients) {
        for (long left = nanos; left > 0; left -= Math.min(left, TTL / 4)) {
            for (ManagerWorld.Client each : clients) {
                each.beat();
            }
            world.advance(Math.min(left, TTL / 4));
        }
    }

    // What crosses

    @Test
    void aReleaseOfTheOldTokenThatCrossesTheUpgradeEndsTheGrant() {
        long reader = a.has(SHARED);
        long writer = a.token(a.upgrades(reader));
        long waits = b.wants(EXCLUSIVE);
        a.doesNotTake(writer);
        a.release(reader);
        assertThat(b.token(waits)).isGreaterThan(writer);
        assertThat(world.goals).contains(SharedGoal.UPGRADE_TAKEN_BACK);
        a.returns(writer);
        a.release(writer);
        assertThat(b.shown().holders()).hasSize(1);
    }

    @Test
    void aReleaseOfTheOldTokenThatCrossesTheDowngradeEndsTheGrant() {
        long writer = a.has(EXCLUSIVE);
        long waits = b.wants(EXCLUSIVE);
        long own = a.token(a.downgrades(writer));
        a.doesNotTake(own);
        a.release(writer);
        assertThat(b.token(waits)).isGreaterThan(own);
        a.returns(own);
        assertThat(b.shown().holders()).hasSize(1);
    }

    @Test
    void anUpgradeThatReachedNobodyLeavesTheReadLeaseAsItWas() {
        long reader = a.has(SHARED);
        long upgrade = a.upgrades(reader);
        long writer = a.token(upgrade);
        long waits = b.wants(SHARED);
        a.doesNotTake(writer);
        a.goesOnWith(reader, SHARED);
        a.withdraws(upgrade);
        a.withdraws(upgrade);
        assertThat(b.token(waits)).as("beside the reader").isGreaterThan(writer);
        a.returns(writer);
        assertThat(b.shown().holders()).extracting(Participant::token).containsExactly(reader, b.token(waits));
        b.release(b.token(waits));
        long again = a.token(a.upgrades(reader));
        assertThat(again).isGreaterThan(writer);
        a.release(again);
        assertThat(world.leftovers()).isZero();
    }

    @Test
    void aGrantOfAnUpgradeThatGoesBackUnusedLeavesTheReadLeaseToo() {
        long reader = a.has(SHARED);
        long writer = a.token(a.upgrades(reader));
        a.doesNotTake(writer);
        a.goesOnWith(reader, SHARED);
        a.returns(writer);
        assertThat(b.has(SHARED)).isPositive();
        a.release(reader);
        assertThat(b.shown().holders()).hasSize(1);
    }

    /** It does not know that anybody wants its grant, and may have put that into its cache. */
    @Test
    void aReaderWhoseUpgradeReachedNobodyIsRecalledByWhoeverWaits() {
        for (boolean waitsBefore : new boolean[] {true, false}) {
            long reader = a.has(SHARED);
            long upgrade = a.upgrades(reader);
            a.doesNotTake(a.token(upgrade));
            a.goesOnWith(reader, SHARED);
            long waits = waitsBefore ? b.wants(EXCLUSIVE) : 0;
            a.withdraws(upgrade);
            waits = waitsBefore ? waits : b.wants(EXCLUSIVE);
            assertThat(a.all(LockMessage.Recall.class))
                    .extracting(LockMessage.Recall::token)
                    .contains(reader);
            a.accepts(reader);
            assertThat(b.token(waits)).isPositive();
            b.release(b.token(waits));
            world.advance(TTL / 8); // nobody remembers that they took it from each other
        }
    }

    @Test
    void aWithdrawnDowngradeEndsTheGrant() {
        long writer = a.has(EXCLUSIVE);
        long downgrade = a.downgrades(writer);
        long waits = b.wants(EXCLUSIVE);
        a.doesNotTake(a.token(downgrade));
        a.withdraws(downgrade);
        assertThat(b.token(waits)).isPositive();
    }

    @Test
    void aRecallOfTheOldTokenThatIsDeniedLateSaysNothingOfTheNewOne() {
        long reader = a.has(SHARED);
        assertThat(b.refused(b.tries(EXCLUSIVE))).isFalse();
        long writer = a.token(a.upgrades(reader));
        assertThat(b.all(LockMessage.NotGranted.class))
                .as("who asked is refused by the upgrade")
                .hasSize(1);
        a.denies(reader);
        long hopeful = b.tries(EXCLUSIVE);
        if (!b.refused(hopeful)) {
            a.denies(writer);
        }
        assertThat(b.refused(hopeful)).isTrue();
    }

    @Test
    void theEndOfTheReadGrantEndsTheUpgradeThatWaits() {
        long own = a.has(SHARED);
        long other = b.has(SHARED);
        long upgrade = a.upgrades(own);
        a.release(own);
        assertThat(a.refused(upgrade)).isTrue();
        assertThat(c.has(SHARED)).as("beside b").isPositive();
        assertThat(c.shown().holders()).extracting(Participant::token).contains(other);
        assertThat(world.goals).contains(SharedGoal.UPGRADE_ENDED_WITH_ITS_GRANT);
    }

    @Test
    void theExpiryOfTheReadGrantEndsTheUpgradeThatWaits() {
        long own = a.has(SHARED);
        b.has(SHARED);
        long upgrade = a.upgrades(own);
        long reader = c.wants(SHARED);
        keepBeating(TTL, b, c);
        assertThat(a.refused(upgrade)).isTrue();
        assertThat(c.token(reader)).isPositive();
    }

    @Test
    void theEndOfTheSessionEndsTheUpgradeThatWaitsAndTellsNobody() {
        long own = a.has(SHARED);
        b.has(SHARED);
        long upgrade = a.upgrades(own);
        long reader = c.wants(SHARED);
        a.die();
        assertThat(a.refused(upgrade)).isFalse();
        assertThat(c.token(reader)).isPositive();
    }

    @Test
    void theExpiryOfAnotherReaderLetsTheUpgradeThrough() {
        long own = a.has(SHARED);
        b.has(SHARED);
        long upgrade = a.upgrades(own);
        keepBeating(TTL, a);
        assertThat(a.token(upgrade)).isPositive();
    }

    @Test
    void anUpgraderThatIsNotHeardIsOvertakenByNobodyAndGoesOnWhenItIs() {
        long own = a.has(SHARED);
        long other = b.has(SHARED);
        long upgrade = a.upgrades(own);
        long reader = c.wants(SHARED);
        keepBeating(TTL * 5 / 8, b, c);
        b.release(other);
        assertThat(a.token(upgrade)).isZero();
        assertThat(c.token(reader)).as("it is kept out all the same").isZero();
        a.beat();
        assertThat(a.token(upgrade)).isPositive();
        assertThat(world.goals).contains(SharedGoal.UPGRADE_OF_THE_SILENT);
    }

    @Test
    void aBreakOfTheReadLeaseEndsTheUpgradeThatWaits() {
        long own = a.has(SHARED);
        b.has(SHARED);
        long upgrade = a.upgrades(own);
        c.breaks(own);
        a.revoked(own, own);
        assertThat(a.refused(upgrade)).isTrue();
        assertThat(c.last(LockMessage.Answer.class).done()).isTrue();
        assertThat(c.has(SHARED)).isPositive();
    }

    @Test
    void anUpgradeWaitsForTheAnswerToABreakOfItsReadLease() {
        long own = a.has(SHARED);
        c.breaks(own);
        long upgrade = a.upgrades(own);
        assertThat(a.token(upgrade)).isZero();
        a.revoked(own, 0);
        assertThat(c.last(LockMessage.Answer.class).done()).isFalse();
        assertThat(a.token(upgrade)).as("it had moved past that token").isPositive();
        assertThat(world.goals).contains(SharedGoal.UPGRADE_DURING_A_BREAK);
    }

    @Test
    void aBreakThatCrossesADowngradeEndsTheGrant() {
        long writer = a.has(EXCLUSIVE);
        c.breaks(writer);
        long own = a.token(a.downgrades(writer));
        a.doesNotTake(own);
        a.revoked(writer, writer);
        assertThat(c.last(LockMessage.Answer.class).done()).isTrue();
        assertThat(b.has(EXCLUSIVE)).isGreaterThan(own);
    }

    @Test
    void whatIsKeptAtLeastOutlivesAChangeOfModeAndCountsFromTheFirstGrant() {
        long reader = a.token(a.wantsAtLeast(SHARED, 400 * MS));
        world.advance(100 * MS);
        long writer = a.token(a.upgrades(reader));
        a.release(writer);
        long waits = b.wants(SHARED);
        world.advance(300 * MS - 1);
        assertThat(b.token(waits)).isZero();
        world.advance(1);
        assertThat(b.token(waits)).isPositive();
    }

    @Test
    void whoeverConvertsNothingOrSomethingElseIsRefused() {
        long own = a.has(SHARED);
        assertThat(b.refused(b.upgrades(own))).as("it is a's").isTrue();
        assertThat(a.refused(a.upgrades(own + 1))).isTrue();
        LockMessage.Acquire permits = a.request(PERMITS, 1, 1, false, 0, own);
        a.say(permits);
        assertThat(a.last(LockMessage.NotGranted.class).cause()).isEqualTo(RefusalCause.UNSUPPORTED);
        a.release(own);
        assertThat(a.refused(a.upgrades(own))).as("it is over").isTrue();
        assertThat(world.leftovers()).isZero();
    }

    @Test
    void whoHasClaimedAReadersGrantWhileItAskedToBecomeOneGetsAnotherToken() {
        long own = a.has(SHARED);
        long other = b.has(SHARED);
        long next = a.token(a.downgrades(own));
        assertThat(next).isGreaterThan(other);
        a.release(own);
        b.release(other);
        assertThat(world.leftovers()).isZero();
    }

    @Test
    void aRepeatedRequestChangesNothing() {
        long own = a.has(SHARED);
        b.has(SHARED);
        LockMessage.Acquire upgrade = a.request(EXCLUSIVE, 1, 1, false, 0, own);
        a.say(upgrade);
        a.say(upgrade);
        assertThat(a.all(LockMessage.NotGranted.class)).isEmpty();
        b.die();
        assertThat(a.token(upgrade.request())).isPositive();
        a.say(upgrade);
        assertThat(a.all(LockMessage.Granted.class)).hasSize(2);
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
