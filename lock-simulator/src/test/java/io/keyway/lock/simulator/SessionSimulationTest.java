// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.session.SessionGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The session machines in many short worlds: what {@link SessionModel} asserts holds in each, and every rare situation
 * came up.
 */
class SessionSimulationTest {
    private static final long SEEDS = Long.getLong("keyway.seeds", 8_000);

    @Test
    void sessionsKeepOrderAndBelief() throws InterruptedException {
        Campaign campaign = Campaigns.of(Profile.SESSION);
        Campaign.Total total = campaign.run(0, SEEDS, 0, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.runs()).isGreaterThanOrEqualTo(SEEDS);
        List<CoverageGoal> goals =
                new ArrayList<>(Goals.all(SessionGoal.values(), WorldGoal.values(), Fault.Kind.values()));
        goals.remove(WorldGoal.STARTED_BY_HORIZON); // the sessions of a lease keep one
        // faults of a cluster, and of a member that has grants to hand over
        goals.removeAll(List.of(
                Fault.Kind.WALL_STEP,
                Fault.Kind.NEW_LIST,
                Fault.Kind.HAND_OVER,
                Fault.Kind.CHANGE_MEMBERS,
                Fault.Kind.LEAVE_SEAT));
        assertThat(total.goals().missing(goals)).as("never reached").isEmpty();
    }
}
