// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Owner;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** A hint reaches the request whose turn has come, in whichever order the requests of a client came to the store. */
class WokenInTurnTest extends MachineScript {

    WokenInTurnTest() {
        super(Feature.FIFO, Feature.WAKE_UP);
    }

    @Test
    void aRequestThatIsSubmittedBeforeOneWithALowerIdIsAskedBeforeIt() {
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        expect("attempt 2");
        machine.attempted(2, at(0), behind(1), at(1));
        machine.attempted(1, at(1), behind(2), at(2));
        expect("attempt 1", "waiting 2", "waiting 1");
        machine.recheck(KEY);
        expect("attempt 2");
        machine.attempted(2, at(3), granted(2, 7), at(4));
        expect("granted 2 token 7 until 6003");
    }

    @Test
    void aRequestWhoseFirstAttemptFailedIsAskedAfterThoseThatPassedItMeanwhile() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attemptFailed(1, false, "not sent", null, at(1));
        machine.attempted(2, at(1), behind(1), at(2));
        expect("attempt 1", "attempt 2", "doubt 1", "waiting 2");
        machine.tick(at(100));
        expect("attempt 1");
        machine.attempted(1, at(100), behind(2), at(101));
        expect("waiting 1");
        machine.recheck(KEY);
        expect("attempt 2");
    }

    @Test
    void aRequestThatLostItsPlaceIsAskedAfterThoseThatKeptTheirs() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), behind(1), at(1));
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(1));
        machine.attempted(2, at(1), behind(2), at(2));
        machine.tick(at(2000));
        machine.attempted(2, at(2000), behind(2), at(2000));
        machine.attemptFailed(1, false, "not sent", null, at(2000));
        machine.effects();
        machine.tick(at(2100));
        expect("attempt 1");
        machine.attempted(1, at(2100), behind(2), at(2101));
        expect("waiting 1");
        machine.recheck(KEY);
        expect("attempt 2");
    }

    @Test
    void aHintGoesOnToTheNextWhileTheStoreSaysThatOthersWaitBefore() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), behind(2), at(1));
        machine.attempted(2, at(1), behind(1), at(2));
        machine.effects();
        machine.recheck(KEY);
        expect("attempt 1");
        machine.attempted(1, at(3), new Attempt.Waiting(TTL, OptionalInt.of(1), List.of()), at(4));
        expect("waiting 1", "attempt 2");
    }

    @Test
    void aHintThatComesTooLateEndsWithTheFirst() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), behind(1), at(1));
        machine.attempted(2, at(1), behind(2), at(2));
        machine.effects();
        machine.recheck(KEY);
        expect("attempt 1");
        machine.attempted(1, at(3), behind(1), at(4));
        expect();
    }

    @Test
    void aHintPassesAnUpgradeThatHasToWaitForOtherReaders() {
        machine.submit(request(1, LockMode.SHARED, true), at(0));
        machine.attempted(1, at(0), granted(1, 5), at(0));
        machine.submit(request(2, LockMode.SHARED, true), at(0));
        machine.attempted(2, at(0), behind(2), at(1));
        machine.convert(1, request(3, LockMode.EXCLUSIVE, true), at(1));
        machine.attempted(3, at(1), behind(1), at(2));
        machine.effects();
        machine.recheck(KEY);
        expect("convert 1 to 3");
        machine.attempted(3, at(3), behind(1), at(4));
        expect("attempt 2");
    }

    @Test
    void aHintThatNamesARequestReachesItAndNoOther() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.submit(request(2, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), behind(1), at(1));
        machine.attempted(2, at(1), behind(2), at(2));
        machine.effects();
        machine.recheck(2);
        expect("attempt 2");
        machine.attempted(2, at(3), granted(2, 7), at(4));
        expect("granted 2 token 7 until 6003");
        machine.recheck(2);
        expect();
    }

    @Test
    void aHintThatNamesARequestWhoseAttemptIsUnderWayHasItAskedAgain() {
        machine.submit(request(1, LockMode.SHARED, true), at(0));
        expect("attempt 1");
        machine.recheck(1);
        expect();
        machine.attempted(1, at(0), behind(1), at(1));
        expect("waiting 1", "attempt 1");
    }

    @Test
    void aGrantByMessageIsHeldWithoutAnAttemptFromWhenItsTermBegan() {
        waitsAlone();
        machine.granted(1, known(at(5)), at(10));
        expect("granted 1 token 7 until 6005");
    }

    @Test
    void aGrantByMessageWhoseWordIsTakenBackIsAskedFor() {
        waitsAlone();
        machine.granted(1, Optional::empty, at(10));
        expect("attempt 1");
    }

    @Test
    void aGrantByMessageThatCameAfterABreakIsAskedFor() {
        waitsAlone();
        machine.ended(KEY, 7, LeaseLoss.Cause.BROKEN, "broken", at(5));
        machine.granted(1, known(at(5)), at(10));
        expect("attempt 1");
    }

    @Test
    void aGrantByMessageThatCameAfterADoubtIsAskedFor() {
        waitsAlone();
        machine.doubt("fail-over", at(5));
        machine.granted(1, known(at(5)), at(10));
        expect("attempt 1");
    }

    private void waitsAlone() {
        machine.submit(request(1, LockMode.EXCLUSIVE, true), at(0));
        machine.attempted(1, at(0), behind(1), at(1));
        machine.effects();
    }

    /** Of a store that granted the first request; taken at 10 ms. */
    private static Supplier<Optional<Attempt.Granted>> known(long begunAt) {
        return () -> Optional.of(new Attempt.Granted(grant(1, 7), Duration.ofNanos(at(10) - begunAt)));
    }

    /** Behind one holder, and those who wait between. */
    private static Attempt behind(int ahead) {
        return new Attempt.Waiting(
                Duration.ofSeconds(2), OptionalInt.of(ahead), List.of(new Owner("holder", Map.of())));
    }
}
