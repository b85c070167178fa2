// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;

/**
 * A grant was broken before its client had heard of it: the client says that nobody believes in it, and asks anew at
 * once.
 */
class BrokenUnheardTest extends MachineScript {

    private static Attempt broken(long token) {
        return new Attempt.Waiting(Duration.ofSeconds(2), OptionalInt.empty(), List.of(), Optional.of(grant(1, token)));
    }

    private void loseTheAnswer(boolean queue) {
        machine.submit(request(1, LockMode.EXCLUSIVE, queue), at(0));
        machine.attemptFailed(1, true, "timed out", null, at(10));
        machine.tick(machine.nextDue().orElseThrow());
        expect("attempt 1", "doubt 1", "attempt 1");
    }

    @Test
    void itIsReleasedAndAskedForAnew() {
        loseTheAnswer(true);
        machine.attempted(1, at(100), broken(7), at(101));
        expect("release 1 token 7");
        machine.released(1, Answer.NOT_HELD, at(102));
        expect("attempt 1");
        machine.attempted(1, at(102), granted(1, 8), at(103));
        expect("granted 1 token 8 until 6102");
    }

    @Test
    void whoDoesNotQueueAsksAnewToo() {
        loseTheAnswer(false);
        machine.attempted(1, at(100), broken(7), at(101));
        machine.released(1, Answer.NOT_HELD, at(102));
        expect("release 1 token 7", "attempt 1");
        machine.attempted(1, at(102), waiting(), at(103));
        expect("refused 1", "withdraw 1");
    }

    @Test
    void aReleaseThatFailsIsRepeatedByTheNextAttempt() {
        loseTheAnswer(true);
        machine.attempted(1, at(100), broken(7), at(101));
        machine.cleanUpFailed(1, true, at(102));
        machine.tick(machine.nextDue().orElseThrow());
        machine.attempted(1, at(200), broken(7), at(201));
        expect("release 1 token 7", "attempt 1", "release 1 token 7");
    }

    @Test
    void aStoreThatDoesNotHearTheReleaseIsNotAskedWithoutAPause() {
        loseTheAnswer(true);
        machine.attempted(1, at(100), broken(7), at(101));
        machine.released(1, Answer.NOT_HELD, at(102));
        machine.attempted(1, at(102), broken(7), at(103));
        expect("release 1 token 7", "attempt 1", "waiting 1");
    }

    @Test
    void whoIsGivenUpMeanwhileIsWithdrawn() {
        loseTheAnswer(true);
        machine.attempted(1, at(100), broken(7), at(101));
        machine.withdraw(1, at(102));
        expect("release 1 token 7");
        machine.released(1, Answer.NOT_HELD, at(103));
        expect("withdraw 1");
        machine.withdrawn(1);
        expect("gone 1");
    }

    @Test
    void whoIsGivenUpMeanwhileIsWithdrawnThoughTheReleaseFailed() {
        loseTheAnswer(true);
        machine.attempted(1, at(100), broken(7), at(101));
        machine.withdraw(1, at(102));
        machine.cleanUpFailed(1, true, at(103));
        machine.tick(machine.nextDue().orElseThrow());
        expect("release 1 token 7", "withdraw 1");
    }
}
