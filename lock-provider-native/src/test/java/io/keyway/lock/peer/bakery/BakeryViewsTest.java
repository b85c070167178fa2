// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static io.keyway.lock.peer.bakery.BakeryWorld.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * What a change of leaders does to holders and waiters, and the rules V2 to V6 with a schedule each that breaks whoever
 * does without it. Members a, b and c lead in the first view.
 */
class BakeryViewsTest {
    private static final String[] FIVE = {"a", "b", "c", "d", "e"};

    private static BakeryWorld cut(BakeryWorld world, List<String> some, List<String> others) {
        some.forEach(one -> others.forEach(other -> world.part(one, other)));
        return world;
    }

    /** A client of a holds by a and b, which are cut off from the others, who elect d and e in their places. */
    private static BakeryWorld overthrown(UnsafeBakery variant) {
        BakeryWorld world = cut(new BakeryWorld(variant, FIVE), List.of("a", "b"), List.of("c", "d", "e"));
        world.ask("a", 1);
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
        world.elect("a", "d");
        world.elect("b", "e");
        List.of("c", "d", "e").forEach(world::hears);
        world.run();
        world.pass(LEASE); // nobody has confirmed the first view to a and b since
        world.leased("a", 0);
        world.leased("b", 0);
        world.seated("d");
        world.seated("e");
        world.ask("c", 2);
        world.run();
        assertThat(world.holds("c")).containsExactly(2L);
        return world;
    }

    @Test
    void v2_whatLeadersSayCountsWhileAMajorityOfTheMembersConfirmsTheirView() {
        assertThat(overthrown(UnsafeBakery.NONE).holders()).isEqualTo(1);
        assertThat(overthrown(UnsafeBakery.NEEDS_NO_LEASE).holders()).isEqualTo(2);
    }

    /** A client of a holds by a and b; d gets b's seat, and a client of c asks c and d. */
    private static BakeryWorld replaced(UnsafeBakery variant) {
        BakeryWorld world = cut(new BakeryWorld(variant, FIVE), List.of("a"), List.of("c", "d", "e"));
        world.ask("a", 1);
        world.run();
        cut(world, List.of("b"), List.of("c", "d", "e"));
        world.elect("b", "d");
        List.of("c", "d", "e").forEach(world::hears);
        world.run();
        world.ask("c", 2);
        world.run();
        return world;
    }

    @Test
    void v3_whoHasGotASeatIsSilentUntilNobodyCountsTheFormerLeader() {
        BakeryWorld world = replaced(UnsafeBakery.NONE);
        assertThat(world.holds("a")).containsExactly(1L);
        assertThat(world.holders()).isEqualTo(1);
        assertThat(replaced(UnsafeBakery.SPEAKS_IN_A_NEW_SEAT).holders()).isEqualTo(2);
    }

    /** The same, and d ends before it has said anything, and starts again: it has no lease to wait for. */
    private static BakeryWorld replacedAndStartedAnew(UnsafeBakery variant) {
        BakeryWorld world = replaced(variant);
        world.restart("d", false);
        List.of("c", "e").forEach(other -> world.meetAnew(other, "d"));
        world.run();
        return world;
    }

    @Test
    void v3_aLifeThatFindsASeatInWhichNoneHasSpokenIsSilentAsIfItHadGotItNow() {
        assertThat(replacedAndStartedAnew(UnsafeBakery.NONE).holders()).isEqualTo(1);
        assertThat(replacedAndStartedAnew(UnsafeBakery.FORGETS_SILENCES).holders())
                .isEqualTo(2);
    }

    /** A client of d holds by a and b; a, which has heard that it has lost its seat, has forgotten that. */
    @Test
    void v3_aLeaderThatHasLostItsSeatIsSilentWhenItHasTheSameOneAgain() {
        BakeryWorld world = cut(new BakeryWorld(FIVE), List.of("d"), List.of("c"));
        world.ask("d", 1);
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
        world.electInVain("a", "e", "a");
        List.of("a", "c", "e").forEach(world::hears);
        world.ask("e", 2);
        for (int i = 0; i < 3; i++) {
            world.talk("e", "a"); // before a has heard of d again
            world.talk("e", "c");
        }
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(world.holders()).isEqualTo(1);
    }

    @Test
    void aLifeThatFindsASeatInWhichAFormerOneHasSpokenSpeaksAtOnce() {
        BakeryWorld world = new BakeryWorld("a", "b", "c");
        world.part("a", "b");
        world.part("b", "c");
        world.part("a", "c");
        world.restart("a", false); // there was nothing that it could have promised
        world.meetAnew("b", "a");
        world.run();
        world.ask("b", 1);
        world.run();
        assertThat(world.holds("b")).containsExactly(1L);
    }

    /** The same as in v3, and a hears of the view; what b has said to it is two leases old when d speaks. */
    private static BakeryWorld countedOn(UnsafeBakery variant) {
        BakeryWorld world = replaced(variant);
        world.hears("a");
        world.seated("d");
        world.run();
        return world;
    }

    @Test
    void v4_aQuorumLiesWithinOneView() {
        BakeryWorld world = countedOn(UnsafeBakery.NONE);
        assertThat(world.holds("a")).isEmpty();
        assertThat(world.holds("c")).containsExactly(2L);
        assertThat(countedOn(UnsafeBakery.COUNTS_FORMER_LEADERS).holders()).isEqualTo(2);
    }

