// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * A doubt, as of a fail-over, is ended by what is sent after it: what was under way may be answered by the former
 * master.
 */
class StoreDoubtTest extends MachineScript {

    @Test
    void aRenewalThatWasUnderWayExtendsNothingAndIsRepeated() {
        grantAll(1);
        machine.tick(at(4000));
        machine.doubt("a fail-over", at(4005));
        expect("renew [1]", "doubt 1");
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.DONE), at(4010));
        expect("renew [1]");
        machine.renewed(List.of(grant(1, 1)), at(4010), List.of(Answer.DONE), at(4020));
        expect("certain 1", "extended [1] until 10010");
    }

    @Test
    void aRenewalThatWasUnderWayEndsNothing() {
        grantAll(1);
        machine.tick(at(4000));
        machine.doubt("a fail-over", at(4005));
        machine.effects();
        machine.renewed(List.of(grant(1, 1)), at(4000), List.of(Answer.NOT_HELD), at(4010));
        expect("renew [1]");
        machine.renewFailed(List.of(grant(1, 1)), at(4020));
        machine.tick(at(4100));
        machine.renewed(List.of(grant(1, 1)), at(4100), List.of(Answer.NOT_HELD), at(4110));
        expect("renew [1]", "ended 1 EXPIRED", "gone 1");
    }

    @Test
    void aGrantThatWasOnItsWayIsAskedForAgain() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.doubt("a fail-over", at(1));
        machine.attempted(1, at(0), granted(1, 7), at(2));
        expect("attempt 1", "attempt 1");
        machine.attempted(1, at(2), granted(1, 7), at(3));
        expect("granted 1 token 7 until 6002");
    }

    @Test
    void aReleaseThatWasUnderWayIsSentAgain() {
        grantAll(1);
        machine.release(1, at(10));
        machine.doubt("a fail-over", at(11));
        machine.released(1, Answer.DONE, at(12));
        expect("release 1 token 1", "release 1 token 1");
        machine.released(1, Answer.NOT_HELD, at(13));
        expect("released 1 DONE", "gone 1");
    }

    @Test
    void aWithdrawalThatWasUnderWayIsSentAgain() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.withdraw(1, at(20));
        machine.effects();
        machine.doubt("a fail-over", at(21));
        machine.withdrawn(1);
        expect("withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }
}
