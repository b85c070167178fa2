// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SuspendAwareClockTest {
    private static final long SECOND = 1_000_000_000L;

    private long monotonic = 5 * SECOND;
    private long wall = 1_000_000;
    private final SuspendAwareClock clock = new SuspendAwareClock(() -> monotonic, () -> wall);

    private void pass(long seconds) {
        monotonic += seconds * SECOND;
        wall += seconds * 1000;
    }

    private void sleep(long seconds) {
        wall += seconds * 1000;
    }

    @Test
    void isTheMonotonicClockWhileTheMachineIsAwake() {
        long start = clock.nanoTime();
        pass(10);
        assertThat(clock.nanoTime() - start).isEqualTo(10 * SECOND);
    }

    @Test
    void timeInWhichTheMachineSleptHasPassed() {
        long start = clock.nanoTime();
        pass(1);
        sleep(60);
        assertThat(clock.nanoTime() - start).isEqualTo(61 * SECOND);
        clock.look();
        pass(1);
        assertThat(clock.nanoTime() - start).isEqualTo(62 * SECOND);
    }

    @Test
    void aLookFindsASleepToo() {
        long start = clock.nanoTime();
        sleep(60);
        clock.look();
        assertThat(clock.nanoTime() - start).isEqualTo(60 * SECOND);
    }

    @Test
    void aWallClockThatIsSetBackTakesNothingBackAndHidesNoLaterSleep() {
        long start = clock.nanoTime();
        wall -= 3_600_000;
        pass(1);
        assertThat(clock.nanoTime() - start).isEqualTo(SECOND);
        clock.look();
        sleep(30);
        assertThat(clock.nanoTime() - start).isEqualTo(31 * SECOND);
    }

    @Test
    void neverGoesBack() {
        long start = clock.nanoTime();
        wall += 5000;
        assertThat(clock.nanoTime() - start).isEqualTo(5 * SECOND);
        wall -= 5000;
        assertThat(clock.nanoTime() - start).isEqualTo(5 * SECOND);
        clock.look();
        assertThat(clock.nanoTime() - start).isEqualTo(5 * SECOND);
    }

    @Test
    void driftIsNoSleep() {
        long start = clock.nanoTime();
        for (int i = 0; i < 1000; i++) {
            pass(1);
            wall += 5; // a clock that is slewed
            clock.look();
        }
        assertThat(clock.nanoTime() - start).isEqualTo(1000 * SECOND);
    }

    @Test
    void aThreadThatIsStoppedWhileItLooksLearnsNothing() {
        long[] stops = {0};
        SuspendAwareClock stopped = new SuspendAwareClock(() -> monotonic, () -> {
            long said = wall;
            pass(stops[0]);
            return said;
        });
        long start = stopped.nanoTime();
        stops[0] = 20;
        stopped.look();
        stops[0] = 0;
        assertThat(stopped.nanoTime() - start).isEqualTo(20 * SECOND);
        sleep(7);
        assertThat(stopped.nanoTime() - start).isEqualTo(27 * SECOND);
    }

    /**
     * A virtual machine that its host suspends, and whose wall clock is set some time later: nothing in it shows the
     * pause before.
     */
    @Test
    void aWallClockThatIsSetRightLateShowsTheSleepOnlyThen() {
        long start = clock.nanoTime();
        pass(2);
        assertThat(clock.nanoTime() - start).as("ten minutes of sleep, unseen").isEqualTo(2 * SECOND);
        sleep(600);
        assertThat(clock.nanoTime() - start).isEqualTo(602 * SECOND);
    }
}
