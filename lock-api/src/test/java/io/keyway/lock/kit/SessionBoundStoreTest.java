// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import org.junit.jupiter.api.Test;

/** Where grants last as long as the client's session, nothing that may stand at the store is forgotten. */
class SessionBoundStoreTest extends MachineScript {

    private static final long DAY = 86_400_000;

    SessionBoundStoreTest() {
        super(true);
    }

    @Test
    void aReleaseIsRepeatedUntilItIsAnswered() {
        grantAll(1);
        machine.release(1, at(0));
        expect("release 1 token 1");
        machine.cleanUpFailed(1, true, at(16_000));
        expect("released 1 UNKNOWN");
        machine.tick(at(31_000));
        expect("release 1 token 1");
        machine.cleanUpFailed(1, true, at(DAY));
        expect();
        machine.tick(at(DAY + 15_000));
        expect("release 1 token 1");
        machine.released(1, Answer.DONE, at(DAY + 15_010));
        expect("released 1 DONE", "gone 1");
        assertThat(machine.idle()).isTrue();
    }

    @Test
    void aWithdrawalIsRepeatedUntilItIsAnsweredAndAtOnceWhenTheStoreCanBeReachedAgain() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.withdraw(1, at(20));
        expect("attempt 1", "doubt 1", "withdraw 1");
        machine.cleanUpFailed(1, true, at(DAY));
        expect();
        machine.reconnected(at(DAY + 1));
        expect("withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }
}
