// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A grant that changes its mode: 1 holds, 2 is to replace it. */
class StoreConversionTest extends MachineScript {

    @Test
    void theNewGrantTakesThePlaceOfTheOldInOneStep() {
        upgrading();
        machine.attempted(2, at(10), granted(2, 5), at(20));
        expect("converted 1 to 2 token 5 until 6010", "gone 1");
        machine.tick(at(4010));
        expect("renew [2]");
        assertThat(machine.release(1, at(4011))).isFalse();
        assertThat(machine.release(2, at(4012))).isTrue();
        expect("release 2 token 5");
    }

    @Test
    void whileTheUpgradeWaitsTheReadGrantIsRenewed() {
        upgrading();
        machine.attempted(2, at(0), waiting(), at(1));
        machine.tick(at(4000));
        expect("waiting 2", "convert 1 to 2", "renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.DONE), at(4001));
        expect("extended [1] until 10000");
    }

    @Test
    void aLostAnswerIsAskedForAgainAndNotHeldEndsNothingMeanwhile() {
        upgrading();
        machine.attemptFailed(2, true, "timed out", null, at(100));
        machine.tick(at(4000));
        expect("doubt 2", "convert 1 to 2", "renew [1]");
        // The store has upgraded it; the answer to this is lost, too.
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.NOT_HELD), at(4001));
        expect();
        machine.attempted(2, at(4000), granted(2, 5), at(4010));
        expect("converted 1 to 2 token 5 until 10000", "gone 1");
    }

    @Test
    void beliefInTheReadGrantEndsAtItsDeadlineWhateverTheUpgradeMayHaveDone() {
        upgrading();
        machine.attemptFailed(2, true, "timed out", null, at(100));
        expect("doubt 2");
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.NOT_HELD), at(4001));
        expect("convert 1 to 2");
        machine.attempted(2, at(4001), granted(2, 5), at(6000));
        expect("ended 1 EXPIRED", "failed 2 LockUnavailableException", "withdraw 2");
        machine.withdrawn(2);
        expect("gone 2");
        machine.tick(at(8000));
        expect("release 1 token 1");
    }

    @Test
    void aLapsedReadGrantIsReleasedWhenTheWithdrawalHasMadeItThatAgain() {
        upgrading();
        machine.attemptFailed(2, true, "timed out", null, at(100));
        machine.tick(at(6000));
        machine.effects();
        machine.tick(at(8000));
        expect();
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
    }

    @Test
    void aWithdrawnUpgradeLeavesTheReadGrantAndOldAnswersDoNotEndIt() {
        upgrading();
        machine.tick(at(4000));
        expect("renew [1]");
        machine.withdraw(2, at(4001));
        machine.attempted(2, at(0), granted(2, 5), at(4002));
        expect("withdraw 2");
        machine.withdrawn(2);
        expect("gone 2");
        // This renewal met the write grant.
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.NOT_HELD), at(4003));
        expect();
        machine.tick(at(4100));
        expect("renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(4100), List.of(Answer.DONE), at(4101));
        expect("extended [1] until 10100");
        machine.tick(at(8200));
        expect("renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(8200), List.of(Answer.NOT_HELD), at(8201));
        expect("ended 1 EXPIRED", "gone 1");
    }

    @Test
    void aReleaseWaitsForTheUpgradeToBeWithdrawn() {
        upgrading();
        assertThat(machine.release(1, at(10))).isTrue();
        expect("failed 2 LockUnavailableException");
        machine.attempted(2, at(0), granted(2, 5), at(20));
        expect("withdraw 2");
        machine.cleanUpFailed(2, true, at(30));
        machine.tick(at(90));
        expect("withdraw 2");
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
        machine.released(1, Answer.DONE, at(100));
        expect("released 1 DONE", "gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void anUpgradeThatWasSurelyNotSentHoldsUpNothing() {
        upgrading();
        machine.attemptFailed(2, false, "refused", null, at(10));
        expect("doubt 2");
        assertThat(machine.release(1, at(11))).isTrue();
        expect("failed 2 LockUnavailableException", "gone 2", "release 1 token 1");
    }

    @Test
    void oneThatIsRefusedLeavesTheReadGrantAndAsksWhetherItStands() {
        upgrading();
        machine.attempted(2, at(0), new Attempt.Refused(List.of()), at(10));
        expect("refused 2", "gone 2", "renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(10), List.of(Answer.NOT_HELD), at(20));
        expect("ended 1 EXPIRED", "gone 1");
    }

    @Test
    void oneAtATimeAndOnlyOfWhatIsHeld() {
        upgrading();
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(1));
        expect("refused 3", "gone 3");
        machine.convert(9, request(4, LockMode.EXCLUSIVE, true), at(1));
        expect("refused 4", "gone 4");
    }

    /** Otherwise its user would hear that another reader upgrades, which is not so. */
    @Test
    void oneThatIsAskedAfterAnotherWasGivenUpIsSentWhenThatIsOver() {
        upgrading();
        machine.attempted(2, at(0), waiting(), at(1));
        machine.withdraw(2, at(2));
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(2));
        expect("waiting 2", "withdraw 2");
        machine.recheck(3);
        machine.convert(1, request(4, LockMode.EXCLUSIVE, true), at(3));
        expect("refused 4", "gone 4");
        machine.withdrawn(2);
        expect("gone 2", "convert 1 to 3");
        machine.attempted(3, at(4), granted(3, 5), at(5));
        expect("converted 1 to 3 token 5 until 6004", "gone 1");
    }

    /** A hint is for those that wait at the store. */
    @Test
    void oneThatWaitsForAnotherToBeOverKeepsNobodyFromAHint() {
        upgrading();
        machine.submit(request(5, LockMode.SHARED, true), at(0));
        machine.attempted(5, at(0), waiting(), at(1));
        machine.withdraw(2, at(2));
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(3));
        machine.effects();
        machine.recheck(KEY);
        expect("attempt 5");
    }

    @Test
    void oneThatWaitsForAnotherToBeOverEndsWithTheReadGrantOrByItself() {
        upgrading();
        machine.withdraw(2, at(1));
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(2));
        machine.withdraw(3, at(3));
        expect("gone 3");
        machine.convert(1, request(4, LockMode.EXCLUSIVE, true), at(4));
        assertThat(machine.release(1, at(5))).isTrue();
        expect("failed 4 LockUnavailableException", "gone 4");
        machine.attempted(2, at(0), granted(2, 5), at(6));
        expect("withdraw 2");
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
    }

    @Test
    void theStoresWordEndsTheReadGrantAndTheUpgrade() {
        upgrading();
        machine.attempted(2, at(0), waiting(), at(1));
        machine.ended(KEY, 1, Cause.BROKEN, "broken", at(2));
        expect("waiting 2", "ended 1 BROKEN", "failed 2 LockUnavailableException", "withdraw 2");
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
        machine.released(1, Answer.NOT_HELD, at(3));
        expect("released 1 NOT_HELD", "gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void aDowngradeThatIsGivenUpIsWithdrawnBeforeTheRelease() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), granted(1, 1), at(0));
        machine.convert(1, request(2, LockMode.SHARED, true), at(0));
        machine.effects();
        machine.attemptFailed(2, true, "timed out", null, at(1000));
        machine.withdraw(2, at(2000));
        assertThat(machine.release(1, at(2000))).isTrue();
        expect("doubt 2", "withdraw 2");
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
    }

    @Test
    void upgradesAreAskedBeforeOthersOfTheClient() {
        grantAll(1);
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(2, at(0), waiting(), at(0));
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(3, at(0), waiting(), at(0));
        machine.effects();
        machine.recheck(KEY);
        expect("convert 1 to 3");
        machine.attempted(3, at(1), granted(3, 5), at(2));
        expect("converted 1 to 3 token 5 until 6001", "gone 1");
    }

    @Test
    void whatHasBecomeAnotherGrantIsWithdrawnIfAnAttemptOfItMayStillArrive() {
        machine.submit(request(1, LockMode.SHARED, true), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.tick(at(200));
        machine.attempted(1, at(200), granted(1, 1), at(210));
        machine.convert(1, request(2, LockMode.EXCLUSIVE, true), at(220));
        machine.effects();
        machine.attempted(2, at(220), granted(2, 5), at(230));
        expect("converted 1 to 2 token 5 until 6220", "withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
        assertThat(machine.release(2, at(240))).isTrue();
        expect("release 2 token 5");
    }

    @Test
    void aClosedMachineWithdrawsTheUpgradeAndReleases() {
        upgrading();
        machine.attempted(2, at(0), waiting(), at(1));
        machine.close(at(2));
        expect("waiting 2", "failed 2 LockUnavailableException", "withdraw 2");
        machine.withdrawn(2);
        expect("gone 2", "release 1 token 1");
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(3));
        expect("failed 3 ClientClosedException", "gone 3");
    }

    private void upgrading() {
        grantAll(1);
        machine.convert(1, request(2, LockMode.EXCLUSIVE, true), at(0));
        expect("convert 1 to 2");
    }
}
