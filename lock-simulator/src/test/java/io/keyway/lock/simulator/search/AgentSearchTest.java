// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.simulator.AgentDefect;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Rule R10 of agents over the member and the clients that ship, in each order of what can happen: scenario 32 of the
 * source. What takes longer is in the profile {@code explore}.
 */
class AgentSearchTest {
    private static final int MOST = 3_000_000;
    /** What stays within 4 GB, and within some minutes. */
    private static final int ROOM = Integer.getInteger("keyway.states", 60_000_000);

    private static AgentScope two() {
        return new AgentScope("agents, 2 on 2 locks at once", 2).atOnce(2).atOnce(2);
    }

    private static AgentScope twoInSteps() {
        return new AgentScope("agents, 2 on 2 locks in steps", 2).inSteps(2).inSteps(2);
    }

    private static AgentScope ring() {
        return new AgentScope("agents, 3 on 2 of 3 locks at once, reduced", 3)
                .atOnce(2)
                .atOnce(2)
                .atOnce(2)
                .reduced();
    }

    private static AgentScope threeInSteps() {
        return new AgentScope("agents, 3 on 3 locks in steps, reduced", 3)
                .inSteps(3)
                .inSteps(3)
                .inSteps(3)
                .reduced();
    }

    // Trees of three levels, a, a/b, and below that c, d and e

    private static LockRequest writes(String name) {
        return LockRequest.exclusive(name);
    }

    private static LockRequest reads(String name) {
        return new LockRequest(LockName.of(name), LockMode.SHARED);
    }

    /** Two write beside each other and read what is above; a third one writes what is above both. */
    private static AgentScope aboveAndBelow(String read, String written) {
        return new AgentScope("agents, 3 in a tree, one writes " + written + ", reduced", "a", "a/b", "a/b/c", "a/b/d")
                .inSteps(writes("a/b/c"), reads("a"))
                .inSteps(writes("a/b/d"), reads(read))
                .inSteps(writes(written))
                .reduced();
    }

    @Test
    void scenario13ThreeInATreeOfThreeLevels() {
        complete(
                new AgentScope("agents, 2 in a tree in steps", "a", "a/b", "a/b/c", "a/b/d")
                        .inSteps(writes("a/b/c"), reads("a"))
                        .inSteps(writes("a/b/d"), reads("a")),
                "ABORTED",
                "CIRCLE_OF_TWO");
        complete(aboveAndBelow("a", "a"), "ABORTED", "CIRCLE_OF_TWO");
        complete(
                new AgentScope("agents, 3 in a tree, one writes it all, reduced", "a", "a/b", "a/b/c")
                        .inSteps(writes("a/b/c"), reads("a"))
                        .inSteps(reads("a/b/c"), reads("a"))
                        .inSteps(writes("a"))
                        .reduced(),
                "ABORTED",
                "CIRCLE_OF_TWO");
    }

