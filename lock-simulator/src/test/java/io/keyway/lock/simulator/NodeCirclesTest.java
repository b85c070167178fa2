// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.NodeRule;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Small worlds over nodes in which nothing breaks: each of two to five transactions takes a lock and then the next one,
 * in a ring. {@link ReductionOracle} judges each surrender: whoever could go on by another node does that.
 */
class NodeCirclesTest {
    private static final long TTL = 16 * Nanos.SECOND;

    /** Each asks for its locks in that way: first those who do it in steps, then the others, the last one first. */
    private static AgentModel run(int nodes, List<NodeRule> rules, List<String> verbs, @Nullable AgentDefect defect) {
        Options options = Options.of(Profile.COUNTER, 7)
                .with("members", String.valueOf(nodes))
                .with("spares", "0")
                .with("clients", String.valueOf(verbs.size()))
                .with("users", "1")
                .with("names", String.valueOf(verbs.size()))
                .with("outOfSpec", "false")
                .with("ordered", "true")
                .with("lossPerMille", "0")
                .with("duplicatePerMille", "0")
                .with("latency", String.valueOf(Nanos.MILLI))
                .with("jitter", "0")
                .with("tail", "0")
                .with("lateness", "0")
                .with("batchWindow", "0")
                .with("drift", "0")
                .with("maxTtl", String.valueOf(TTL));
        List<Act> acts = new ArrayList<>();
        for (int i = 0; i < verbs.size(); i++) {
            int place = verbs.get(i).equals(AgentUser.STEPS) ? 0 : verbs.size() - i;
            long at = TTL / 4 + place * Nanos.MILLI / 50;
            acts.add(new Act(at, i + 1, 0, verbs.get(i), i, 0, Nanos.MILLI));
        }
        AgentModel[] made = new AgentModel[1];
        RunResult result = new SimWorld(
                        new Plan(options, List.of(), acts, null),
                        world -> {
                            made[0] = new AgentModel(world, defect, true, rules);
                            return made[0];
                        },
                        null)
                .run();
        if (result.violation() != null) {
            throw result.violation();
        }
        assertThat(made[0].losses).isZero();
        return made[0];
    }

    /** The second one has its first lock and asks for the first one's, which waits for what it has. */
    private static final List<String> SURRENDERED = List.of(AgentUser.AT_ONCE, AgentUser.STEPS);

    static Stream<Arguments> rings() {
        List<Arguments> rings = new ArrayList<>();
        for (int nodes : new int[] {3, 5}) {
            for (int transactions = 2; transactions <= 5; transactions++) {
                for (List<NodeRule> rules : List.of(
                        List.of(NodeRule.MAJORITY), List.of(NodeRule.ALL), List.of(NodeRule.MAJORITY, NodeRule.ALL))) {
                    for (int atOnce = 0; atOnce <= transactions; atOnce++) {
                        rings.add(Arguments.of(nodes, transactions, rules, atOnce));
                    }
                }
            }
        }
        return rings.stream();
    }

    /** The first of them ask for both at once, and may surrender; the others step by step, and may be aborted. */
    @ParameterizedTest
    @Tag("soak")
    @MethodSource("rings")
    void aRingEnds(int nodes, int transactions, List<NodeRule> rules, int atOnce) {
        List<String> verbs = new ArrayList<>();
        for (int i = 0; i < transactions; i++) {
            verbs.add(i < atOnce ? AgentUser.AT_ONCE : AgentUser.STEPS);
        }
        AgentModel model = run(nodes, rules, verbs, null);
        assertThat(model.completed).isEqualTo(transactions);
        assertThat(model.circles.reduction.needless()).isZero();
        if (atOnce < transactions) {
            assertThat(model.surrenders + model.aborts).isPositive();
        }
    }

    /** One surrenders a node; the other one goes on by that and by those that are free, and needs no more of its. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void whoGotOneNodeGoesOnByTheFreeOnes(int nodes) {
        AgentModel model = run(nodes, List.of(NodeRule.MAJORITY), SURRENDERED, null);
        assertThat(model.surrenders).isEqualTo(1);
        assertThat(model.aborts).isZero();
        assertThat(model.passedOver).isPositive();
    }

    /** What the oracle is for: the same, by one who asks no other node. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void whoGivesWayAlthoughANodeIsFreeIsFound(int nodes) {
        AgentModel model = run(nodes, List.of(NodeRule.MAJORITY), SURRENDERED, AgentDefect.WAITS_IN_A_CIRCLE);
        assertThat(model.circles.reduction.needless()).isPositive();
    }

    /** Two have a majority each and want the other's: no node is left, and one is aborted. */
    @ParameterizedTest
    @ValueSource(ints = {3, 5})
    void wholeMajoritiesAreADeadlock(int nodes) {
        AgentModel model = run(nodes, List.of(NodeRule.MAJORITY), List.of(AgentUser.STEPS, AgentUser.STEPS), null);
        assertThat(model.aborts).isEqualTo(1);
        assertThat(model.surrenders).isZero();
    }
}
