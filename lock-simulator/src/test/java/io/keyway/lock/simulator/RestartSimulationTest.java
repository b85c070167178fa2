// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.election.UnsafeElection;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lease.FailoverView;
import io.keyway.lock.peer.lease.UnsafeElections;
import io.keyway.lock.peer.queue.UnsafeQueue;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.simulator.MemberDirectory.StartGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Members that start again at the worst of times: in plans that aim at one rule of a start each, of which the world
 * breaks that leaves the rule out, and in worlds that {@link RestartPlanner} draws.
 */
class RestartSimulationTest {
    private static final int SHRINK_RUNS = 60;

    /** Two hold, a token falls, or a holder is denied. */
    private static final Set<String> FOUND_BY = Set.of("R1", "R2", "R3", "R5", "R7", "V3");

    /** What is found first by these plans of who leaves a rule out; the product is clean in all of them. */
    private static RunResult found(List<Plan> plans, Campaign unsafe) {
        RunResult found = null;
        for (Plan plan : plans) {
            Campaign product = Campaigns.of(plan.options().profile());
            assertThat(product.run(plan).violation())
                    .as(() -> product.chart(plan).toString())
                    .isNull();
            found = found == null ? violating(unsafe.run(plan)) : found;
        }
        if (found == null) {
            throw new AssertionError("found by no plan");
        }
        return found;
    }

    private static @Nullable RunResult violating(RunResult result) {
        Violation violation = result.violation();
        return violation != null && FOUND_BY.contains(violation.property()) ? result : null;
    }

    private static LeaseModel.Kit with(LeaseModel.Kit kit, Shortcut shortcut) {
        return new LeaseModel.Kit(kit.members(), kit.clients(), true, Set.of(shortcut), kit.algorithm());
    }

    @ParameterizedTest
    @EnumSource(names = {"BELIEVES_COPIES", "SHORTENS_HORIZONS"})
    void aShortcutOfAStartIsFound(Shortcut shortcut) {
        boolean copies = shortcut == Shortcut.BELIEVES_COPIES;
        Campaign unsafe = copies
                ? Campaigns.failover(with(FailoverMembers.kit(), shortcut))
                : Campaigns.bakery(with(BakeryMembers.kit(), shortcut));
        List<Plan> plans = copies ? StartPlans.directoryPutBack() : StartPlans.secondStartOfALeader();
        Shrunk.isSmall(shortcut, unsafe.shrink(found(plans, unsafe), SHRINK_RUNS));
    }

    @ParameterizedTest
    @EnumSource(names = "UNSEATED_IGNORED")
    void whatACleanEndLeftIsOverWhenAnotherOneHasLed(UnsafeQueue undone) {
        LeaseModel.Kit kit = FailoverMembers.kit();
        Campaign unsafe = Campaigns.failover(new LeaseModel.Kit(
                (settings, owned) -> {
                    MachineFactory machines = kit.members().create(settings, owned);
                    return key -> LockKeys.isNamed(key) && key.algorithm() == kit.algorithm()
                            ? undone.manager(key, settings)
                            : machines.create(key);
                },
                kit.clients(),
                true,
                Set.of(),
                kit.algorithm()));
        RunResult found = found(StartPlans.leaderAgainAfterACleanEnd(), unsafe);
        Shrunk.isSmall(undone, unsafe.shrink(found, SHRINK_RUNS));
    }

    @Test
    void whatIsForgottenStaysForgotten() {
        Campaign unsafe = Campaigns.failover(
                FailoverMembers.kit(Map.of(FailoverView.election(), UnsafeElections.without(UnsafeElection.Rule.V5))));
        assertThat(found(StartPlans.secondStartWithoutRecords(), unsafe).violation())
                .isNotNull();
    }

    /** Otherwise two hold: members compute by the leases of today for how long those are silent that get a seat. */
    @Test
    void longerLeasesOfAFormerLifeAreWaitedFor() {
        Campaign unsafe = Campaigns.bakery(with(BakeryMembers.kit(), Shortcut.FORGETS_LONGER_LEASES));
        assertThat(found(StartPlans.shorterLeases(), unsafe).violation()).isNotNull();
    }

    @Test
    void aSilenceIsKeptOverAStart() {
        Campaign unsafe = Campaigns.bakery(BakeryMembers.kit(UnsafeBakery.FORGETS_SILENCES.machines()));
        assertThat(found(StartPlans.startInTheSilenceOfASeat(), unsafe).violation())
                .isNotNull();
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILOVER", "BAKERY", "LAMPORT"})
    void membersThatStartAgainKeepTheirPromises(Profile profile) {
        play(profile, RestartPlanner.SEEDS, Long.getLong("keyway.worlds", 8));
    }

    @ParameterizedTest
    @EnumSource(names = {"FAILOVER", "BAKERY", "LAMPORT"})
    @Tag("soak")
    void inManyWorlds(Profile profile) {
        Goals goals = play(profile, 2 * RestartPlanner.SEEDS, Long.getLong("keyway.worlds", 100));
        List<CoverageGoal> all = List.of(
                StartGoal.ENDED_IN_ORDER,
                StartGoal.SERVED_ANOTHER_ALGORITHM,
                ClusterGoal.STARTED_WITHOUT_FILE,
                ClusterGoal.STARTED_WITH_AN_OLD_FILE,
                StartGoal.STARTED_WITH_NOTHING_TO_WAIT_FOR,
                WorldGoal.STARTED_BY_HORIZON);
        assertThat(goals.missing(all)).as("never reached").isEmpty();
    }

    private static Goals play(Profile profile, long first, long worlds) {
        Campaign campaign = Campaigns.of(profile);
        Goals goals = new Goals();
        for (long seed = first; seed < first + worlds; seed++) {
            RunResult result = campaign.run(seed);
            if (result.violation() != null) {
                fail(campaign.report(result));
            }
            goals.add(result.goals());
        }
        return goals;
    }
}
