// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.NodeRule;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rule R10 of agents over the members and clients that ship, with restarts, crashes, cuts, delays and loss. */
class AgentSimulationTest {
    private static final int MEMBERS = 3;
    private static final int MORE_MEMBERS = 5;
    /** The first world of the soak. */
    private static final long SOAK = 1L << 40;

    /** The first of those over nodes. */
    private static final long NODES = 1L << 30;

    /** The first of those in which each lock has a rule of its own, over three members or five. */
    private static final long MIXED = 3L << 29;

    private static final long LONG_TTL = 16 * Nanos.SECOND;

    /** In at most one of so many circles over nodes somebody gave way who need not have: docs/algorithms/agents.md. */
    private static final long MOST_NEEDLESS = 400;

    /** Of these, of a latency of 80 ms. */
    private static final long LONG_WAY = NODES + 418;

    /** A lease over nodes lasts for so many latencies at the least. */
    private static final int ASKING = 20;

    private static final long SLOW_LINK = 1_073_762_519L;

    /** Of the soak, in which two once surrendered the same lock to each other for as long as a third one held. */
    private static final long IN_TURN = SOAK + 127;

    /** One of some 100 worlds in which all surrender in turn if they rank by the plain number of how often. */
    private static final long PLAIN_WORLD = 87;

    /** What many worlds have done. */
    private static final class Sum {
        private final Goals goals = new Goals();
        private long events;
        private long faults;
        private long confirmed;
        private int surrenders;
        private int needless;
        private int passedOver;
        private int sparesAsked;
        private int places;
        private int aborts;
        private int completed;
        private int losses;
        private int raised;
        private long longest;
        private long stuck;
        private long most;

        void add(Sum other) {
            events += other.events;
            faults += other.faults;
            confirmed += other.confirmed;
            surrenders += other.surrenders;
            needless += other.needless;
            stuck = Math.max(stuck, other.stuck);
            passedOver += other.passedOver;
            sparesAsked += other.sparesAsked;
            places += other.places;
            aborts += other.aborts;
            completed += other.completed;
            losses += other.losses;
            raised += other.raised;
            longest = Math.max(longest, other.longest);
            most = Math.max(most, other.most);
        }

        @Override
        public String toString() {
            return events + " events, " + faults + " faults, " + completed + " transactions completed, " + confirmed
                    + " circles resolved by " + surrenders + " surrenders (" + places + " of places) and " + aborts
                    + " aborts, " + losses
                    + " losses, " + raised + " tokens raised, " + needless + " needless, a deadlock stood for "
                    + stuck / Nanos.MILLI + " ms, "
                    + passedOver + " nodes passed over, " + sparesAsked + " spare parts asked for, a circle stood for "
                    + longest / Nanos.MILLI
                    + " ms and " + most + " surrenders in a row of a hundred transactions at the most";
        }
    }

    /** One member, or several that know nothing of each other. */
    private static Options options(long seed) {
        Draws draws = new Draws(seed, 21);
        boolean several = draws.chance(500) || isOverNodes(seed);
        boolean mixed = seed >= MIXED && seed < SOAK;
        int members = mixed && seed % 8 >= 4 ? MORE_MEMBERS : MEMBERS;
        Options options = Options.of(several ? Profile.COUNTER : Profile.LEASE, seed)
                .with("members", String.valueOf(several ? members : 1))
                .with("spares", "0")
                .with("clients", String.valueOf(draws.between(2, 5)))
                .with("users", String.valueOf(draws.between(1, 3)))
                .with("names", String.valueOf(draws.between(2, 5)))
                .with("outOfSpec", "false");
        boolean slow = ASKING * options.latency() > options.maxTtl() && seed != SLOW_LINK;
        if (mixed || (isOverNodes(seed) && slow)) {
            // The nodes are asked one after the other: leases last for longer than that.
            options = options.with("maxTtl", String.valueOf(LONG_TTL));
        }
        return !isCalm(seed)
                ? options
                : options.with("ordered", "true")
                        .with("lossPerMille", "0")
                        .with("duplicatePerMille", "0")
                        .with("tail", "0");
    }

    /** In which worlds locks are over nodes; in the others each is at one member. */
    private static boolean isOverNodes(long seed) {
        return seed >= NODES && seed < SOAK;
    }

