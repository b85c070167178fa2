// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.simulator.Options.Budget;
import io.keyway.lock.simulator.Options.Profile;
import io.keyway.lock.simulator.TinyModel.Flaw;
import io.keyway.lock.simulator.TinyModel.TinyGoal;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The simulator itself: it repeats itself, finds planted flaws, and makes them small. */
class SimWorldTest {
    private static Campaign campaign(Flaw flaw) {
        return new Campaign(Profile.SESSION, world -> new TinyModel(world, flaw), TinyModel::acts);
    }

    /** The tiny model has no answer to a member that forgets. */
    private static Plan plan(Campaign campaign, long seed) {
        Plan plan = campaign.plan(seed);
        Options steady = plan.options().with("budget", Budget.STEADY.toString()).with("outOfSpec", "false");
        return new Plan(steady, FaultPlanner.plan(steady), plan.acts(), null);
    }

    private static RunResult firstFailure(Flaw flaw) {
        Campaign campaign = campaign(flaw);
        for (long seed = 0; seed < 2000; seed++) {
            RunResult result = campaign.run(plan(campaign, seed));
            if (result.violation() != null) {
                return result;
            }
        }
        throw new AssertionError("no seed found " + flaw);
    }

    @Test
    void soundMachinesPassUnderAllFaults() {
        Campaign campaign = campaign(Flaw.NONE);
        Goals goals = new Goals();
        for (long seed = 0; seed < 1000; seed++) {
            RunResult result = campaign.run(plan(campaign, seed));
            assertThat(result.violation()).as("seed %d", seed).isNull();
            goals.add(result.goals());
        }
        assertThat(goals.missing(Goals.all(TinyGoal.values()))).isEmpty();
    }

    @Test
    void theSamePlanIsTheSameRun() {
        Campaign campaign = campaign(Flaw.NONE);
        for (long seed = 0; seed < 100; seed++) {
            RunResult one = campaign.run(plan(campaign, seed));
            RunResult two = campaign.run(plan(campaign, seed));
            assertThat(two.digest()).isEqualTo(one.digest());
            assertThat(two.events()).isEqualTo(one.events());
        }
    }

    @Test
    void otherSeedsAreOtherRuns() {
        Campaign campaign = campaign(Flaw.NONE);
        assertThat(campaign.run(plan(campaign, 1)).digest())
                .isNotEqualTo(campaign.run(plan(campaign, 2)).digest());
    }

    @Test
    void aDoubleIsFoundAndShrunk() {
        RunResult failed = firstFailure(Flaw.TAKES_DOUBLES);
        assertThat(failed.violation().property()).isEqualTo("ORDER");
        RunResult small = campaign(Flaw.TAKES_DOUBLES).shrink(failed);
        assertThat(small.violation().property()).isEqualTo("ORDER");
        assertThat(small.plan().size()).isLessThanOrEqualTo(3);
        assertThat(small.plan().options().clients()).isEqualTo(1);
    }

    @Test
    void aStuckUserIsFoundAfterTheFaults() {
        RunResult failed = firstFailure(Flaw.NEVER_RESENDS);
        assertThat(failed.violation().property()).isEqualTo("R15");
        RunResult small = campaign(Flaw.NEVER_RESENDS).shrink(failed);
        assertThat(small.plan().size()).isLessThanOrEqualTo(3);
    }

    @Test
    void hiddenStateIsFoundByTheCopy() {
        assertThat(firstFailure(Flaw.HIDDEN_STATE).violation().property()).isEqualTo("purity");
    }

    @Test
    void theReportHoldsASeedAChartAndATest() {
        RunResult failed = firstFailure(Flaw.TAKES_DOUBLES);
        String report = campaign(Flaw.TAKES_DOUBLES).report(failed);
        assertThat(report)
                .contains("seed " + failed.plan().options().seed() + " violates ORDER")
                .contains("client1")
                .contains("-Dkeyway.seed=" + failed.plan().options().seed())
                .contains("assertClean(\"\"\"")
                .contains("act count at");
    }

    @Test
    void aPlanThatWasPrintedIsTheSamePlan() {
        Campaign campaign = campaign(Flaw.NONE);
        for (long seed = 0; seed < 200; seed++) {
            Plan plan = campaign.plan(seed)
                    .withMishaps(
                            seed % 2 == 0 ? null : List.of(new Mishap(seed, 1, -(int) (seed % 3), 1, true, false, 5)));
            assertThat(Plan.parse(plan.toString())).isEqualTo(plan);
        }
    }
}