    /** A part of it, in which a place in a queue is given up; and who does so may hold nothing, and searches again. */
    @Test
    @Tag("soak")
    void placesInATreeAreGivenUp() {
        clean(aboveAndBelow("a/b", "a/b"), 200_000, "ABORTED", "SURRENDERED", "BEHIND_A_REQUEST");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void threeInATreeAndOneWritesBetween() {
        search(aboveAndBelow("a/b", "a/b"), "ABORTED", "SURRENDERED", "BEHIND_A_REQUEST", "CIRCLE_OF_THREE");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void aRingInATree() {
        search(
                new AgentScope("agents, a ring of 3 in a tree, reduced", "a", "a/b", "a/b/c", "a/b/d", "a/b/e")
                        .inSteps(writes("a/b/c"), writes("a/b/d"))
                        .inSteps(writes("a/b/d"), writes("a/b/e"))
                        .inSteps(writes("a/b/e"), writes("a/b/c"))
                        .reduced(),
                "ABORTED",
                "CIRCLE_OF_THREE");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void twoInATreeAtOnce() {
        search(
                new AgentScope("agents, 2 in a tree at once, reduced", "a", "a/b", "a/b/c", "a/b/d")
                        .atOnce(writes("a/b/c"), reads("a/b/d"))
                        .atOnce(writes("a/b/d"), reads("a/b/c"))
                        .reduced(),
                "SURRENDERED",
                "CIRCLE_OF_TWO");
    }

    @Test
    void scenario32TwoOfTwoLocksInEachOrder() {
        complete(two(), "SURRENDERED", "CIRCLE_OF_TWO", "SEARCH_PUT_OFF");
        complete(twoInSteps(), "ABORTED", "CIRCLE_OF_TWO");
        complete(new AgentScope("agents, 2 on 2 locks, mixed", 2).inSteps(2).atOnce(2), "SURRENDERED", "CIRCLE_OF_TWO");
    }

    @Test
    void scenario32TwoOfTwoLocksAndARestart() {
        complete(twoInSteps().restarts(1), "RESTARTED", "ABORTED");
    }

    @Test
    @Tag("soak")
    void scenario32ThreeOfThreeLocksInSteps() {
        complete(threeInSteps(), "ABORTED", "CIRCLE_OF_TWO", "CIRCLE_OF_THREE");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void twoAtOnceAndARestart() {
        search(two().restarts(1), "RESTARTED", "SURRENDERED");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void twoWhoGiveUpAndSearchAgain() {
        search(two().cancels(1), "GAVE_UP", "SURRENDERED");
        search(twoInSteps().cancels(1).resends(1), "GAVE_UP", "ABORTED");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void aRing() {
        search(ring(), "SURRENDERED", "CIRCLE_OF_TWO", "CIRCLE_OF_THREE");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void threeOfThreeLocksInStepsUnreduced() {
        search(
                new AgentScope("agents, 3 on 3 locks in steps", 3)
                        .inSteps(3)
                        .inSteps(3)
                        .inSteps(3),
                "CIRCLE_OF_TWO");
    }

    @Test
    @Tag("soak")
    @Tag("explore")
    void threeOfThreeLocksAtOnce() {
        search(
                new AgentScope("agents, 3 on 3 locks at once, reduced", 3)
                        .atOnce(3)
                        .atOnce(3)
                        .atOnce(3)
                        .reduced(),
                "SURRENDERED");
    }

    private static void complete(AgentScope scope, String... reached) {
        assertThat(clean(scope, MOST, reached).complete()).as(scope.name).isTrue();
    }

    /** All states, or as many as there is room for. */
    private static void search(AgentScope scope, String... reached) {
        Explorer.Seen seen = clean(scope, ROOM, reached);
        assertThat(seen.complete() || seen.states() >= ROOM).as(scope.name).isTrue();
    }

    @SuppressWarnings("SystemOut") // a search that says nothing of what it saw proves nothing
    private static Explorer.Seen clean(AgentScope scope, int most, String... reached) {
        AgentSpace space = new AgentSpace(scope);
        Explorer.Seen seen = Explorer.search(space, most);
        Set<String> goals = space.goals().stream().map(CoverageGoal::name).collect(Collectors.toSet());
        System.out.println(scope.name + ": " + seen.figures() + "; " + space.cost() + "; reached " + goals);
        if (seen.broken() != null) {
            throw new AssertionError(scope.name + ": " + seen.broken() + way(scope, seen));
        }
        assertThat(goals).as("goals of: %s", scope.name).contains(reached);
        return seen;
    }

    private static String way(AgentScope scope, Explorer.Seen seen) {
        return "\n  " + String.join("\n  ", Explorer.names(new AgentSpace(scope), seen.way()));
    }

    // What was broken on purpose

    /** In which world each is found, and what it breaks. */
    private static AgentScope of(AgentDefect defect) {
        return switch (defect) {
            case SURRENDERED_COUNTS_AS_HELD ->
                new AgentScope("agents, 3 on 2 locks at once, one gives up, reduced", 2)
                        .atOnce(2)
                        .atOnce(1)
                        .atOnce(2)
                        .cancels(1)
                        .reduced();
            case NOBODY_PASSES_ON, ALL_RANK_HIGHEST -> twoInSteps();
            default -> threeInSteps();
        };
    }

    private static String property(AgentDefect defect) {
        return switch (defect) {
            case SURRENDERED_COUNTS_AS_HELD -> "R1";
            case ALL_RANK_HIGHEST -> "R10: minimal";
            case GIVES_UP_WHAT_IS_REPORTED -> "R10: honest";
            default -> "R10: complete";
        };
    }

    @ParameterizedTest
    @EnumSource(
            names = {
                "SURRENDERED_COUNTS_AS_HELD",
                "ONLY_LARGER_HEAR",
                "NOBODY_PASSES_ON",
                "ALL_RANK_HIGHEST",
                "GIVES_UP_WHAT_IS_REPORTED"
            })
    @SuppressWarnings("SystemOut") // the table of what was found
    @Tag("soak")
    void eachDefectIsFound(AgentDefect defect) {
        AgentScope scope = of(defect).with(defect);
        Explorer.Seen seen = Explorer.search(new AgentSpace(scope), MOST);
        System.out.println(defect + ", " + scope.name + ": " + seen.broken() + " after "
                + seen.way().size() + " steps, " + seen.figures());
        assertThat(seen.broken()).as(way(scope, seen)).startsWith(property(defect));
    }
}
