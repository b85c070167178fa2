// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lease.FailoverView;
import io.keyway.lock.peer.lease.UnsafeElections;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.simulator.Options.Budget;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Members that start again at the worst of times: in plans that aim at one rule of a start each, of which the world
 * breaks that leaves the rule out, and in worlds that {@link RestartPlanner} draws.
 */
class RestartSimulationTest {
    /** What a start does not rely on: what it leaves out is found. */
    private enum Unsafe {
        FORGETS_THAT_IT_HAS_FORGOTTEN(
                Campaigns.failover(FailoverMembers.kit(FailoverView.election(), UnsafeElections.withoutV5()))) {
            @Override
            List<Plan> plans() {
                return StartPlans.secondStartWithoutRecords();
            }
        },
        BELIEVES_COPIES(Campaigns.failover(with(FailoverMembers.kit(), Shortcut.BELIEVES_COPIES))) {
            @Override
            List<Plan> plans() {
                return StartPlans.directoryPutBack();
            }
        },
        KEEPS_WHAT_A_CLEAN_END_LEFT(Campaigns.failover(keeping())) {
            @Override
            List<Plan> plans() {
                return StartPlans.leaderAgainAfterACleanEnd();
            }
        },
        SHORTENS_HORIZONS(Campaigns.bakery(with(BakeryMembers.kit(), Shortcut.SHORTENS_HORIZONS))) {
            @Override
            List<Plan> plans() {
                return StartPlans.secondStartOfALeader();
            }
        },
        FORGETS_SILENCES(Campaigns.bakery(BakeryMembers.kit(UnsafeBakery.FORGETS_SILENCES.machines()))) {
            @Override
            List<Plan> plans() {
                return StartPlans.startInTheSilenceOfASeat();
            }
        };

        private final Campaign campaign;

        Unsafe(Campaign campaign) {
            this.campaign = campaign;
        }

        /** Where it is needed. */
        abstract List<Plan> plans();

        private static LeaseModel.Kit keeping() {
            LeaseModel.Kit product = FailoverMembers.kit();
            return new LeaseModel.Kit(
                    (settings, owned) -> {
                        MachineFactory machines = product.members().create(settings, owned);
                        return key -> LockKeys.isNamed(key) && key.algorithm() == product.algorithm()
                                ? UnsafeQueue.UNSEATED_IGNORED.manager(key, settings)
                                : machines.create(key);
                    },
                    product.clients(),
                    true,
                    Set.of(),
                    product.algorithm());
        }

        private static LeaseModel.Kit with(LeaseModel.Kit kit, Shortcut shortcut) {
            return new LeaseModel.Kit(kit.members(), kit.clients(), true, Set.of(shortcut), kit.algorithm());
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatAStartReliesOnIsNeeded(Unsafe unsafe) {
        Set<String> found = Set.of("R1", "R2", "R3", "R5", "R7", "V3");
        List<String> violated = new ArrayList<>();
        for (Plan plan : unsafe.plans()) {
            Campaign product = Campaigns.of(plan.options().profile());
            assertThat(product.run(plan).violation())
                    .as(() -> product.chart(plan).toString())
                    .isNull();
            Violation violation = unsafe.campaign.run(plan).violation();
            if (violation != null) {
                violated.add(violation.property());
            }
        }
        assertThat(violated)
                .as("two hold, a token falls, or a holder is denied")
                .isNotEmpty()
                .isSubsetOf(found);
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILOVER", "BAKERY", "LAMPORT"})
    void membersThatStartAgainKeepTheirPromises(Profile profile) {
        play(profile, 0, Long.getLong("keyway.worlds", 8));
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILOVER", "BAKERY", "LAMPORT"})
    @Tag("soak")
    void inTenThousandWorlds(Profile profile) {
        Goals goals = play(profile, 1L << 40, Long.getLong("keyway.worlds", 10_000));
        List<CoverageGoal> all = List.of(
                ClusterGoal.ENDED_IN_ORDER,
                ClusterGoal.SERVED_ANOTHER_ALGORITHM,
                ClusterGoal.STARTED_WITHOUT_FILE,
                ClusterGoal.STARTED_WITH_AN_OLD_FILE,
                ClusterGoal.STARTED_WITH_NOTHING_TO_WAIT_FOR,
                WorldGoal.STARTED_BY_HORIZON);
        assertThat(goals.missing(all)).as("never reached").isEmpty();
    }

    private static Goals play(Profile profile, long first, long worlds) {
        Campaign campaign = Campaigns.of(profile);
        Goals goals = new Goals();
        long played = 0;
        for (long seed = first; played < worlds; seed++) {
            Plan plan = campaign.plan(seed);
            if (plan.options().budget() != Budget.AIMED) {
                continue;
            }
            RunResult result = campaign.run(plan);
            if (result.violation() != null) {
                fail(campaign.report(result));
            }
            goals.add(result.goals());
            played++;
        }
        return goals;
    }
}
