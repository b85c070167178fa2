// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static io.keyway.lock.LockMode.EXCLUSIVE;
import static io.keyway.lock.LockMode.PERMITS;
import static io.keyway.lock.LockMode.SHARED;
import static io.keyway.lock.peer.lease.ManagerWorld.MS;
import static io.keyway.lock.peer.lease.ManagerWorld.TTL;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.SharedGoal;
import org.junit.jupiter.api.Test;

/** A grant changes its mode, and something crosses that: a release, a withdrawal, a break, an end. */
class CrossedConversionTest extends ThreeClients {
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
}
