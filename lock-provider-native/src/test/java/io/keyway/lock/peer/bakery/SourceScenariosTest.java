// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static io.keyway.lock.peer.bakery.BakeryWorld.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The tests of the source that concern leaders and homes alone, by their numbers, beside those of {@link
 * BakeryScenariosTest}; and those that were missing there. Members a, b and c are leaders, the others are none.
 */
class SourceScenariosTest {
    private static final String[] FOUR = {"a", "b", "c", "d"};
    private static final List<String> LEADERS = List.of("a", "b", "c");

    @Test
    void s5_tenComputersAreServedInTheirOrder() {
        String[] ten = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"};
        BakeryWorld world = new BakeryWorld(ten);
        for (String member : ten) {
            world.ask(member, 1);
            world.run();
        }
        long token = 0;
        for (String member : ten) {
            assertThat(world.holds(member)).containsExactly(1L);
            assertThat(world.holders()).isEqualTo(1);
            assertThat(world.token(member)).isGreaterThan(token);
            token = world.token(member);
            world.leave(member, 1);
            world.run();
        }
        assertThat(LEADERS).allMatch(world::knowsNothing);
    }

    @Test
    void s6_aTicketThatHoldsIsTakenOverByANewLeaderAndLapsesWithItsHome() {
        BakeryWorld world = new BakeryWorld("a", "b", "c", "d", "e");
        world.ask("e", 1);
        world.run();
        world.part("c", "e");
        world.elect("c", "d");
        List.of("a", "b", "d", "e").forEach(world::hears);
        world.run();
        world.seated("d");
        world.run();
        assertThat(world.holds("e")).containsExactly(1L);
        assertThat(world.letIn("d")).isEqualTo("e");
        world.ask("a", 2);
        world.run();
        assertThat(world.holders()).isEqualTo(1);
        List.of("a", "b", "d").forEach(leader -> world.part(leader, "e"));
        assertThat(world.holds("e")).as("it is told at once").isEmpty();
        world.pass(BakeryLeader.VOTE * LEASE - 1);
        List.of("a", "b", "d").forEach(world::lapse);
        world.run();
        assertThat(world.holders()).as("somebody may have believed in it").isZero();
        world.pass(1);
        List.of("a", "b", "d").forEach(world::lapse);
        world.run();
        assertThat(world.holds("a")).containsExactly(2L);
    }

    @Test
    void s10_whatIsAskedBeforeLeadersAreThereWaitsForThemOrIsForgotten() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.restart("d");
        world.ask("d", 1);
        world.ask("d", 2);
        assertThat(world.queued("d", "a")).isZero();
        world.leave("d", 1); // its time limit is over
        world.open("d");
        LEADERS.forEach(leader -> world.meetAnew(leader, "d"));
        world.run();
        assertThat(world.holds("d")).containsExactly(2L);
        world.leave("d", 2);
        world.run();
        assertThat(LEADERS).allMatch(world::knowsNothing);
    }

    /** A leader would be at the end of its numbers with the first ticket that anybody makes up. */
    @Test
    void s13_aTicketThatNobodyCanHaveDrawnIsNotLetIn() {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.run();
        long token = world.token("d");
        world.leave("d", 1);
        world.run();
        Owner owner = new Owner("liar", Map.of());
        for (long stamp : new long[] {Ticket.MAX_STAMP, Ticket.MAX_STAMP - 1, 0, -1}) {
            BakeryMessage ticket = new BakeryMessage.AddTicket(
                    BakeryWorld.NAME, 9, RequestMode.WRITER, stamp, 1, false, true, owner, 0);
            LEADERS.forEach(leader -> world.say("d", leader, ticket));
        }
        world.run();
        assertThat(LEADERS).allMatch(leader -> world.letIn(leader).isEmpty());
        assertThat(world.alarms()).hasSize(4 * LEADERS.size()).allMatch(alarm -> alarm.startsWith("d has drawn"));
        world.ask("c", 2);
        world.run();
        assertThat(world.holds("c")).containsExactly(2L);
        assertThat(Ticket.of(world.token("c")).stamp())
                .isGreaterThan(Ticket.of(token).stamp())
                .isLessThan(Ticket.MAX_STAMP / 2);
    }

    /** Clients of c and d want the lock, and the leader starts anew after so many messages. */
    private static List<String> crashed(String leader, int after) {
        BakeryWorld world = new BakeryWorld(FOUR);
        world.ask("d", 1);
        world.ask("c", 2);
        int delivered = 0;
        for (boolean any = true; any; ) {
            any = false;
            for (String from : FOUR) {
                for (String to : FOUR) {
                    if (world.queued(from, to) > 0) {
                        if (delivered++ == after) {
                            restart(world, leader);
                        }
                        if (world.queued(from, to) > 0) {
                            world.deliver(from, to);
                        }
                        any = true;
                        assertThat(world.holders()).isLessThanOrEqualTo(1);
                    }
                }
            }
        }
        List<String> served = new ArrayList<>();
        for (int turns = 0; turns < 2; turns++) {
            for (String member : List.of("c", "d")) {
                for (long number : world.holds(member)) {
                    served.add(member);
                    world.leave(member, number);
                    world.run();
                    assertThat(world.holders()).isLessThanOrEqualTo(1);
                }
            }
        }
        served.sort(null);
        return delivered <= after ? List.of() : served;
    }

    private static void restart(BakeryWorld world, String leader) {
        world.restart(leader);
        for (String other : FOUR) {
            if (!other.equals(leader)) {
                world.meetAnew(other, leader);
            }
        }
        world.run();
        world.open(leader);
        world.run();
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "b"})
    void s20_aLeaderMayStartAnewBetweenAnyTwoSteps(String leader) {
        int steps = 0;
        while (true) {
            List<String> served = crashed(leader, steps);
            if (served.isEmpty()) {
                break;
            }
            assertThat(served).as("after %s messages", steps).containsExactly("c", "d");
            steps++;
        }
        assertThat(steps).isGreaterThan(12);
    }

    /** Of a leader that has a home with a request, too: what that life asked for is over with it. */
    @Test
    void s20_aLeaderThatAsksForItselfStartsAnewAndItsOwnRequestIsOver() {
        for (int after = 0; after < 20; after++) {
            assertThat(crashed("c", after)).as("after %s messages", after).contains("d");
        }
    }

    @Test
    void s21_ofThreeLocksThatAreHeldANewLeaderTakesOverAll() {
        BakeryWorld world = new BakeryWorld("a", "b", "c", "d", "e");
        List<String> names = List.of("one", "two", "three");
        for (String name : names) {
            world.ask(name, "e", 1 + names.indexOf(name), false);
        }
        world.run();
        assertThat(world.holds("e")).containsExactly(1L, 2L, 3L);
        world.elect("b", "d");
        List.of("a", "c", "d", "e").forEach(world::hears);
        world.run();
        world.seated("d");
        world.run();
        assertThat(names).allMatch(name -> world.letIn("d", name).equals("e"));
        for (String name : names) {
            world.ask(name, "a", 11 + names.indexOf(name), true);
        }
        world.run();
        assertThat(world.refused("a")).containsOnly(11L, 12L, 13L);
        assertThat(world.holders()).isEqualTo(3);
    }
}
