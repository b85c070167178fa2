// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * Random faults against the store machine: never two believers, none before a user whose lease lapsed could stop, and
 * nothing is left once the faults have ended.
 */
class StoreMachineRandomTest {

    private static final int SEEDS = Integer.getInteger("keyway.seeds", 3_000);

    @Test
    void noSeedBreaksARule() {
        long granted = 0;
        long lost = 0;
        long stopped = 0;
        long withdrawn = 0;
        long upgraded = 0;
        long upgradedAgain = 0;
        long downgraded = 0;
        long kept = 0;
        for (long seed = 0; seed < SEEDS; seed++) {
            StoreWorld world = run(seed);
            granted += world.granted;
            lost += world.lost;
            stopped += world.stopped;
            withdrawn += world.withdrawn;
            upgraded += world.upgraded;
            upgradedAgain += world.upgradedAgain;
            downgraded += world.downgraded;
            kept += world.kept;
        }
        // The situations that the test is about were reached.
        assertThat(granted).isGreaterThan(SEEDS * 4L);
        assertThat(lost).isGreaterThan(SEEDS / 10);
        assertThat(stopped).as("users that said that they have stopped").isGreaterThan(SEEDS / 100);
        assertThat(withdrawn).isGreaterThan(SEEDS);
        assertThat(upgraded).isGreaterThan(SEEDS / 10);
        assertThat(upgradedAgain)
                .as("upgrades right after one that was given up")
                .isGreaterThan(SEEDS / 100);
        assertThat(downgraded).isGreaterThan(SEEDS / 4);
        assertThat(kept).as("read grants that outlived their upgrade").isGreaterThan(SEEDS / 100);
    }

    /**
     * In each world a grant is broken, and each lost attempt comes late: perhaps before the holder has heard of the
     * break.
     */
    @Test
    void aLateAttemptTakesNoBrokenGrantAway() {
        long lost = 0;
        for (long seed = 4_800; seed < 4_900; seed++) {
            lost += run(seed, 100).lost;
        }
        assertThat(lost).isGreaterThan(50);
    }

    private static StoreWorld run(long seed) {
        return run(seed, 30);
    }

    private static StoreWorld run(long seed, int share) {
        StoreWorld world = new StoreWorld(seed, false, share);
        try {
            world.run();
        } catch (AssertionError e) {
            // Once more, for the story of it.
            new StoreWorld(seed, true, share).run();
            throw e;
        }
        return world;
    }
}
