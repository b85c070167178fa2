// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.bakery.BakeryView;
import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.home.HomeView;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.session.PeerGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The bakery under all faults: the oracles of the lease service but for its order of arrival. What its rules are needed
 * for says {@code BakeryScenariosTest}, with a schedule for each.
 */
class BakerySimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 400_000);

    /** A home takes over nothing and says so itself; the goal is of what its manager refuses. */
    private static final List<String> ELSEWHERE = List.of("CLAIM_REFUSED");

    /** So rare that a short run may miss them: the soak has to reach them. */
    private static final List<String> RARE = List.of("RETIRED", "SUSPECTED_ALONE");

    /** Two hold, or a leader forgets to take back what it has given. */
    private static final Set<String> FOUND_BY = Set.of("R1", "R16");

    @Test
    void threeLeadersKeepTheirPromises() throws InterruptedException {
        List<CoverageGoal> goals = goals();
        goals.removeIf(goal -> RARE.contains(goal.toString()));
        assertThat(run(0, EVENTS).goals().missing(goals)).as("never reached").isEmpty();
    }

    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void forFiftyMillionEvents() throws InterruptedException {
        Campaign.Total total = run(1L << 40, Long.getLong("keyway.events", 50_000_000));
        System.out.println(total);
        assertThat(total.goals().missing(goals())).as("never reached").isEmpty();
    }

    private static List<CoverageGoal> goals() {
        List<CoverageGoal> goals = new ArrayList<>(List.of(PeerGoal.values()));
        goals.addAll(BakeryView.goals());
        goals.addAll(HomeView.goals());
        goals.removeIf(goal -> ELSEWHERE.contains(goal.toString()));
        goals.add(WorldGoal.MEMBER_RESTARTED);
        goals.add(ClusterGoal.STARTED_WITHOUT_FILE);
        goals.addAll(EnumSet.range(Fault.Kind.DELAY, Fault.Kind.WALL_STEP));
        return goals;
    }

    private static Campaign.Total run(long first, long events) throws InterruptedException {
        Campaign campaign = Campaigns.of(Profile.BAKERY);
        Campaign.Total total = campaign.run(first, 1, events, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.events()).isGreaterThanOrEqualTo(events);
        return total;
    }

    @Test
    void aLeaderThatLetsSeveralInIsFound() {
        Campaign campaign = Campaigns.bakery(BakeryMembers.kit(UnsafeBakery.NOT_EXCLUSIVE.machines()));
        for (long seed = 0; seed < 1_000; seed++) {
            Violation violation = campaign.run(seed).violation();
            if (violation != null && FOUND_BY.contains(violation.property())) {
                return;
            }
        }
        throw new AssertionError("it was not found");
    }
}
