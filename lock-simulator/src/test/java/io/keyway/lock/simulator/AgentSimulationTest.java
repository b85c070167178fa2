// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.simulator.Options.Profile;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule R10 of agents over the members and clients that ship, with restarts, crashes, cuts, delays and loss. */
class AgentSimulationTest {
    private static final int MEMBERS = 3;

    /** What many worlds have done. */
    private static final class Sum {
        private final Goals goals = new Goals();
        private long events;
        private long faults;
        private long confirmed;
        private int surrenders;
        private int aborts;
        private int completed;
        private int losses;

        @Override
        public String toString() {
            return events + " events, " + faults + " faults, " + completed + " transactions completed, " + confirmed
                    + " circles resolved by " + surrenders + " surrenders and " + aborts + " aborts, " + losses
                    + " losses";
        }
    }

    /** One member, or three that know nothing of each other. */
    private static Options options(long seed) {
        Draws draws = new Draws(seed, 21);
        boolean three = draws.chance(500);
        return Options.of(three ? Profile.COUNTER : Profile.LEASE, seed)
                .with("members", String.valueOf(three ? MEMBERS : 1))
                .with("spares", "0")
                .with("clients", String.valueOf(draws.between(2, 5)))
                .with("users", String.valueOf(draws.between(1, 3)))
                .with("names", String.valueOf(draws.between(2, 5)))
                .with("outOfSpec", "false");
    }

    private static Plan plan(long seed) {
        Options options = options(seed);
        Draws draws = new Draws(seed, 22);
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            acts.add(new Act(
                    draws.below(options.faultPhase()),
                    (int) draws.between(1, options.clients()),
                    draws.below(options.users()),
                    "transact",
                    0,
                    draws.chance(200) ? draws.logarithmic(Nanos.MILLI, options.maxTtl()) : 0,
                    draws.logarithmic(Nanos.MICRO, options.maxTtl() / 8)));
        }
        return new Plan(options, FaultPlanner.plan(options), acts, null);
    }

    private static RunResult run(Plan plan, BiFunction<AgentUser, Probe, @Nullable Probe> defect, Sum sum) {
        AgentModel[] made = new AgentModel[1];
        RunResult result = new SimWorld(plan, world -> made[0] = new AgentModel(world, defect), null).run();
        sum.goals.add(result.goals());
        sum.events += result.events();
        sum.faults += result.faults();
        sum.confirmed += made[0].circles.confirmed();
        sum.surrenders += made[0].surrenders;
        sum.aborts += made[0].aborts;
        sum.completed += made[0].completed;
        sum.losses += made[0].losses;
        return result;
    }

    private static Sum run(long first, int seeds) {
        Sum sum = new Sum();
        for (long seed = first; seed < first + seeds; seed++) {
            Plan plan = plan(seed);
            RunResult result = run(plan, (user, probe) -> probe, sum);
            if (result.violation() != null) {
                throw new AssertionError("seed " + seed + ": " + plan, result.violation());
            }
        }
        assertThat(sum.confirmed).as("victims of %s", sum).isEqualTo((long) sum.surrenders + sum.aborts);
        return sum;
    }

    @Test
    void eachCircleEndsByOneVictim() {
        Sum sum = run(0, 60);
        assertThat(sum.confirmed).as("%s", sum).isGreaterThan(100);
        assertThat(sum.surrenders).as("%s", sum).isPositive();
        assertThat(sum.aborts).as("%s", sum).isPositive();
        assertThat(sum.losses).as("%s", sum).isPositive();
        List<CoverageGoal> goals = List.of(WorldGoal.MEMBER_RESTARTED);
        assertThat(sum.goals.missing(goals)).as("never reached").isEmpty();
    }

    @Test
    @Tag("soak")
    void overTenMillionEvents() {
        long events = 0;
        for (long first = 1L << 40; events < 10_000_000; first += 1000) {
            Sum sum = run(first, 1000);
            events += sum.events;
            System.out.println(sum);
        }
    }

    enum Defect {
        /** Agents keep what they hear to themselves. */
        NOBODY_PASSES_ON("R15", 0),
        /** The victim acts on what a search brought back; one of some 1,200 worlds shows it. */
        NO_CONFIRMATION("R10", 1200);

        final String property;
        /** The first world to look at. */
        final long first;

        Defect(String property, long first) {
            this.property = property;
            this.first = first;
        }

        @Nullable
        Probe of(AgentUser user, Probe probe) {
            boolean own = probe.initiator().equals(user.self);
            return switch (this) {
                case NOBODY_PASSES_ON -> own ? probe : null;
                case NO_CONFIRMATION -> {
                    if (own && probe.kind() == Probe.Kind.CONFIRM) {
                        Probe.Edge last = probe.path().get(probe.path().size() - 1);
                        Probe back = probe.on(Probe.Kind.CONFIRM, probe.path().size() - 1);
                        user.probed(last.lock(), last.token(), last.ahead(), back);
                        yield null;
                    }
                    yield probe;
                }
            };
        }
    }

    @ParameterizedTest
    @EnumSource
    void eachDefectIsFound(Defect defect) {
        for (long seed = defect.first; seed < defect.first + 2000; seed++) {
            RunResult result = run(plan(seed), defect::of, new Sum());
            if (result.violation() != null && result.violation().property().equals(defect.property)) {
                return;
            }
        }
        throw new AssertionError(defect + " was not found");
    }
}
