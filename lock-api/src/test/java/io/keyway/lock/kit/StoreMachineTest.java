// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Request;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What becomes of requests and leases. */
class StoreMachineTest extends MachineScript {

    @Test
    void aGrantIsRenewedFromHalfItsTtlAndReleasedByToken() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        expect("attempt 1");
        machine.attempted(1, at(10), granted(1, 7), at(20));
        expect("granted 1 token 7 until 6010");
        assertThat(machine.nextDue()).hasValue(at(4010));
        machine.tick(at(4010));
        expect("renew [1]");
        machine.renewed(List.of(grant(1, 7)), at(4011), List.of(Answer.DONE), at(4020));
        expect("extended [1] until 10011");
        assertThat(machine.release(1, at(5000))).isTrue();
        expect("release 1 token 7");
        machine.tick(at(9000));
        expect();
        machine.released(1, Answer.DONE, at(9001));
        expect("released 1 DONE", "gone 1");
        assertThat(machine.idle()).isTrue();
        assertThat(machine.nextDue()).isEmpty();
    }

    @Test
    void anUnknownAttemptIsRepeatedWithTheSameId() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        expect("attempt 1");
        machine.attemptFailed(1, true, "timed out", null, at(10));
        expect("doubt 1");
        machine.tick(at(70));
        expect("attempt 1");
        machine.attempted(1, at(60), granted(1, 7), at(80));
        expect("granted 1 token 7 until 6060");
    }

    @Test
    void aWithdrawalWaitsForTheAttemptUnderWayAndIsRepeatedUntilAnswered() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        expect("attempt 1");
        machine.withdraw(1, at(1));
        expect();
        machine.attempted(1, at(0), granted(1, 7), at(10));
        expect("withdraw 1");
        machine.cleanUpFailed(1, true, at(20));
        expect();
        machine.tick(at(80));
        expect("withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void whatWasSurelyNotExecutedNeedsNoWithdrawal() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, false, "refused", null, at(1));
        expect("attempt 1", "doubt 1");
        machine.withdraw(1, at(2));
        expect("gone 1");
    }

    @Test
    void oneAttemptFailsAtOnceIfNothingWasSent() {
        machine.submit(request(1, LockMode.EXCLUSIVE, false), at(0));
        machine.attemptFailed(1, false, "refused", null, at(1));
        expect("attempt 1", "failed 1 LockUnavailableException", "gone 1");
    }

    @Test
    void oneAttemptIsRefusedAndLeavesNothing() {
        machine.submit(request(1, LockMode.EXCLUSIVE, false), at(0));
        machine.attempted(1, at(0), waiting(), at(1));
        expect("attempt 1", "refused 1", "gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void aGrantTooOldToBeBelievedIsAskedForAgain() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), granted(1, 7), at(6000));
        expect("attempt 1");
        machine.tick(at(6060));
        expect("attempt 1");
        machine.attempted(1, at(6060), granted(1, 7), at(6070));
        expect("granted 1 token 7 until 12060");
    }

    @Test
    void renewalsOfOneTtlGoTogether() {
        grantAll(3);
        machine.tick(at(4000));
        expect("renew [1, 2, 3]");
        machine.renewed(
                List.of(grant(1, 1), grant(2, 2), grant(3, 3)),
                at(4000),
                List.of(Answer.DONE, Answer.NOT_HELD, Answer.UNKNOWN),
                at(4010));
        expect("ended 2 EXPIRED", "gone 2", "extended [1] until 10000");
        machine.tick(at(4100));
        expect("renew [3]");
    }

    @Test
    void aBatchIsBounded() {
        grantAll(RenewalGroup.BATCH + 1);
        machine.tick(at(4000));
        EffectLog effects = EffectLog.of(machine.effects());
        assertThat(effects.lines).hasSize(2);
        assertThat(effects.renewals.get(0)).hasSize(RenewalGroup.BATCH);
        assertThat(effects.renewals.get(1)).hasSize(1);
    }

    @Test
    void aSilentStoreMeansDoubtThenTheEndThenTimeToStopThenARelease() {
        grantAll(1);
        machine.tick(at(4000));
        expect("renew [1]");
        machine.tick(at(5000));
        expect("doubt 1");
        machine.tick(at(6000));
        expect("ended 1 EXPIRED");
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.DONE), at(6001));
        machine.reconnected(at(7000));
        machine.tick(at(7999));
        expect();
        machine.tick(at(8000));
        expect("release 1 token 1");
        machine.released(1, Answer.NOT_HELD, at(8010));
        expect("released 1 NOT_HELD", "gone 1");
    }

    @Test
    void aLapsedGrantIsReleasedWhenItsOwnerHasStopped() {
        grantAll(1);
        machine.tick(at(6000));
        machine.effects();
        assertThat(machine.release(1, at(6100))).isTrue();
        expect("release 1 token 1");
        machine.tick(at(8000));
        expect();
    }

    @Test
    void anOwnerWhoSawAnEarlierDeadlinePassHasTimeToStop() {
        grantAll(1);
        machine.tick(at(4000));
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.DONE), at(6100));
        expect("renew [1]", "ended 1 EXPIRED");
        grantAgain(2, 6200);
        machine.tick(at(10_200));
        machine.renewed(List.of(grant(2, 2)), at(10_200), List.of(Answer.DONE), at(10_300));
        machine.effects();
        assertThat(machine.lapsed(2, at(12_250))).isTrue();
        expect("ended 2 EXPIRED");
        machine.tick(at(14_249));
        expect();
        machine.tick(at(14_250));
        expect("release 2 token 2");
    }

    @Test
    void whatTheStoreEndsNeedsNoReleaseAfterItsLapse() {
        grantAll(2);
        machine.tick(at(6000));
        expect("ended 1 EXPIRED", "ended 2 EXPIRED");
        machine.ended(KEY, 1, Cause.BROKEN, "broken", at(6100));
        expect();
        machine.ended(KEY, 2, Cause.EXPIRED, "the session is over", at(6200));
        expect("gone 2");
        machine.tick(at(8000));
        expect("release 1 token 1");
    }

    @Test
    void whatTheStoreEndsIsWithdrawnIfAnEarlierAttemptMayStillArrive() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.tick(at(200));
        machine.attempted(1, at(200), granted(1, 5), at(210));
        machine.effects();
        machine.endedAll(Cause.EXPIRED, at(300));
        expect("ended 1 EXPIRED", "withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }

    private void grantAgain(long id, long at) {
        machine.submit(request(id, LockMode.SHARED, true), at(at));
        machine.attempted(id, at(at), granted(id, id), at(at));
        machine.effects();
    }

    @Test
    void anAnswerReadAfterAPauseExtendsNothing() {
        grantAll(1);
        machine.tick(at(4000));
        expect("renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.DONE), at(6000));
        expect("ended 1 EXPIRED");
    }

    @Test
    void notHeldAfterALostReplyIsOurOwnRelease() {
        grantAll(1);
        machine.release(1, at(10));
        machine.cleanUpFailed(1, true, at(20));
        machine.tick(at(80));
        machine.released(1, Answer.NOT_HELD, at(90));
        expect("release 1 token 1", "release 1 token 1", "released 1 DONE", "gone 1");
    }

    @Test
    void aRefusedRequestIsWithdrawnIfAnEarlierAttemptMayStillArrive() {
        machine.submit(request(1, LockMode.EXCLUSIVE, false), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.tick(at(200));
        machine.attempted(1, at(200), waiting(), at(210));
        expect("attempt 1", "doubt 1", "attempt 1", "refused 1", "withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }

    @Test
    void aReleasedRequestIsWithdrawnIfAnEarlierAttemptMayStillArrive() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.tick(at(200));
        machine.attempted(1, at(200), granted(1, 5), at(210));
        machine.release(1, at(300));
        machine.effects();
        machine.released(1, Answer.DONE, at(310));
        expect("released 1 DONE", "withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }

    @Test
    void aReleaseIsGivenUpWhenTheStoreHasSurelyExpiredIt() {
        grantAll(1);
        machine.release(1, at(0));
        expect("release 1 token 1");
        machine.cleanUpFailed(1, true, at(16_000));
        expect("released 1 UNKNOWN", "gone 1");
    }

    @Test
    void whereHintsMayHaveBeenMissedOneOfEachKeyIsAsked() {
        LockKey other = LockKey.lock(LockName.of("y"));
        for (int id = 1; id <= 4; id++) {
            Request request = request(id, LockMode.EXCLUSIVE, true);
            machine.submit(id % 2 == 0 ? request : requestOf(other, request), at(0));
            machine.attempted(id, at(0), waiting(), at(0));
        }
        machine.effects();
        machine.recheckAll();
        assertThat(EffectLog.of(machine.effects()).lines).containsExactlyInAnyOrder("attempt 1", "attempt 2");
    }

    private static Request requestOf(LockKey key, Request other) {
        return new Request(other.id(), key, other.mode(), 1, 1, other.ttl(), true, other.owner(), other.holdAtLeast());
    }

    @Test
    void aHintWakesOneAndAStormIsCoalesced() {
        for (int id = 1; id <= 100; id++) {
            machine.submit(request(id, LockMode.EXCLUSIVE, true), at(0));
            machine.attempted(id, at(0), waiting(), at(0));
        }
        machine.effects();
        for (int i = 0; i < 1000; i++) {
            machine.recheck(KEY);
        }
        expect("attempt 1");
        machine.attempted(1, at(1), granted(1, 5), at(2));
        expect("granted 1 token 5 until 6001");
    }

    @Test
    void aHintThatFindsTheLockTakenAsksAFewOnly() {
        for (int id = 1; id <= 100; id++) {
            machine.submit(request(id, LockMode.EXCLUSIVE, true), at(0));
            machine.attempted(id, at(0), waiting(), at(0));
        }
        machine.effects();
        machine.recheck(KEY);
        int asked = 0;
        while (machine.effects().size() == 1) {
            asked++;
            machine.attempted(asked, at(1), waiting(), at(1));
        }
        assertThat(asked).isEqualTo(KeyQueue.REFUSALS);
    }

    @Test
    void aHintLetsReadersInOneAfterTheOther() {
        for (int id = 1; id <= 3; id++) {
            machine.submit(request(id, LockMode.SHARED, true), at(0));
            machine.attempted(id, at(0), waiting(), at(0));
        }
        machine.effects();
        machine.recheck(KEY);
        expect("attempt 1");
        machine.attempted(1, at(1), granted(1, 1), at(1));
        expect("granted 1 token 1 until 6001", "attempt 2");
        machine.withdraw(2, at(1));
        expect("attempt 3");
        machine.attempted(2, at(1), granted(2, 2), at(1));
        expect("withdraw 2");
        machine.attempted(3, at(1), granted(3, 3), at(2));
        expect("granted 3 token 3 until 6001");
    }

    @Test
    void aHintDuringAnAttemptAsksOnceMore() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.recheck(KEY);
        expect("attempt 1");
        machine.attempted(1, at(0), waiting(), at(1));
        expect("waiting 1", "attempt 1");
        machine.attempted(1, at(1), waiting(), at(2));
        expect();
        assertThat(machine.nextDue().orElseThrow()).isBetween(at(1502), at(2002));
    }

    @Test
    void anEndThatOvertakesItsGrantIsNotBelieved() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.ended(KEY, 7, Cause.BROKEN, "broken", at(2));
        machine.attempted(1, at(0), granted(1, 7), at(1));
        expect("attempt 1", "attempt 1");
        machine.attempted(1, at(1), granted(1, 8), at(2));
        expect("granted 1 token 8 until 6001");
        machine.ended(KEY, 7, Cause.BROKEN, "broken", at(2));
        expect();
        machine.endedAll(Cause.DENIED, at(3));
        expect("ended 1 DENIED", "gone 1");
    }

    @Test
    void aBreakIsAnsweredByARelease() {
        grantAll(1);
        machine.ended(KEY, 1, Cause.BROKEN, "broken", at(2));
        expect("ended 1 BROKEN", "release 1 token 1");
        machine.cleanUpFailed(1, true, at(3));
        machine.tick(at(60));
        machine.released(1, Answer.NOT_HELD, at(61));
        expect("release 1 token 1", "released 1 DONE", "gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void theStoresDoubtIsAnsweredByARenewal() {
        grantAll(1);
        machine.doubt("suspended", at(100));
        expect("doubt 1", "renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(101), List.of(Answer.DONE), at(102));
        expect("certain 1", "extended [1] until 6101");
    }

    @Test
    void aReconnectionEndsTheBackOff() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, true, "reset", null, at(1));
        expect("attempt 1", "doubt 1");
        machine.reconnected(at(2));
        expect("attempt 1");
    }

    @Test
    void aClosedMachineCleansUpAndRefuses() {
        grantAll(1);
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(2, at(0), waiting(), at(0));
        machine.effects();
        machine.close(at(1));
        expect("release 1 token 1", "withdraw 2");
        machine.submit(request(3, LockMode.EXCLUSIVE, true), at(2));
        expect("failed 3 ClientClosedException", "gone 3");
        machine.released(1, Answer.DONE, at(3));
        machine.withdrawn(2);
        assertThat(machine.idle()).isTrue();
    }
}