    /** By which rules the locks of a world over nodes are held, in turn. */
    private static List<NodeRule> rules(long seed) {
        if (!isOverNodes(seed)) {
            return List.of();
        } else if (seed < MIXED) {
            return List.of(seed % 8 < 5 ? NodeRule.MAJORITY : NodeRule.ALL);
        }
        return List.of(NodeRule.MAJORITY, NodeRule.ALL, NodeRule.MAJORITY);
    }

    /** One world in four: nothing breaks in it, and nothing is lost. */
    private static boolean isCalm(long seed) {
        return seed % 4 == 0;
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
        List<Fault> faults = isCalm(seed) ? List.of() : FaultPlanner.plan(options);
        return new Plan(options, faults, acts, null);
    }

    private static RunResult run(Plan plan, @Nullable AgentDefect defect, Sum sum) {
        AgentModel[] made = new AgentModel[1];
        boolean calm = plan.faults().isEmpty();
        RunResult result = new SimWorld(
                        plan,
                        world -> {
                            made[0] = new AgentModel(
                                    world, defect, calm, rules(plan.options().seed()));
                            return made[0];
                        },
                        null)
                .run();
        sum.goals.add(result.goals());
        sum.events += result.events();
        sum.faults += result.faults();
        sum.confirmed += made[0].circles.confirmed();
        sum.surrenders += made[0].surrenders;
        sum.passedOver += made[0].passedOver;
        sum.sparesAsked += made[0].sparesAsked;
        sum.needless += made[0].circles.reduction.needless();
        sum.stuck = Math.max(sum.stuck, made[0].circles.reduction.longest());
        sum.places += made[0].places;
        sum.aborts += made[0].aborts;
        sum.completed += made[0].completed;
        sum.losses += made[0].losses;
        sum.raised += made[0].tokens.judged();
        sum.longest = Math.max(sum.longest, made[0].circles.longest());
        sum.most = Math.max(sum.most, made[0].circles.most());
        return result;
    }

    private static Sum run(long first, int seeds) {
        Sum sum = new Sum();
        for (long seed = first; seed < first + seeds; seed++) {
            Plan plan = plan(seed);
            RunResult result = run(plan, null, sum);
            if (result.violation() != null) {
                throw new AssertionError("seed " + seed + ": " + plan, result.violation());
            }
        }
        assertThat(sum.confirmed).as("victims of %s", sum).isEqualTo((long) sum.surrenders + sum.aborts);
        assertThat(MOST_NEEDLESS * sum.needless).as("%s", sum).isLessThanOrEqualTo(sum.confirmed);
        return sum;
    }

    @Test
    void eachCircleEndsByOneVictim() {
        Sum sum = run(0, 40);
        System.out.println(sum);
        assertThat(sum.confirmed).as("%s", sum).isGreaterThan(100);
        assertThat(sum.surrenders).as("%s", sum).isPositive();
        assertThat(sum.aborts).as("%s", sum).isPositive();
        assertThat(sum.losses).as("%s", sum).isPositive();
        List<CoverageGoal> goals = List.of(WorldGoal.MEMBER_RESTARTED);
        assertThat(sum.goals.missing(goals)).as("never reached").isEmpty();
    }

    /** All of three members, or two of them, for each lock: who waits for a majority waits for one node at a time. */
    @Test
    void eachCircleOverNodesEndsByOneVictim() {
        Sum sum = run(NODES, 5);
        System.out.println("over nodes: " + sum);
        assertThat(sum.passedOver).as("%s", sum).isPositive();
        assertThat(sum.confirmed).as("%s", sum).isGreaterThan(20);
        assertThat(sum.surrenders).as("%s", sum).isPositive();
        assertThat(sum.aborts).as("%s", sum).isPositive();
    }

    /** More worlds of the three kinds that are played around this. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void eachCircleOfManyWorldsEndsByOneVictim() {
        System.out.println(run(0, 400));
        System.out.println("over nodes: " + run(NODES, 100));
        System.out.println("by two rules: " + run(MIXED, 50));
    }

    /** Majorities and all, of three members and of five. */
    @Test
    @Tag("soak")
    void eachCircleOverNodesByTwoRulesEndsByOneVictim() {
        Sum sum = run(MIXED, 12);
        System.out.println("by two rules: " + sum);
        assertThat(sum.passedOver).as("%s", sum).isPositive();
        assertThat(sum.confirmed).as("%s", sum).isGreaterThan(100);
        assertThat(sum.surrenders).as("%s", sum).isPositive();
        assertThat(sum.aborts).as("%s", sum).isPositive();
    }

