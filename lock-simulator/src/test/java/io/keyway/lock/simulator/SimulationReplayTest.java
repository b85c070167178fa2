// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import io.keyway.lock.simulator.Options.Profile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Repeats one seed: {@code -Dkeyway.profile=SESSION -Dkeyway.seed=17}. Plans that once failed stand here as tests. */
class SimulationReplayTest {
    @Test
    void theSeedOfTheCommandLine() {
        Campaign campaign = TestCampaigns.of(Profile.valueOf(System.getProperty("keyway.profile", "SESSION")));
        RunResult result = campaign.run(Long.getLong("keyway.seed", 1));
        if (result.violation() != null) {
            fail(campaign.report(result));
        }
        assertThat(result.events()).isPositive();
    }

    @ParameterizedTest
    @EnumSource
    void aPlanThatWasPrintedIsTheSamePlan(Profile profile) {
        for (long seed = 0; seed < 200; seed++) {
            Plan plan = TestCampaigns.of(profile).plan(seed);
            assertThat(Plan.parse(plan.toString())).isEqualTo(plan);
        }
    }

    private static void assertClean(String text) {
        Plan plan = Plan.parse(text);
        Campaign campaign = TestCampaigns.of(plan.options().profile());
        RunResult result = campaign.run(plan);
        assertThat(result.violation()).as(() -> campaign.chart(plan).toString()).isNull();
    }

    /**
     * R3: the helper sent RELEASE at the lapse, and the next client believed before the user of this one could stop.
     */
    @Test
    void aLapsedLeaseLeavesItsUserTimeToStop() {
        assertClean("""
                options seed=131 profile=LEASE budget=STEADY clients=3 users=3 names=3 ordered=true latency=12183 \
                jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 diskLatency=850530 \
                faultPhase=8000000000 faults=2 acts=159 maxTtl=1000000000 drift=0 outOfSpec=false purityPerMille=0
                act lock at 260944611ns client 1 user 0 name 2 wait 0ns hold 1122152043ns
                act lock at 857088630ns client 3 user 0 name 0 wait 0ns hold 22658ns
                act try at 1429460356ns client 3 user 0 name 2 wait 1136365ns hold 12593138ns
                act lock at 397976124ns client 1 user 1 name 0 wait 264219290ns hold 54679ns
                listed mishaps 2
                mishap at 179120052ns client 1 direction 1 lost false doubled false late 200ms
                mishap at 1357125183ns client 1 direction 1 lost false doubled false late 385683554ns
                """);
    }

    /** R8, of the oracle: a wall clock that is set ahead is a sleep, after which timers may be as late as ever. */
    @Test
    void whoWakesUpHasTimeToSayWhatItMissed() {
        assertClean("""
                options seed=171327 profile=CLUSTER budget=STEADY members=3 spares=0 clients=1 users=2 names=2 \
                ordered=true latency=57762 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=5000000 diskLatency=340738 faultPhase=64000000000 faults=15 acts=53 maxTtl=8000000000 \
                drift=0 outOfSpec=false purityPerMille=0
                fault NEW_LIST at 24492ms for 210ms node 0 amount 4294967303
                fault WALL_STEP at 27209ms for 0ns node 1 amount 2957896328
                act lock at 18193921327ns client 1 user 1 name 0 wait 4332727532ns hold 16s
                listed mishaps 0
                """);
    }

    /** R5: a member opened with the epoch of another one, which was ahead of its clock, and then lost its file. */
    @Test
    void aMemberThatLostItsFileOpensAboveWhatItsFormerLifeWasTold() {
        assertClean("""
                options seed=16202 profile=CLUSTER budget=RESTARTS members=4 spares=1 clients=1 users=1 names=2 \
                ordered=true latency=88620 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=6925260 faultPhase=8000000000 faults=17 acts=137 maxTtl=1000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault NEW_LIST at 1526ms for 1ms node -1 amount 14
                fault CRASH at 1909ms for 121ms node -2 amount 3
                fault NEW_LIST at 2514ms for 8ms node -3 amount 14
                fault NEW_LIST at 2683ms for 32ms node -2 amount 14
                fault CRASH at 3427ms for 11ms node 1 amount 0
                fault CRASH at 3886ms for 0ns node -3 amount 3
                act lock at 4490070390ns client 1 user 0 name 0 wait 0ns hold 151349ns
                act lock at 2670546408ns client 1 user 0 name 0 wait 0ns hold 11715ns
                act lock at 1759707312ns client 1 user 0 name 1 wait 18405200ns hold 120554ns
                listed mishaps 0
                """);
    }

