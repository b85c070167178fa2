// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.counter.CounterAlgorithm;
import io.keyway.lock.peer.counter.CounterAlgorithm.Flaw;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.session.PeerGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An algorithm of the tests alone runs under all faults of the simulator with an oracle of its own: nothing of the
 * product knows it. The same over sockets is {@code CounterClusterTest}.
 */
class CounterSimulationTest {
    @Test
    void membersAgreeOnACounter() throws InterruptedException {
        List<CoverageGoal> goals = new ArrayList<>(List.of(PeerGoal.values()));
        goals.add(WorldGoal.MEMBER_RESTARTED);
        assertThat(run(0, 200).goals().missing(goals)).as("never reached").isEmpty();
    }

    @Test
    @Tag("soak")
    void inTwentyThousandWorlds() throws InterruptedException {
        run(1L << 40, 20_000);
    }

    private static Campaign.Total run(long first, long seeds) throws InterruptedException {
        Campaign campaign = TestCampaigns.of(Profile.COUNTER);
        Campaign.Total total = campaign.run(first, seeds, 0, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.runs()).isGreaterThanOrEqualTo(seeds);
        return total;
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void aFlawIsFound(Flaw flaw) {
        Campaign campaign = TestCampaigns.counter(new CounterAlgorithm(flaw));
        for (long seed = 0; seed < 300; seed++) {
            if (campaign.run(seed).violation() != null) {
                return;
            }
        }
        throw new AssertionError(flaw + " was not found");
    }
}
