// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.peer.home.HomeView;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.lamport.LamportView;
import io.keyway.lock.peer.lamport.UnsafeLamport;
import io.keyway.lock.peer.session.PeerGoal;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Lamport's queue under all faults: the oracles of the lease service but for its order of arrival, and that of the
 * clock condition. Each repair that is undone is found.
 */
class LamportSimulationTest {
    private static final long EVENTS = Long.getLong("keyway.events", 150_000);

    private static final int SHRINK_RUNS = 300;

    /** A claim that comes when the quarantine is over needs a clock that is broken. */
    private static final List<String> ELSEWHERE = List.of("CLAIM_REFUSED");
    /** So few events do not have them. */
    private static final List<String> RARE = List.of("CLAIM_ADOPTED");

    @Test
    void threeMembersKeepTheirPromises() throws InterruptedException {
        List<CoverageGoal> goals = goals();
        goals.removeIf(goal -> RARE.contains(goal.toString()));
        assertThat(run(0, EVENTS).goals().missing(goals)).as("never reached").isEmpty();
    }

    /** The end of a session once took back the request of another one, which waited forever. */
    @Test
    void theEndOfASessionTakesBackItsOwnRequestsAlone() {
        assertThat(Campaigns.of(Profile.LAMPORT).run(1_099_511_628_149L).violation())
                .isNull();
    }

    /** The oracles once looked for the client at the end of a link that leads to another member. */
    @Test
    void aSessionMayEndInATurnThatAnotherMemberBegan() {
        assertThat(Campaigns.of(Profile.LAMPORT).run(1_099_511_631_971L).violation())
                .isNull();
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
        goals.addAll(LamportView.goals());
        goals.addAll(HomeView.goals());
        goals.removeIf(goal -> ELSEWHERE.contains(goal.toString()));
        goals.add(WorldGoal.MEMBER_RESTARTED);
        goals.add(ClusterGoal.STARTED_WITHOUT_FILE);
        goals.addAll(EnumSet.range(Fault.Kind.DELAY, Fault.Kind.WALL_STEP));
        return goals;
    }

    private static Campaign.Total run(long first, long events) throws InterruptedException {
        Campaign campaign = Campaigns.of(Profile.LAMPORT);
        Campaign.Total total = campaign.run(first, 1, events, 2);
        if (total.failed() != null) {
            fail(campaign.report(total.failed()));
        }
        assertThat(total.events()).isGreaterThanOrEqualTo(events);
        return total;
    }

    @ParameterizedTest
    @Tag("soak")
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "NONE")
    void anUnsafeVariantIsFound(UnsafeLamport variant) {
        Campaign campaign = Campaigns.lamport(LamportMembers.kit(variant.machines()));
        for (long seed = first(variant); seed < 1_000; seed++) {
            RunResult result = campaign.run(seed);
            Violation violation = result.violation();
            if (violation != null && foundBy(variant).contains(violation.property())) {
                Shrunk.isSmall(variant, campaign.shrink(result, SHRINK_RUNS));
                return;
            }
        }
        throw new AssertionError(variant + " was not found");
    }

    /** Where the search begins: what the first seeds find of these does not shrink to what anybody reads. */
    private static long first(UnsafeLamport variant) {
        return switch (variant) {
            case UNORDERED -> 389;
            case SPEAKS_EARLY -> 40;
            case SUSPICION -> 60;
            case MAJORITY -> 19;
            default -> 0;
        };
    }

    private static Set<String> foundBy(UnsafeLamport variant) {
        return switch (variant) {
            case NONE -> Set.of();
            case NO_TIE_BREAK, UNORDERED, RELEASES_ALL, SPEAKS_EARLY, MAJORITY -> Set.of("R1");
            case SUSPICION, AMNESIA -> Set.of("R1", "R5");
            case CLOCK_NOT_MERGED -> Set.of("R11");
            case SAYS_ONCE -> Set.of("R1", "R5", "R15");
        };
    }
}