    /** R5: of an epoch that began within a life nobody told the member that lost its disk. */
    @Test
    void anEpochThatBeganWithinALifeIsRemembered() {
        assertClean("""
                options seed=1099511898456 profile=CLUSTER budget=CHAOS members=3 spares=0 clients=1 users=1 names=3 \
                ordered=true latency=8459163 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=421580 faultPhase=8000000000 faults=13 acts=131 maxTtl=1000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault CRASH at 312ms for 161ms node 0 amount 3
                act lock at 852005422ns client 1 user 0 name 0 wait 0ns hold 2488228ns
                act try at 86165218ns client 1 user 0 name 0 wait 234701696ns hold 1391246ns
                listed mishaps 0
                """);
    }

    /** R15: a client hung up every link that took more than 100 ms there and back, and dialled forever. */
    @Test
    void aSlowLinkIsNotADeadOne() {
        assertClean("""
                options seed=20077 profile=LEASE budget=STEADY clients=1 users=1 names=2 ordered=true \
                latency=56520390 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 \
                diskLatency=1000000 faultPhase=8000000000 faults=0 acts=1 maxTtl=1000000000 drift=0 outOfSpec=false \
                purityPerMille=0
                act lock at 1s client 1 user 0 name 1 wait 0ns hold 51ms
                """);
    }

    /**
     * A member whose disk had been put back heard of its former epoch, and ended what it had granted itself while its
     * clients still believed.
     */
    @Test
    void aMemberThatHearsOfItselfKeepsWhatItGranted() {
        assertClean("""
                options seed=6944 profile=SESSION budget=RESTARTS clients=2 users=1 names=2 ordered=true \
                latency=6773040 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 lateness=0 \
                diskLatency=290343 faultPhase=8000000000 faults=3 acts=13 maxTtl=2000000000 drift=0 outOfSpec=false \
                purityPerMille=0
                fault CRASH at 1197ms for 163ms node 0 amount 2
                act hold at 1291539542ns client 2 user 0 name 1 wait 0ns hold 344445466ns
                act hold at 31651300ns client 1 user 0 name 1 wait 0ns hold 2854879460ns
                """);
    }

    /**
     * R5: a member that took over names had the epoch of the one that had decided on them, and began anew with the same
     * tokens.
     */
    @Test
    void aNameThatMovesGoesOnWithHigherTokens() {
        assertClean("""
                options seed=572 profile=CLUSTER budget=STEADY members=4 spares=1 clients=1 users=1 names=3 \
                ordered=true latency=1179552 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=238139 faultPhase=32000000000 faults=8 acts=20 maxTtl=4000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault NEW_LIST at 669ms for 259ms node -3 amount 14
                fault NEW_LIST at 4140ms for 1ms node -1 amount 14
                act lock at 11072016065ns client 1 user 0 name 0 wait 0ns hold 2018805840ns
                act lock at 3285872916ns client 1 user 0 name 0 wait 0ns hold 225229ns
                listed mishaps 0
                """);
    }

    /**
     * R15: a client went by the list of the member that it had met last, which was older, and asked forever where it
     * was sent away.
     */
    @Test
    void whoSendsARequestAwayIsBelieved() {
        assertClean("""
                options seed=1235 profile=CLUSTER budget=STEADY members=4 spares=1 clients=1 users=1 names=5 \
                ordered=true latency=7515957 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=137447 faultPhase=16000000000 faults=9 acts=27 maxTtl=2000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault NEW_LIST at 3807ms for 846ms node -1 amount 11
                fault NEW_LIST at 7515ms for 144ms node -2 amount 7
                act try at 11263206534ns client 1 user 0 name 2 wait 0ns hold 5593757ns
                act lock at 4132015522ns client 1 user 0 name 0 wait 0ns hold 63449579ns
                act show at 942218544ns client 1 user 0 name 1 wait 0ns hold 125ms
                listed mishaps 0
                """);
    }

    /**
     * R1: of two records that came to the simulated disk at one instant the former one was left, and a start waited too
     * short.
     */
    @Test
    void theLaterOfTwoPromisesThatComeAtOneInstantStands() {
        assertClean("""
                options seed=1389 profile=LEASE budget=CHAOS members=1 spares=0 clients=3 users=1 names=3 \
                ordered=true latency=1834519 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=4049634 faultPhase=8000000000 faults=24 acts=141 maxTtl=1000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                fault CRASH at 280ms for 101ms node 0 amount 0
                fault CUT at 294ms for 37ms node 2 amount 0
                fault DELAY at 462ms for 428ms node 1 amount 51926958
                act lock at 36684927ns client 3 user 0 name 0 wait 8704605ns hold 14114218ns
                act lock at 140028902ns client 3 user 0 name 0 wait 214181168ns hold 1536410ns
                act lock at 371485315ns client 2 user 0 name 0 wait 0ns hold 6199977ns
                listed mishaps 0
                """);
    }

