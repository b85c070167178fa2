// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.election.MemberNumbers;
import io.keyway.lock.peer.home.Ticket;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Members of a bakery that come and go; a, b and c lead. */
class BakeryListsTest {
    private static final String[] FIVE = {"a", "b", "c", "d", "e"};
    private static final List<String> LEADERS = List.of("a", "b", "c");
    private static final List<String> ALL = List.of(FIVE);

    private static void list(BakeryWorld world, List<String> members, List<Integer> numbers, List<String> hear) {
        world.list(members, new MemberNumbers(numbers, 100));
        hear.forEach(world::hears);
        world.run();
    }

    private static void removeE(BakeryWorld world, List<String> hear) {
        list(world, List.of("a", "b", "c", "d"), List.of(1, 2, 3, 4), hear);
    }

    /** A client of e holds, and one of d waits, when e is removed, which it does not hear. */
    private static BakeryWorld removed(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FIVE);
        world.ask("e", 1);
        world.run();
        world.ask("d", 2);
        world.run();
        assertThat(world.holds("e")).containsExactly(1L);
        removeE(world, List.of("a", "b", "c", "d"));
        return world;
    }

    @Test
    void whatAMemberHoldsThatIsRemovedStaysUntilItIsReleased() {
        BakeryWorld world = removed(UnsafeBakery.NONE);
        assertThat(world.holds("d")).isEmpty();
        world.leave("e", 1);
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
        assertThat(removed(UnsafeBakery.FORGETS_REMOVED).holders()).isEqualTo(2);
    }

    @Test
    void orUntilNobodyCountsIt() {
        BakeryWorld world = removed(UnsafeBakery.NONE);
        ALL.stream().filter(other -> !other.equals("e")).forEach(other -> world.part("e", other));
        assertThat(world.holds("d")).isEmpty();
        world.pass(2 * BakeryWorld.LEASE);
        LEADERS.forEach(world::lapse);
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
    }

    @Test
    void aMemberThatHearsOfItsRemovalAsksForNothingAndKeepsWhatItHolds() {
        BakeryWorld world = removed(UnsafeBakery.NONE);
        world.ask("e", 3);
        world.run();
        world.hears("e");
        world.ask("e", 4);
        world.run();
        assertThat(world.holds("e")).containsExactly(1L);
        world.leave("e", 1);
        world.run();
        assertThat(world.holds("d")).as("whatever e waits for").containsExactly(2L);
        world.leave("d", 2);
        world.run();
        assertThat(LEADERS).allMatch(world::knowsNothing);
    }

    @Test
    void whatWaitsAtALeaderOfAMemberThatIsRemovedIsOver() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.run();
        world.ask("e", 2);
        world.run();
        removeE(world, LEADERS);
        world.leave("d", 1);
        world.run();
        assertThat(world.holders()).isZero();
        assertThat(LEADERS).allMatch(world::knowsNothing);
    }

    @Test
    void aMemberThatComesDrawsUnderItsOwnNumber() {
        BakeryWorld world = removed(UnsafeBakery.NONE);
        world.leave("e", 1);
        world.hears("e");
        world.ask("e", 5);
        world.run();
        assertThat(world.holds("d")).as("it waited before").containsExactly(2L);
        list(world, ALL, List.of(1, 2, 3, 4, 6), LEADERS);
        assertThat(world.holds("e")).as("it has not heard of it").isEmpty();
        world.hears("e");
        world.run();
        world.leave("d", 2);
        world.run();
        assertThat(world.holds("e")).containsExactly(5L);
        assertThat(Ticket.of(world.token("e")).process()).isEqualTo(6);
    }

    /** The same, and the leaders hear of it after the member that comes. */
    @Test
    void aLeaderThatHearsOfAMemberLateIsToldAgainWhatThatAsksFor() {
        BakeryWorld world = new BakeryWorld(FIVE);
        removeE(world, ALL);
        list(world, ALL, List.of(1, 2, 3, 4, 6), List.of("e"));
        world.ask("e", 1);
        world.run();
        assertThat(world.holders()).isZero();
        LEADERS.forEach(world::hears);
        world.run();
        assertThat(world.holds("e")).containsExactly(1L);
    }

    /** A leader has let a request in, and hears that the home of that has another number, which does not hear it. */
    @Test
    void whatIsLetInStaysWhenItIsSaidAgainUnderTheFormerNumber() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        LEADERS.forEach(leader -> world.deliver("d", leader));
        LEADERS.forEach(leader -> world.deliver(leader, "d"));
        world.talk("d", "a");
        assertThat(world.letIn("a")).isEqualTo("d");
        world.list(ALL, new MemberNumbers(List.of(1, 2, 3, 6, 5), 6));
        world.hears("a");
        world.talk("a", "d");
        assertThat(world.letIn("a")).as("d counts it").isEqualTo("d");
        world.ask("e", 2);
        world.talk("e", "a");
        world.talk("e", "c");
        world.talk("e", "a");
        world.talk("d", "b");
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(world.holders()).isEqualTo(1);
    }

    /** Numbers have gone round: e has that of d, which was removed and came again, and has not heard of either. */
    private static BakeryWorld oneNumber(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FIVE);
        list(world, ALL, List.of(1, 2, 3, 6, 4), List.of("a", "b", "c", "e"));
        world.ask("d", 1, RequestMode.READER);
        world.ask("e", 2, RequestMode.READER);
        for (String home : List.of("d", "e")) {
            LEADERS.forEach(leader -> world.deliver(home, leader)); // nobody has drawn yet
        }
        world.run();
        assertThat(world.holds("e")).containsExactly(2L);
        return world;
    }

    @Test
    void noTwoRequestsHaveOneTicketAlthoughNumbersAreGivenAgain() {
        BakeryWorld same = oneNumber(UnsafeBakery.ANY_NUMBER);
        assertThat(same.token("d")).isEqualTo(same.token("e"));

        BakeryWorld world = oneNumber(UnsafeBakery.NONE);
        assertThat(world.holds("d")).isEmpty();
        world.hears("d");
        world.run();
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(Ticket.of(world.token("d")).process()).isEqualTo(6);
    }

    /** A holder keeps its token, and its place at leaders, when its member has another number. */
    @Test
    void aHolderDoesNotNoticeThatItsMemberHasAnotherNumber() {
        BakeryWorld world = new BakeryWorld(FIVE);
        world.ask("d", 1);
        world.run();
        long token = world.token("d");
        list(world, ALL, List.of(1, 2, 3, 6, 5), ALL);
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(world.token("d")).isEqualTo(token);
        for (String leader : LEADERS) {
            world.part("d", leader);
            world.meet("d", leader);
            world.run();
        }
        assertThat(LEADERS).allMatch(leader -> world.letIn(leader).equals("d"));
        world.ask("e", 2);
        world.run();
        assertThat(world.holders()).isEqualTo(1);
        world.leave("d", 1);
        world.run();
        assertThat(world.holds("e")).containsExactly(2L);
        assertThat(world.token("e")).isGreaterThan(token);
    }
}