    /** Of majorities and all, whoever has a lock to itself has one token for all its nodes, which rises. */
    @Test
    void theOneTokenOfALockOverNodesRises() {
        Sum sum = run(RaisedTokens.FROM, 14);
        System.out.println("with raised tokens: " + sum);
        assertThat(sum.raised).as("%s", sum).isGreaterThan(100);
        assertThat(sum.goals.missing(List.<CoverageGoal>of(WorldGoal.MEMBER_RESTARTED, LockGoal.EPOCH_RAISED)))
                .as("never reached")
                .isEmpty();
    }

    @ParameterizedTest
    @Tag("soak")
    @EnumSource(names = {"RAISES_NOTHING", "TAKES_IT_AGAIN"})
    void aTokenThatDoesNotRiseIsFound(AgentDefect defect) {
        long first = RaisedTokens.FROM + (defect == AgentDefect.TAKES_IT_AGAIN ? 345 : 0); // one of some 350
        for (long seed = first; seed < first + 100; seed++) {
            RunResult result = run(plan(seed), defect, new Sum());
            if (result.violation() != null) {
                assertThat(result.violation()).hasMessageStartingWith("R5: ");
                return;
            }
        }
        throw new AssertionError(defect + " was not found");
    }

    /** Where a search took longer than the time to the next one its confirmation was dropped: docs/track-record.md. */
    @Test
    void aCircleOverNodesIsResolvedWhereTheWayAroundIsLong() {
        assertThat(run(LONG_WAY, 1).confirmed).isPositive();
    }

    /** All of three members, one after the other, at 132 ms each, under leases that one stamp in 250 ms cannot keep. */
    @Test
    void locksOverNodesAreHadThroughASlowLink() {
        assertThat(run(SLOW_LINK, 1).completed).isPositive();
    }

    @Test
    void twoDoNotSurrenderOneLockInTurnWhileAThirdHolds() {
        Sum sum = run(IN_TURN, 1);
        assertThat(sum.places).as("places in a queue, %s", sum).isPositive();
    }

    /** {@code -Dkeyway.events} and {@code -Dkeyway.seed} choose others. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void overMillionsOfEvents() {
        Sum all = new Sum();
        long began = System.nanoTime();
        long first = Long.getLong("keyway.seed", SOAK);
        for (int worlds = 0; all.events < Long.getLong("keyway.events", 3_000_000); worlds += 1000) {
            all.add(run(first + worlds, 1000));
            System.out.println(
                    worlds + 1000 + " worlds in " + (System.nanoTime() - began) / 1_000_000_000 + " s: " + all);
        }
    }

    /** By what each defect is found, and the first world to look at. */
    private static String property(AgentDefect defect) {
        return switch (defect) {
            case NOBODY_PASSES_ON, ONLY_LARGER_HEAR -> "complete";
            case NO_CONFIRMATION, COUNTS_ON_EACH_NODE -> "sound";
            case ALL_GIVE_WAY, ALL_RANK_HIGHEST -> "minimal";
            case PLAIN_AGES, ONLY_HOLDERS_GIVE_WAY -> "terminating";
            default -> "honest";
        };
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "NOBODY_PASSES_ON",
                "ONLY_LARGER_HEAR",
                "NO_CONFIRMATION",
                "ALL_GIVE_WAY",
                "ALL_RANK_HIGHEST",
                "PLAIN_AGES",
                "ONLY_HOLDERS_GIVE_WAY",
                "COUNTS_ON_EACH_NODE",
                "GIVES_UP_WHAT_IS_REPORTED"
            })
    void eachDefectIsFound(AgentDefect defect) {
        long first = switch (defect) {
            case NO_CONFIRMATION -> 11_993; // one of some 12,000 worlds shows it
            case PLAIN_AGES -> PLAIN_WORLD;
            case COUNTS_ON_EACH_NODE -> NODES + 217; // one of some 200
            case ONLY_HOLDERS_GIVE_WAY -> IN_TURN;
            default -> 0;
        };
        assertThat(run(plan(first), null, new Sum()).violation()).isNull();
        for (long seed = first; seed < first + 100; seed++) {
            RunResult result = run(plan(seed), defect, new Sum());
            if (result.violation() != null) {
                assertThat(result.violation()).hasMessageStartingWith("R10: " + property(defect));
                return;
            }
        }
        throw new AssertionError(defect + " was not found");
    }
}
