// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.keyway.lock.peer.bakery.BakeryView;
import io.keyway.lock.peer.bakery.UnsafeBakery;
import io.keyway.lock.peer.election.Elections;
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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The bakery under all faults: the oracles of the lease service but for its order of arrival. What its rules are needed
 * for says {@code BakeryScenariosTest}, with a schedule for each.
 */
class BakerySimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 400_000);

    /** A home takes over nothing and says so itself; the goal is of what its manager refuses. */
    private static final List<String> ELSEWHERE = List.of("CLAIM_REFUSED");

    /** So rare that a short run may miss them: the soak has to reach them. */
    private static final List<String> RARE = List.of("RERUN", "RETIRED", "SUSPECTED_ALONE", "TAKEN_UP_AGAIN");

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
        goals.addAll(Elections.listGoals());
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

    /** When client 2 has the lock that client 1 was granted at 57 s; nanoseconds. */
    private static long next(String hold, String... faults) {
        Plan plan = Plan.parse("""
                options seed=3 profile=BAKERY budget=STEADY members=3 spares=0 clients=2 users=1 names=1 ordered=true \
                latency=1000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 \
                diskLatency=1000000 faultPhase=64000000000 faults=0 acts=2 maxTtl=8000000000 drift=0 outOfSpec=false \
                purityPerMille=0
                %sact lock at 57s client 1 user 0 name 0 wait 0ns hold %s
                act lock at 58s client 2 user 0 name 0 wait 0ns hold 1ms
                listed mishaps 0
                """.formatted(String.join("", faults), hold));
        Campaign campaign = Campaigns.of(Profile.BAKERY);
        assertThat(campaign.run(plan).violation()).isNull();
        List<String> grants = campaign.chart(plan)
                .toString()
                .lines()
                .filter(line -> line.contains("*     Granted["))
                .toList();
        assertThat(grants).last(as(STRING)).contains("request=2");
        return Math.round(
                Double.parseDouble(grants.get(grants.size() - 1).trim().split(" ", 2)[0]) * 1e6);
    }

    @Test
    void s27_theLockOfAClientThatCrashesIsFreeWithinItsLeaseAndASecond() {
        assertThat(next("20s", "fault CRASH at 60s for 40s node 1 amount 0\n"))
                .isBetween(60_000_000_000L, 69_000_000_000L);
    }

    /** But that a client that is set ahead may have slept: it gives up what it holds. */
    @Test
    void s28_aWallClockThatIsSetByAnHourLetsNobodyIn() {
        long without = next("9s");
        assertThat(without).isBetween(66_000_000_000L, 67_000_000_000L);
        for (String amount : List.of("3600000000000", "-3600000000000")) {
            for (int node = -2; node <= 2; node++) {
                String step = "fault WALL_STEP at 60s for 0ns node " + node + " amount " + amount + "\n";
                boolean holderMayHaveSlept = node == 1 && !amount.startsWith("-");
                assertThat(next("9s", step))
                        .as(step)
                        .isBetween(holderMayHaveSlept ? 60_000_000_000L : without, without);
            }
        }
    }

    /** A member that stands still extends nothing when it runs again, whenever that is: others may let somebody in. */
    @ParameterizedTest
    @ValueSource(strings = {"node 0", "node 0 peer -1", "node 0 peer -2"})
    void aHomeThatStandsStillWhileItIsCutOffKeepsNothing(String links) {
        standsStillWhileItIsCutOff(links, 900);
    }

    @ParameterizedTest
    @Tag("soak")
    @ValueSource(strings = {"node 0", "node 0 peer -1", "node 0 peer -2"})
    void aHomeThatStandsStillAtAnyTimeWhileItIsCutOffKeepsNothing(String links) {
        standsStillWhileItIsCutOff(links, 50);
    }

    /** It stops every so many milliseconds, in a world each. */
    private static void standsStillWhileItIsCutOff(String links, int step) {
        List<CoverageGoal> lapsed = new ArrayList<>(BakeryView.goals());
        lapsed.removeIf(goal -> !goal.toString().equals("LAPSED"));
        int passedOn = 0;
        for (int stops = 5100; stops < 8000; stops += step) {
            for (int stands = 500; stands < 5000; stands += 250) {
                Plan plan = Plan.parse("""
                        options seed=4472 profile=BAKERY budget=STEADY members=4 spares=0 clients=6 users=1 names=1 \
                        ordered=true latency=1000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                        lateness=0 diskLatency=100000 faultPhase=16000000000 faults=0 acts=2 maxTtl=2000000000 drift=0 \
                        outOfSpec=false purityPerMille=0
                        fault CUT at 5050ms for 6s %s amount 0
                        fault PAUSE at %dms for %dms node 0 amount 0
                        act lock at 4000ms client 4 user 0 name 0 wait 0ns hold 5s
                        act lock at 4100ms client 1 user 0 name 0 wait 0ns hold 1ms
                        listed mishaps 0
                        """.formatted(links, stops, stands));
                RunResult result = Campaigns.of(Profile.BAKERY).run(plan);
                assertThat(result.violation()).as(plan.toString()).isNull();
                passedOn += lapsed.stream().mapToLong(result.goals()::count).sum() > 0 ? 1 : 0;
            }
        }
        assertThat(passedOn)
                .as("worlds in which another one was let in meanwhile")
                .isGreaterThan(20);
    }

    /** What the operator says to a member that is stopped is not heard before it knows how long it was stopped. */
    @Test
    void aMemberThatStandsStillHearsNoOperator() {
        Plan plan = Plan.parse("""
                options seed=5007876 profile=BAKERY budget=STEADY members=5 spares=1 clients=4 users=2 \
                names=6 ordered=true latency=18231 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 \
                batchWindow=0 lateness=0 diskLatency=15815948 faultPhase=8000000000 faults=19 acts=80 \
                maxTtl=1000000000 drift=0 outOfSpec=false purityPerMille=0
                fault CRASH at 1834ms for 16ms node 1 amount 0
                fault CUT_TO_CLIENT at 2252ms for 6s node -3 amount 0
                fault PAUSE at 2532ms for 1500ms node -1 amount 0
                act lock at 6245137110ns client 3 user 0 name 2 wait 0ns hold 158540698ns
                listed mishaps 3
                mishap at 1988132186ns client -3 member -2 direction 0 lost false doubled false late 200ms
                mishap at 2154853546ns client -3 member -2 direction 1 lost false doubled false late 200ms
                mishap at 2503948136ns client -1 member -3 direction 0 lost false doubled false late 200ms
                """);
        assertThat(Campaigns.of(Profile.BAKERY).run(plan).violation()).isNull();
    }

    @ParameterizedTest
    @CsvSource({"NOT_EXCLUSIVE, 0", "FORGETS_REMOVED, 1"})
    void aLeaderThatLetsSeveralInIsFound(UnsafeBakery variant, int leastSpares) {
        Campaign campaign = Campaigns.bakery(BakeryMembers.kit(variant.machines()));
        for (long seed = 0; seed < 1_000; seed++) {
            Plan plan = campaign.plan(seed);
            if (plan.options().spares() < leastSpares) {
                continue;
            }
            Violation violation = campaign.run(plan).violation();
            if (violation != null && FOUND_BY.contains(violation.property())) {
                return;
            }
        }
        throw new AssertionError("it was not found");
    }
}
