// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.sim.Options.Profile;
import org.junit.jupiter.api.Test;

/** Repeats one seed: {@code -Dkeyway.profile=SESSION -Dkeyway.seed=17}. Plans that once failed stand here as tests. */
class SimulationReplayTest {
    @Test
    void theSeedOfTheCommandLine() {
        Campaign campaign = Campaigns.of(Profile.valueOf(System.getProperty("keyway.profile", "SESSION")));
        RunResult result = campaign.run(Long.getLong("keyway.seed", 1));
        if (result.violation() != null) {
            fail(campaign.report(result));
        }
        assertThat(result.events()).isPositive();
    }
}