    /** Two clients of a held by a and b, which c has not heard of; then c and d let another one in. */
    private static long[] tokens(UnsafeBakery variant) {
        BakeryWorld world = cut(new BakeryWorld(variant, FIVE), List.of("a"), List.of("c"));
        for (long number = 1; number <= 2; number++) {
            world.ask("a", number);
            world.talk("a", "b");
            assertThat(world.holds("a")).containsExactly(number);
            world.leave("a", number);
            world.talk("a", "b");
        }
        cut(world, List.of("a", "b"), List.of("c", "d", "e"));
        world.elect("b", "d");
        List.of("c", "d", "e").forEach(world::hears);
        world.seated("d");
        world.run();
        world.ask("c", 3);
        world.run();
        assertThat(world.holds("c")).containsExactly(3L);
        return new long[] {world.token("a"), world.token("c")};
    }

    @Test
    void v6_theTokensOfANewLeaderAreAboveAllOfTheFormerOnes() {
        long[] safe = tokens(UnsafeBakery.NONE);
        assertThat(safe[1]).isGreaterThan(safe[0]);
        long[] unsafe = tokens(UnsafeBakery.NO_FLOOR_OF_SEATS);
        assertThat(unsafe[1]).isLessThan(unsafe[0]);
    }

    // A leader is lost

    @Test
    void holdersDoNotNoticeAndWaitersKeepTheirOrder() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.run();
        world.ask("e", 2);
        world.run();
        world.ask("c", 3);
        world.run();
        cut(world, List.of("b"), List.of("a", "c", "d", "e"));
        assertThat(world.holds("d")).containsExactly(1L);
        world.elect("b", "e");
        List.of("a", "c", "d", "e").forEach(world::hears);
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
        world.leave("d", 1); // before the new leader speaks
        world.run();
        assertThat(world.holds("e")).containsExactly(2L);
        world.seated("e");
        world.run();
        world.leave("e", 2);
        world.run();
        assertThat(world.holds("c")).containsExactly(3L);
        world.leave("c", 3);
        world.ask("a", 4);
        world.run();
        assertThat(world.holds("a")).containsExactly(4L);
        assertThat(world.letIn("e")).isEqualTo("a");
    }

    @Test
    void aLeaderThatHasLetAnotherOneInHearsOfTheHolder() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.ask("e", 2);
        world.talk("d", "c");
        world.talk("d", "a"); // its ticket is the smaller one at a and c
        world.talk("e", "b");
        world.run();
        assertThat(world.holders()).isEqualTo(1);
        String holder = world.holds("d").isEmpty() ? "e" : "d";
        world.pass(LEASE / 2);
        world.tick(holder);
        world.run();
        assertThat(List.of("a", "b", "c"))
                .allMatch(leader -> world.letIn(leader).equals(holder));
    }

    /** Holders would lose the second of three leaders while the successor of the first one is silent. */
    @Test
    void aMemberThatHasJustStartedRemovesNoLeaderEither() {
        BakeryWorld world = new BakeryWorld(FIVE);
        assertThat(world.remove("e", "b")).doesNotContain("elected lately");
        world.elect("a", "d");
        List.of(FIVE).forEach(world::hears);
        world.run();
        assertThat(world.remove("e", "b")).contains("elected lately");
        world.restart("e", false);
        assertThat(world.remove("e", "b")).contains("elected lately");
    }

    @Test
    void whoLosesItsSeatForgetsAndBeginsAnewWhenItGetsAnotherOne() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.run();
        world.elect("b", "e");
        List.of(FIVE).forEach(world::hears);
        world.run();
        assertThat(world.knowsNothing("b")).isTrue();
        world.seated("e");
        world.run();
        world.elect("e", "b");
        List.of(FIVE).forEach(world::hears);
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(world.letIn("b")).isEmpty();
        world.seated("b");
        world.run();
        assertThat(world.letIn("b")).isEqualTo("d");
        world.leave("d", 1);
        world.run();
        assertThat(List.of(FIVE)).allMatch(world::knowsNothing);
    }

    /** An UNLOCK while a seat changes its owner is known to the new one. */
    @Test
    void s25_anUnlockDuringAnElectionIsHonoured() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.run();
        cut(world, List.of("c"), List.of("a", "b", "d", "e"));
        world.elect("c", "e");
        world.hears("e");
        world.leave("d", 1);
        List.of("a", "b", "d").forEach(world::hears);
        world.run();
        world.seated("e");
        world.ask("a", 2);
        world.run();
        assertThat(world.holds("a")).containsExactly(2L);
        assertThat(world.letIn("e")).isEqualTo("a");
    }

    /** Two seats change their owners: the third one alone is no majority, until both successors speak. */
    @Test
    void whenAMajorityOfTheLeadersIsLostTheLockIsClosedUntilTheSuccessorsSpeak() {
        BakeryWorld world = new BakeryWorld(FIVE);
        cut(world, List.of("a", "b"), List.of("c", "d", "e"));
        world.elect("a", "d");
        world.elect("b", "e");
        List.of("c", "d", "e").forEach(world::hears);
        world.ask("c", 1);
        world.run();
        assertThat(world.holders()).isZero();
        world.seated("d");
        world.run();
        assertThat(world.holds("c")).containsExactly(1L);
    }
}
