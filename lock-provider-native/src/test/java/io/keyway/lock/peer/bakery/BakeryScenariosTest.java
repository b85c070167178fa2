// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static io.keyway.lock.peer.bakery.BakeryWorld.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What the source shows, what it leaves out, and each of the rules B1 to B6 with a schedule that breaks whoever does
 * without it. Members a, b and c are leaders, d is none.
 */
class BakeryScenariosTest {
    private static final String[] THREE = {"a", "b", "c"};
    private static final String[] FOUR = {"a", "b", "c", "d"};

    // What the source shows

    @Test
    void s1_oneComputerLocksAndUnlocks() {
        BakeryWorld world = new BakeryWorld("a");
        world.ask("a", 1);
        assertThat(world.holds("a")).containsExactly(1L);
        world.leave("a", 1);
        assertThat(world.knowsNothing("a")).isTrue();
        world.ask("a", 2);
        assertThat(world.holds("a")).containsExactly(2L);
    }

    @Test
    void s2_ofTwoComputersBothMustAnswer() {
        BakeryWorld world = new BakeryWorld("a", "b");
        world.ask("a", 1);
        assertThat(world.holds("a")).isEmpty();
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
    }

    @Test
    void s3_ofThreeOneMayBeAwayAndComeBack() {
        BakeryWorld world = new BakeryWorld(THREE);
        world.part("a", "c");
        world.part("b", "c");
        world.ask("a", 1);
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
        world.meet("a", "c");
        world.meet("b", "c");
        world.ask("c", 2);
        world.run();
        assertThat(world.holds("c")).isEmpty();
        world.leave("a", 1);
        world.run();
        assertThat(world.holds("c")).containsExactly(2L);
    }

