// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.UnsafeElection;
import io.keyway.lock.peer.lease.FailoverView;
import io.keyway.lock.peer.lease.UnsafeElections;
import io.keyway.lock.peer.lease.UnsafeLeadership;
import io.keyway.lock.simulator.Fault.Kind;
import io.keyway.lock.simulator.Options.Profile;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Lists of members that follow each other in quick succession: four members that are far from each other are divided in
 * one way after the other, and on each side an operator removes somebody of the other one. Now and then one crashes.
 */
class HurriedListsTest {
    private static final int MEMBERS = 4;
    private static final long LATENCY = 400 * Nanos.MILLI;

    private static final Campaign PRODUCT = Campaigns.of(Profile.FAILOVER);
    /** Any member may change the list at any time. */
    private static final Campaign UNSETTLED = Campaigns.failover(
            FailoverMembers.kit(Map.of(FailoverView.leadership(), UnsafeLeadership.UNSETTLED.machine())));
    /** The same, and votes do not say for which lists their voters have voted before. */
    private static final Campaign WITHOUT_J2 = Campaigns.failover(FailoverMembers.kit(Map.of(
            FailoverView.leadership(), UnsafeLeadership.UNSETTLED.machine(),
            FailoverView.election(), UnsafeElections.without(UnsafeElection.Rule.J2))));

    private static Plan plan(long seed) {
        Draws draws = new Draws(seed, 30);
        Options options = Options.parse("""
                options seed=%d profile=FAILOVER budget=RESTARTS members=4 spares=0 clients=1 users=1 names=1 \
                ordered=true latency=%d jitter=%d tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=1000000 diskLatency=10000000 faultPhase=70000000000 faults=0 acts=0 maxTtl=8000000000 \
                drift=10000 outOfSpec=false purityPerMille=0
                """.formatted(seed, LATENCY, draws.one(0, 10, 50) * Nanos.MILLI));
        List<Fault> faults = new ArrayList<>();
        long at = 14 * Nanos.SECOND;
        int side = 0; // a bit for each member of it; nobody is cut off if it is 0
        for (int round = 0; round < 3; round++) {
            remove(side, at, draws, faults);
            side = 1 + draws.below((1 << (MEMBERS - 1)) - 1);
            // While votes are on their way; those of a round before have to be given up first.
            long cut = at + (round == 0 ? 0 : 2 * Nanos.SECOND) + draws.below(2 * Nanos.SECOND);
            at = cut + draws.between(1, 4) * Nanos.SECOND;
            long healed = round == 2 ? 60 * Nanos.SECOND : at + 3 * Nanos.SECOND;
            divide(side, cut, healed, faults);
        }
        if (draws.chance(200)) {
            faults.add(new Fault(Kind.CRASH, draws.below(at), Nanos.SECOND, -draws.below(MEMBERS), 0));
        }
        faults.sort(Comparator.comparingLong(Fault::at));
        return new Plan(options, faults, List.of(), List.of());
    }

    /** On each side all are told to remove one of the other; where nobody is cut off, one member is told. */
    private static void remove(int side, long at, Draws draws, List<Fault> faults) {
        int ofOne = draws.below(MEMBERS);
        int ofOther = (ofOne + 1 + draws.below(MEMBERS - 1)) % MEMBERS;
        while (side != 0 && !isCut(side, ofOne, ofOther)) {
            ofOther = (ofOther + 1) % MEMBERS;
        }
        for (int member = 0; member < MEMBERS; member++) {
            int removed = side == 0 ? ofOther : isCut(side, member, ofOne) ? ofOne : ofOther;
            if (side != 0 || member == ofOne) {
                faults.add(new Fault(Kind.CHANGE_MEMBERS, at, 8 * Nanos.SECOND, -member, -removed, 0));
            }
        }
    }

    private static void divide(int side, long from, long until, List<Fault> faults) {
        for (int one = 0; one < MEMBERS; one++) {
            for (int other = one + 1; other < MEMBERS; other++) {
                if (isCut(side, one, other)) {
                    faults.add(new Fault(Kind.CUT, from, until - from, -one, -other, 0));
                }
            }
        }
    }

    private static boolean isCut(int side, int one, int other) {
        return (side >> one & 1) != (side >> other & 1);
    }

    /** The first of so many seeds whose world breaks a rule; -1 if none does. */
    private static long found(Campaign campaign, long first, long seeds) {
        for (long seed = first; seed < first + seeds; seed++) {
            if (campaign.run(plan(seed)).violation() != null) {
                return seed;
            }
        }
        return -1;
    }

    /** The first that is found from seed 0 on. */
    @Test
    void aWorldInWhichTwoListsCountWhenVotersDoNotSayWhatTheyHaveVotedFor() {
        Plan plan = plan(24_727);
        assertThat(PRODUCT.run(plan).violation()).isNull();
        assertThat(UNSETTLED.run(plan).violation()).isNull();
        assertThat(WITHOUT_J2.run(plan).violation()).isNotNull().hasMessageStartingWith("V3");
    }

    @Test
    @Tag("soak")
    void ofManyWorldsNoneIsWrongUnlessJ2IsLeftOut() {
        assertThat(found(WITHOUT_J2, 0, 30_000)).isNotNegative();
        assertThat(found(UNSETTLED, 0, Long.getLong("keyway.count", 20_000))).isNegative();
    }

    /**
     * Member a is cut off when it has been elected by {a, b, c}, of which nobody else hears; the others elect a leader
     * of {b, c, d}, of which b does not hear; and b, which is with a by then, votes for {a, b}.
     */
    @Test
    void oneVoterOfTwoListsMakesNoThirdOneCount() {
        Plan plan = Plan.parse("""
                options seed=1 profile=FAILOVER budget=RESTARTS members=4 spares=0 clients=1 users=1 names=1 \
                ordered=true latency=300000000 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=1000000 faultPhase=60000000000 faults=0 acts=0 maxTtl=8000000000 \
                drift=0 outOfSpec=false purityPerMille=0
                fault CHANGE_MEMBERS at 24s for 1s node 0 peer -3 amount 0
                fault CUT at 24500ms for 5500ms node 0 peer -1 amount 0
                fault CUT at 24500ms for 20s node 0 peer -2 amount 0
                fault CUT at 24500ms for 20s node 0 peer -3 amount 0
                fault CHANGE_MEMBERS at 26s for 2s node -1 peer 0 amount 0
                fault CHANGE_MEMBERS at 26s for 2s node -2 peer 0 amount 0
                fault CHANGE_MEMBERS at 26s for 2s node -3 peer 0 amount 0
                fault CUT at 28s for 20s node -1 peer -2 amount 0
                fault CUT at 28s for 20s node -1 peer -3 amount 0
                fault CHANGE_MEMBERS at 30s for 6s node 0 peer -2 amount 0
                listed mishaps 0
                """);
        assertThat(PRODUCT.run(plan).violation()).isNull();
        assertThat(UNSETTLED.run(plan).violation()).isNull();
        assertThat(WITHOUT_J2.run(plan).violation()).isNotNull().hasMessageStartingWith("V3");
    }
}
