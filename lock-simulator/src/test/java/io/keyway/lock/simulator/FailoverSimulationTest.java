// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.lease.FailoverView;
import io.keyway.lock.peer.lease.UnsafeLeadership;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.session.LeaderGoal;
import io.keyway.lock.peer.session.PeerGoal;
import io.keyway.lock.peer.session.SessionGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The lease service under a leader that is lost, cut off or slow: all oracles but that of the order of arrival. */
class FailoverSimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 400_000);

    /** So rare that a short run may miss them: the soak has to reach them. */
    private static final Set<CoverageGoal> RARE = Set.of(LeaderGoal.SILENT_AGAIN);

    /** Two hold, or a token goes back. */
    private static final Map<UnsafeLeadership, String> FOUND_BY = Map.of(
            UnsafeLeadership.NOT_SILENT, "R1",
            UnsafeLeadership.NOT_CLOSED, "V3",
            UnsafeLeadership.WITHOUT_LEASE, "R1",
            UnsafeLeadership.OWN_EPOCH, "R5");

    @Test
    void whoeverLeadsKeepsThePromisesOfTheFormerLeader() throws InterruptedException {
        List<CoverageGoal> goals = goals();
        goals.removeAll(RARE);
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
        goals.addAll(List.of(LeaderGoal.values()));
        goals.add(WorldGoal.MEMBER_RESTARTED);
        goals.add(ClusterGoal.STARTED_WITHOUT_FILE);
        goals.addAll(EnumSet.range(Fault.Kind.DELAY, Fault.Kind.WALL_STEP));
        return goals;
    }

    private static Campaign.Total run(long first, long events) throws InterruptedException {
        Campaign campaign = Campaigns.of(Profile.FAILOVER);
        Campaign.Total total = campaign.run(first, 1, events, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.events()).isGreaterThanOrEqualTo(events);
        return total;
    }

    /** What is reached when client 1 holds a lock from 10 s to 110 s, and that member is gone from 20 s on. */
    private static Goals without(int member) {
        Plan plan = Plan.parse("""
                options seed=3 profile=FAILOVER budget=STEADY members=3 spares=0 clients=1 users=1 names=1 \
                ordered=true latency=1000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=1000000 faultPhase=200000000000 faults=0 acts=2 maxTtl=60000000000 \
                drift=0 outOfSpec=false purityPerMille=0
                fault CRASH at 20s for 150s node %d amount 0
                act lock at 10s client 1 user 0 name 0 wait 0ns hold 100s
                listed mishaps 0
                """.formatted(-member));
        RunResult result = Campaigns.of(Profile.FAILOVER).run(plan);
        assertThat(result.violation()).isNull();
        return result.goals();
    }

    @Test
    void whoHoldsALockKeepsItWhenItsLeaderIsLost() {
        long carriedOver = 0;
        for (int member = 0; member < 3; member++) {
            Goals goals = without(member);
            assertThat(goals.count(SessionGoal.LAPSED)).isZero();
            carriedOver += goals.count(LockGoal.REASSERTED);
        }
        assertThat(carriedOver).as("one of them leads").isEqualTo(1);
    }

    @ParameterizedTest
    @EnumSource
    void aLeaderThatLeavesARuleOutIsFound(UnsafeLeadership variant) {
        Campaign campaign = Campaigns.failover(FailoverMembers.kit(FailoverView.leadership(), variant.machine()));
        long first = variant == UnsafeLeadership.NOT_SILENT ? 600 : 0;
        for (long seed = first; seed < first + 2_000; seed++) {
            Violation violation = campaign.run(seed).violation();
            if (violation != null && violation.property().equals(FOUND_BY.get(variant))) {
                return;
            }
        }
        throw new AssertionError(variant + " was not found");
    }
}