    @Test
    void s4_aMemberThatIsNoLeaderAsksForItsClients() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(world.letIn("a")).isEqualTo("d");
    }

    @Test
    void s12_whoeverGivesUpWhileEnteringIsForgotten() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.leave("d", 1);
        world.run();
        assertThat(world.holders()).isZero();
        assertThat(List.of("a", "b", "c")).allMatch(world::knowsNothing);
    }

    // What it leaves out

    /** The second client waits for the first one's ticket, or is behind it: the source lets both in. */
    @Test
    void s19_twoClientsAndOneSlowLinkNeverHoldTogether() {
        BakeryWorld world = new BakeryWorld(THREE);
        world.ask("c", 2);
        world.talk("c", "b"); // a and c do not hear each other
        assertThat(world.holds("c")).containsExactly(2L);
        world.ask("a", 1);
        world.talk("a", "b");
        assertThat(world.holders()).isEqualTo(1);
        world.run();
        assertThat(world.holders()).isEqualTo(1);
        world.leave("c", 2);
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
    }

    @Test
    void s19_allSchedulesOfTwoClientsAndTwoLeaders() {
        assertThat(BakeryDeliveries.search(List.of(RequestMode.WRITER, RequestMode.WRITER), "a", "b"))
                .startsWith("clean");
    }

    /** Every link may be as slow as it likes, so this is more than one slow link. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void s19_allSchedulesOfTwoClientsAndThreeLeaders() {
        String found = BakeryDeliveries.search(List.of(RequestMode.WRITER, RequestMode.WRITER), THREE);
        System.out.println(found);
        assertThat(found).startsWith("clean");
    }

    @Test
    void s25_anUnlockWhileALeaderIsAwayIsHonouredLater() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        world.part("d", "b");
        world.leave("d", 1);
        world.run();
        assertThat(world.letIn("b")).isEqualTo("d");
        world.meet("d", "b");
        world.run();
        assertThat(world.knowsNothing("b")).isTrue();
    }

    @Test
    void s26_anUnlockIsKnownToWhoeverAsksAfterItElsewhere() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        world.leave("d", 1);
        world.ask("c", 2, true);
        for (String leader : List.of("a", "b")) {
            world.talk("c", leader);
        }
        assertThat(world.refused("c")).isEmpty();
        world.run();
        assertThat(world.holds("c")).containsExactly(2L);
        world.ask("a", 3, true);
        world.run();
        assertThat(world.refused("a")).containsOnly(3L);
    }

    @Test
    void s29_whoIsCutOffFromTheMajorityIsToldAndNobodyIsLetInBeside() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        world.part("d", "a");
        assertThat(world.holds("d")).containsExactly(1L);
        world.part("d", "b");
        assertThat(world.holds("d")).isEmpty();
        world.ask("c", 2);
        world.run();
        assertThat(world.holds("c")).isEmpty();
        assertThat(world.letIn("a")).isEqualTo("d");
    }

    @Test
    void s30_theSmallerTicketIsFirst() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("a", 1);
        world.run();
        world.ask("d", 2);
        world.run();
        world.ask("c", 3);
        world.run();
        world.leave("a", 1);
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
        assertThat(world.holds("c")).isEmpty();
    }

    @Test
    void s31_ofEqualNumbersTheSmallerMemberIsFirst() {
        BakeryWorld world = new BakeryWorld(THREE);
        world.ask("c", 1);
        world.ask("a", 1);
        world.deliver("a", "b");
        world.deliver("b", "a");
        world.deliver("c", "b");
        world.deliver("b", "c");
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
        assertThat(world.holds("c")).isEmpty();
        long first = world.token("a");
        world.leave("a", 1);
        world.run();
        assertThat(world.holds("c")).containsExactly(1L);
        assertThat(world.token("c")).isGreaterThan(first);
    }

    @Test
    void s32_aMajorityThatIsLostWhileEnteringLetsNobodyInUntilItIsBack() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.part("d", "a");
        world.part("d", "b");
        world.run();
        assertThat(world.holds("d")).isEmpty();
        world.meet("d", "b");
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
    }

    // The rules, one by one

    /** The ticket of a comes so late that c was let in without it, and is the smaller one. */
    private static BakeryWorld lateSmallerTicket(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, THREE);
        world.ask("a", 1);
        world.deliver("a", "b");
        world.deliver("b", "a");
        world.pass(LEASE); // b does not wait for a's ticket any longer
        world.ask("c", 2);
        world.talk("c", "b");
        assertThat(world.holds("c")).containsExactly(2L);
        world.talk("a", "b");
        return world;
    }

    @Test
    void b1_aLeaderLetsOneInUntilThatOneIsOver() {
        assertThat(lateSmallerTicket(UnsafeBakery.NONE).holders()).isEqualTo(1);
        assertThat(lateSmallerTicket(UnsafeBakery.NOT_EXCLUSIVE).holders()).isEqualTo(2);
    }

    private static String nextOfThree(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        world.ask("d", 1);
        world.run();
        for (String member : THREE) {
            world.ask(member, 1);
            world.run();
        }
        StringBuilder order = new StringBuilder();
        for (String holder = "d"; !holder.isEmpty(); ) {
            world.leave(holder, 1);
            world.run();
            holder = "";
            for (String member : THREE) {
                holder = world.holds(member).isEmpty() ? holder : member;
            }
            order.append(holder);
        }
        return order.toString();
    }

    @Test
    void b2_theSmallestTicketIsLetIn() {
        assertThat(nextOfThree(UnsafeBakery.NONE)).isEqualTo("abc");
        assertThat(nextOfThree(UnsafeBakery.ANY_ORDER)).isNotEqualTo("abc");
    }

    /** Leader c is away, a lets the client of a in, b that of d. */
    private static BakeryWorld splitVote(UnsafeBakery variant) {
        BakeryWorld world = split(variant);
        world.run();
        return world;
    }

    private static BakeryWorld split(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        List.of("a", "b", "d").forEach(other -> world.part(other, "c"));
        world.ask("a", 1);
        world.deliver("a", "b");
        world.deliver("b", "a");
        world.pass(LEASE);
        world.ask("d", 2);
        world.talk("d", "a");
        world.talk("d", "b");
        world.talk("d", "a");
        world.talk("d", "b");
        assertThat(world.holders()).isZero();
        assertThat(world.letIn("a") + world.letIn("b")).isEqualTo("ad");
        return world;
    }

    @Test
    void b3_whoDoesNotHoldGivesWayToTheSmallerTicket() {
        assertThat(splitVote(UnsafeBakery.NONE).holds("a")).containsExactly(1L);
        assertThat(splitVote(UnsafeBakery.NEVER_YIELDS).holders()).isZero();
    }

    /** Leader b refuses the ticket that leader a lets in, and c, which might take it, is away. */
    @Test
    void whoIsRefusedByOneDrawsAgainWhenTheOthersAreNoMajority() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("a", 1);
        world.deliver("a", "b");
        world.deliver("b", "a");
        world.ask("d", 2);
        for (int i = 0; i < 2; i++) {
            world.talk("d", "c");
            world.talk("d", "b");
        }
        world.pass(LEASE); // b waits for the first ticket no longer
        world.lapse("b");
        world.talk("d", "b");
        assertThat(world.holds("d")).containsExactly(2L);
        world.leave("d", 2);
        world.talk("d", "b");
        world.talk("d", "c");
        List.of("a", "b", "d").forEach(other -> world.part(other, "c"));
        assertThat(world.letIn("a")).isEqualTo("a");
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
    }

    /** Otherwise that leader shows nobody that d waits, tells d no place, and could not stand in for another one. */
    @Test
    void whoeverHasHeardALeaderThatStartedAnewDrawsNoTicketThatItRefuses() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("c", 1);
        world.run();
        world.restart("a");
        world.open("a");
        List.of("b", "c", "d").forEach(other -> world.meetAnew(other, "a"));
        world.run();
        world.ask("d", 2);
        for (int i = 0; i < 2; i++) {
            world.talk("d", "b");
            world.talk("d", "c");
        }
        world.run();
        world.leave("c", 1);
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
        assertThat(world.letIn("a")).isEqualTo("d");
    }

    /** What b has said to d before d begins anew is not heeded, so that it has to be said again. */
    @Test
    void b3_whoHasBegunAnewIsAskedAgainToGiveWay() {
        BakeryWorld world = split(UnsafeBakery.NONE);
        while (world.queued("b", "d") == 0) {
            world.deliver("a", "b");
        }
        world.meet("d", "b");
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
    }

    private static BakeryWorld lostRelease(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        world.ask("d", 1);
        world.run();
        world.part("d", "b");
        world.leave("d", 1);
        world.meet("d", "b");
        world.run();
        return world;
    }

    @Test
    void b4_whatIsNotSaidAgainIsOver() {
        assertThat(lostRelease(UnsafeBakery.NONE).letIn("b")).isEmpty();
        assertThat(lostRelease(UnsafeBakery.KEEPS_WHAT_IS_OVER).letIn("b")).isEqualTo("d");
    }

    /** The client of d holds by a and b; b starts anew, and d has not noticed when c asks. */
    private static BakeryWorld forgetfulLeader(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        world.ask("d", 1);
        world.talk("d", "a");
        world.talk("d", "b");
        world.talk("d", "a");
        world.talk("d", "b");
        assertThat(world.holds("d")).containsExactly(1L);
        world.restart("b");
        world.meetAnew("c", "b");
        world.talk("c", "b");
        world.ask("c", 2);
        world.talk("c", "b");
        return world;
    }

    @Test
    void b5_aLeaderThatHasStartedAnewIsSilentUntilNobodyCountsItsFormerLife() {
        assertThat(forgetfulLeader(UnsafeBakery.NONE).holders()).isEqualTo(1);
        assertThat(forgetfulLeader(UnsafeBakery.SPEAKS_EARLY).holders()).isEqualTo(2);
    }

    /** Only b has let d's client in when it starts anew; it lets c's in, and then a lets in that of d. */
    private static BakeryWorld formerLife(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        world.ask("d", 1);
        world.deliver("d", "a");
        world.deliver("a", "d");
        world.talk("d", "b");
        assertThat(world.letIn("b")).isEqualTo("d");
        world.restart("b");
        world.meetAnew("c", "b");
        world.talk("c", "b");
        world.open("b");
        world.ask("c", 2);
        world.talk("c", "b");
        assertThat(world.holds("c")).containsExactly(2L);
        world.meetAnew("d", "b");
        world.talk("d", "a");
        return world;
    }

    @Test
    void b6_whatAFormerLifeOfALeaderHasSaidIsNotCounted() {
        assertThat(formerLife(UnsafeBakery.NONE).holders()).isEqualTo(1);
        assertThat(formerLife(UnsafeBakery.COUNTS_FORMER_LIVES).holders()).isEqualTo(2);
    }

    /** A ticket that was drawn before others that have held, at a leader that has started anew since. */
    private static BakeryWorld oldTicket(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        world.ask("d", 1);
        world.deliver("d", "a");
        world.deliver("a", "d");
        world.deliver("d", "b");
        world.deliver("b", "d"); // its ticket is under way
        world.pass(LEASE);
        for (long number = 2; number < 5; number++) {
            world.ask("c", number);
            world.talk("c", "b");
            assertThat(world.holds("c")).containsExactly(number);
            world.leave("c", number);
            world.talk("c", "b");
        }
        world.restart("b");
        world.open("b");
        world.meetAnew("d", "b");
        world.talk("d", "b");
        world.talk("d", "a");
        world.talk("d", "b");
        return world;
    }

    @Test
    void tokensRiseAlthoughALeaderHasForgottenWhoHeld() {
        BakeryWorld world = oldTicket(UnsafeBakery.NONE);
        world.run();
        assertThat(world.token("d")).isGreaterThan(world.token("c"));
        assertThat(oldTicket(UnsafeBakery.NO_FLOOR).token("d")).isPositive().isLessThan(world.token("c"));
    }

    /** The links of a to b are silent for two leases, and come back before a forgets the session with b. */
    @Test
    void aHomeHearsThatALeaderDoesNotLetItInAnyMoreBeforeItCountsThatLeaderAgain() {
        BakeryWorld world = new BakeryWorld("a", "b", "c");
        world.part("a", "c");
        world.ask("a", 1);
        world.run();
        assertThat(world.holds("a")).containsExactly(1L);
        world.expire("b", "a");
        world.run();
        world.ask("c", 2);
        world.run();
        assertThat(world.holders()).isLessThanOrEqualTo(1);
        assertThat(world.holds("c")).containsExactly(2L);
    }

    /** As above. Otherwise the loss of one of the other two leaders would end what the client holds. */
    @Test
    void aHolderTellsALeaderThatDoesNotLetItInAnyMore() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        world.pass(LEASE / 2);
        world.tick("d"); // it has told all of them that it holds
        world.run();
        world.expire("b", "d");
        world.run();
        assertThat(world.letIn("b")).isEmpty();
        world.pass(LEASE / 2);
        world.tick("d");
        world.run();
        assertThat(world.letIn("b")).isEqualTo("d");
        world.part("d", "a");
        assertThat(world.holds("d")).containsExactly(1L);
    }

    /** Leader a has refused the ticket, b lets it in, and c, which has started anew, is silent for two leases. */
    @Test
    void whoIsRefusedByOneDrawsAgainWhenAnotherOneIsSilent() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.part("a", "b");
        world.ask("b", 1);
        world.run();
        world.ask("d", 2);
        world.run();
        assertThat(world.letIn("a") + world.letIn("b") + world.letIn("c")).isEqualTo("dbb");
        world.restart("c");
        List.of("a", "b", "d").forEach(other -> world.meetAnew(other, "c"));
        world.run();
        assertThat(world.holds("b")).as("its majority of b and c is gone").isEmpty();
        world.expire("a", "d");
        world.run();
        world.leave("b", 1);
        world.run();
        assertThat(world.holders()).isZero();
        world.pass(LEASE);
        world.tick("d");
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
    }
}
