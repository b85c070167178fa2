// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.session.SessionGoal;
import io.keyway.lock.simulator.LeaseUsers.UserGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The lease service under all kinds of faults: every oracle is content after every event, every kind of fault struck
 * something, and every rare situation came up.
 */
class LeaseSimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 3_000_000);

    /**
     * What no world reaches: two claims of one lock need broken clocks, a claim after the quarantine a clock that is
     * worse still, a used-up range 65,536 uses of one grant. The tests of the lease and of the session packages reach
     * them; a member hands over, modes change and a client has several grants of a name in the worlds of shared locks
     * and permits, and epochs are raised in those of locks over nodes ({@link AgentSimulationTest}).
     */
    private static final Set<? extends CoverageGoal> ELSEWHERE = Set.of(
            LockGoal.REASSERTIONS_IN_CONFLICT,
            LockGoal.RANGE_USED_UP,
            LockGoal.EPOCH_RAISED,
            LockGoal.CONVERTED,
            LockGoal.SPARE_REQUEST,
            LockGoal.SPARE_WITHDRAWN,
            Fault.Kind.HAND_OVER,
            Fault.Kind.CHANGE_MEMBERS,
            Fault.Kind.LEAVE_SEAT);

    /** What one member on the machine of its clients cannot meet. */
    private static final Set<? extends CoverageGoal> OF_CLUSTERS = Set.of(
            LockGoal.REASSERTION_REFUSED,
            LockGoal.WRONG_MEMBER,
            SessionGoal.EPOCH_ADOPTED,
            Fault.Kind.WALL_STEP,
            Fault.Kind.NEW_LIST);

    @Test
    void threeMembersKeepTheirPromises() throws InterruptedException {
        run(Profile.CLUSTER, 0, 500_000);
    }

    @Test
    @Tag("soak")
    void ofThreeMembersAllIsReached() throws InterruptedException {
        List<CoverageGoal> goals = goals();
        goals.addAll(List.of(ClusterGoal.values()));
        assertThat(run(Profile.CLUSTER, 0, EVENTS).goals().missing(goals))
                .as("never reached")
                .isEmpty();
    }

    @Test
    @Tag("soak")
    void oneMemberKeepsItsPromises() throws InterruptedException {
        List<CoverageGoal> goals = goals();
        goals.removeAll(OF_CLUSTERS);
        assertThat(run(Profile.LEASE, 0, 20_000_000).goals().missing(goals))
                .as("never reached")
                .isEmpty();
    }

    private static List<CoverageGoal> goals() {
        List<CoverageGoal> goals = new ArrayList<>(Goals.all(
                SessionGoal.values(), LockGoal.values(), UserGoal.values(), WorldGoal.values(), Fault.Kind.values()));
        goals.removeAll(ELSEWHERE);
        return goals;
    }

    @ParameterizedTest
    @EnumSource
    void theSameSeedIsTheSameRun(Profile profile) {
        Campaign campaign = TestCampaigns.of(profile);
        for (long seed = 0; seed < 4; seed++) {
            RunResult one = campaign.run(seed);
            RunResult two = campaign.run(seed);
            assertThat(two.digest()).as("seed %d", seed).isEqualTo(one.digest());
            assertThat(two.goals().toString()).isEqualTo(one.goals().toString());
        }
    }

    @Test
    @Tag("soak")
    void forAHundredMillionEvents() throws InterruptedException {
        run(Profile.CLUSTER, 1L << 40, Long.getLong("keyway.events", 100_000_000));
    }

    private static Campaign.Total run(Profile profile, long first, long events) throws InterruptedException {
        Campaign campaign = TestCampaigns.of(profile);
        Campaign.Total total = campaign.run(first, 1, events, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.events()).as(total.toString()).isGreaterThanOrEqualTo(events);
        return total;
    }
}