    /** R5: two names had tokens of one number, and the watch took what was taken back of one for the other's. */
    @Test
    void upgradesOfTwoNamesThatHaveTheSameTokensAreToldApart() {
        assertClean("""
                options seed=5001871 profile=SHARED budget=STEADY members=3 spares=0 clients=2 users=3 names=5 \
                ordered=true latency=80000000 jitter=50000000 tail=0 lossPerMille=0 duplicatePerMille=0 batchWindow=0 \
                lateness=0 diskLatency=10132592 faultPhase=32000000000 faults=11 acts=158 maxTtl=4000000000 drift=0 \
                outOfSpec=false purityPerMille=0
                act upgrade at 10288928950ns client 2 user 2 name 3 wait 0ns hold 13896581ns
                act upgrade at 7727731918ns client 1 user 2 name 0 wait 0ns hold 10us
                act upgrade at 10817246981ns client 1 user 0 name 0 wait 238565558ns hold 204521ns
                act read at 3826074701ns client 2 user 2 name 3 wait 0ns hold 516360ns
                listed mishaps 1
                mishap at 10537075768ns client 2 direction 1 lost false doubled false late 200ms
                """);
    }

    /** R9: a grant of a request that its user had given up was broken before it was back. */
    @Test
    void aGrantThatIsOnItsWayBackMayEnd() {
        assertClean("""
                options seed=1099511644295 profile=CLUSTER budget=STEADY members=4 spares=1 clients=4 \
                users=1 names=3 ordered=true latency=5009377 jitter=1521820 tail=0 lossPerMille=0 \
                duplicatePerMille=0 batchWindow=0 lateness=5000000 diskLatency=31941371 \
                faultPhase=32000000000 faults=11 acts=133 maxTtl=4000000000 drift=0 outOfSpec=false \
                purityPerMille=0
                fault NEW_LIST at 5628ms for 1ms node 0 amount 15
                fault NEW_LIST at 13628ms for 1ms node -3 amount 15
                fault NEW_LIST at 14232ms for 1ms node -1 amount 15
                fault NEW_LIST at 14269ms for 109ms node -2 amount 15
                fault PAUSE at 21623ms for 1812ms node 3 amount 0
                act try at 2230886642ns client 2 user 0 name 0 wait 0ns hold 214134579ns
                act break at 20481096694ns client 4 user 0 name 0 wait 2432762371ns hold 53365552ns
                act lock at 19098484832ns client 4 user 0 name 0 wait 3113364232ns hold 112016ns
                act lock at 13324902625ns client 4 user 0 name 0 wait 0ns hold 47296624ns
                act lock at 4885061421ns client 3 user 0 name 0 wait 0ns hold 14265ns
                act lock at 14369584716ns client 1 user 0 name 0 wait 0ns hold 30892860ns
                act lock at 16288579715ns client 3 user 0 name 0 wait 2067989657ns hold 35922196ns
                act lock at 9467490167ns client 3 user 0 name 0 wait 232224257ns hold 3526233701ns
                listed mishaps 0
                """);
    }

    /** R16: a client's second way to a member was given up, and what it said there counted for nothing from then on. */
    @Test
    void aSecondWayToAMemberThatIsGivenUpIsNotTheClients() {
        assertClean("""
                options seed=1099511685651 profile=CLUSTER budget=RESTARTS members=3 spares=0 clients=6 users=2 \
                names=3 ordered=true latency=294295 jitter=0 tail=0 lossPerMille=0 duplicatePerMille=0 \
                batchWindow=0 lateness=5000000 diskLatency=1031895 faultPhase=32000000000 faults=15 acts=39 \
                maxTtl=4000000000 drift=0 outOfSpec=false purityPerMille=0
                fault NEW_LIST at 3785140753ns for 3345897ns node 0 amount 6
                fault NEW_LIST at 5616632693ns for 976561961ns node -2 amount 6
                fault CRASH at 7138ms for 1052ms node 3 amount 0
                act lock at 2573232451ns client 3 user 1 name 1 wait 0ns hold 16024722ns
                act lock at 394835310ns client 6 user 1 name 1 wait 0ns hold 93231ns
                listed mishaps 2
                mishap at 5571366448ns client 3 member -2 direction 0 lost false doubled false late 200ms
                mishap at 6596269048ns client 3 member -2 direction 1 lost false doubled false late 725501576ns
                """);
    }
}
