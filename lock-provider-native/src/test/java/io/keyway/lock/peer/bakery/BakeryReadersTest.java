// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import static io.keyway.lock.peer.bakery.RequestMode.READER;
import static io.keyway.lock.peer.bakery.RequestMode.WRITER;
import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.LockMode;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Readers beside each other, writers, and soft writers, message by message. Members a, b and c are leaders. */
class BakeryReadersTest {
    private static final String[] FOUR = {"a", "b", "c", "d"};
    private static final RequestMode SOFT = new RequestMode(LockMode.EXCLUSIVE, 0);
    private static final long QUIET = 1_000;
    private static final RequestMode QUIETLY = new RequestMode(LockMode.EXCLUSIVE, QUIET);

    private static BakeryWorld world() {
        return new BakeryWorld(FOUR);
    }

    private static void ask(BakeryWorld world, String member, long number, RequestMode mode) {
        world.ask(member, number, mode);
        world.run();
    }

    private static void leave(BakeryWorld world, String member, long number) {
        world.leave(member, number);
        world.run();
    }

    /** What was due at all leaders is done. */
    private static void due(BakeryWorld world) {
        List.of("a", "b", "c").forEach(world::lapse);
        world.run();
    }

    // Readers and writers

    @Test
    void readersHoldBesideEachOtherAndKeepWritersOut() {
        BakeryWorld world = world();
        ask(world, "a", 1, READER);
        ask(world, "d", 2, READER);
        ask(world, "d", 3, READER);
        assertThat(world.holders()).isEqualTo(3);
        assertThat(world.allLetIn("b")).containsExactlyInAnyOrder("a", "d", "d");
        ask(world, "c", 4, WRITER);
        leave(world, "a", 1);
        leave(world, "d", 3);
        assertThat(world.holds("c")).isEmpty();
        leave(world, "d", 2);
        assertThat(world.holds("c")).containsExactly(4L);
        ask(world, "a", 5, READER);
        ask(world, "b", 6, READER);
        assertThat(world.holders()).isEqualTo(1);
        leave(world, "c", 4);
        assertThat(world.holders()).isEqualTo(2);
    }

    private static BakeryWorld aReaderAfterAWaitingWriter(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        ask(world, "a", 1, READER);
        ask(world, "b", 2, WRITER);
        ask(world, "c", 3, READER);
        return world;
    }

    @Test
    void aReaderWaitsBehindAWriterThatAskedBeforeIt() {
        BakeryWorld world = aReaderAfterAWaitingWriter(UnsafeBakery.NONE);
        assertThat(world.holds("c")).isEmpty();
        leave(world, "a", 1);
        assertThat(world.holds("b")).containsExactly(2L);
        assertThat(world.holds("c")).isEmpty();
        leave(world, "b", 2);
        assertThat(world.holds("c")).containsExactly(3L);
        assertThat(aReaderAfterAWaitingWriter(UnsafeBakery.PASSES_WRITERS).holds("c"))
                .containsExactly(3L);
    }

    /** Leader a lets the writer in, whose ticket is the smaller one, leader b the reader; leader c is away. */
    private static BakeryWorld split(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        List.of("a", "b", "d").forEach(other -> world.part(other, "c"));
        world.ask("a", 1, WRITER);
        world.deliver("a", "b");
        world.deliver("b", "a");
        world.pass(BakeryWorld.LEASE); // b waits for the writer's ticket no longer
        world.ask("d", 2, READER);
        for (int i = 0; i < 2; i++) {
            world.talk("d", "a");
            world.talk("d", "b");
        }
        assertThat(world.letIn("a") + world.letIn("b")).isEqualTo("ad");
        world.run();
        return world;
    }

    @Test
    void aReaderThatDoesNotHoldGivesWayToAWritersSmallerTicket() {
        BakeryWorld world = split(UnsafeBakery.NONE);
        assertThat(world.holds("a")).containsExactly(1L);
        assertThat(world.holders()).isEqualTo(1);
        leave(world, "a", 1);
        assertThat(world.holds("d")).containsExactly(2L);
        assertThat(split(UnsafeBakery.NEVER_YIELDS).holders()).isZero();
    }

    @Test
    void aWritersTokenIsAboveThoseOfReadersAndTheOtherWay() {
        BakeryWorld world = world();
        ask(world, "a", 1, READER);
        long first = world.token("a");
        ask(world, "b", 2, READER);
        long second = world.token("b");
        assertThat(second).as("who asks when another one holds").isGreaterThan(first);
        leave(world, "b", 2);
        leave(world, "a", 1);
        ask(world, "c", 3, WRITER);
        long writer = world.token("c");
        assertThat(writer).isGreaterThan(second);
        leave(world, "c", 3);
        ask(world, "a", 4, READER);
        assertThat(world.token("a")).isGreaterThan(writer);
    }

    /** A reader has the smaller ticket, and comes to the leaders after another one has held: it need not draw again. */
    @Test
    void aReaderMayComeAfterOneWithAGreaterTicket() {
        BakeryWorld world = world();
        world.ask("a", 1, WRITER); // keeps the lock known
        world.run();
        world.ask("b", 2, READER);
        world.ask("d", 3, READER);
        world.run();
        leave(world, "a", 1);
        assertThat(world.holders()).isEqualTo(2);
        leave(world, "d", 3);
        assertThat(world.holds("b")).containsExactly(2L);
        ask(world, "c", 4, WRITER);
        leave(world, "b", 2);
        assertThat(world.holds("c")).containsExactly(4L);
    }

    @Test
    void aLeaderThatStartsAnewHearsOfAllReadersThatHold() {
        BakeryWorld world = world();
        ask(world, "a", 1, READER);
        ask(world, "d", 2, READER);
        world.restart("b");
        for (String each : List.of("a", "c", "d")) {
            world.meetAnew(each, "b");
        }
        world.open("b");
        world.run();
        assertThat(world.allLetIn("b")).containsExactlyInAnyOrder("a", "d");
        ask(world, "c", 3, WRITER);
        leave(world, "a", 1);
        assertThat(world.holds("c")).isEmpty();
        leave(world, "d", 2);
        assertThat(world.holds("c")).containsExactly(3L);
    }

    // Soft writers

    @Test
    void aSoftWriterIsLetInWhenNobodyHoldsAndNobodyQueues() {
        BakeryWorld world = world();
        ask(world, "d", 1, SOFT);
        assertThat(world.holds("d")).as("at once").containsExactly(1L);
        ask(world, "a", 2, READER);
        assertThat(world.holds("a")).isEmpty();
        leave(world, "d", 1);
        assertThat(world.holds("a")).containsExactly(2L);
        ask(world, "d", 3, SOFT);
        ask(world, "b", 4, WRITER);
        assertThat(world.holders()).isEqualTo(1);
        leave(world, "a", 2);
        assertThat(world.holds("b")).containsExactly(4L);
        long token = world.token("b");
        leave(world, "b", 4);
        assertThat(world.holds("d")).containsExactly(3L);
        assertThat(world.token("d")).as("drawn anew").isGreaterThan(token);
        leave(world, "d", 3);
        assertThat(List.of("a", "b", "c")).allMatch(world::knowsNothing);
    }

    private static BakeryWorld aReaderBesideOneThatASoftWriterWaitsFor(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        ask(world, "a", 1, READER);
        ask(world, "b", 2, SOFT);
        ask(world, "c", 3, READER);
        return world;
    }

    @Test
    void aSoftWriterKeepsNoReaderWaiting() {
        BakeryWorld world = aReaderBesideOneThatASoftWriterWaitsFor(UnsafeBakery.NONE);
        assertThat(world.holds("c")).containsExactly(3L);
        leave(world, "a", 1);
        assertThat(world.holds("b")).isEmpty();
        leave(world, "c", 3);
        assertThat(world.holds("b")).containsExactly(2L);
        assertThat(aReaderBesideOneThatASoftWriterWaitsFor(UnsafeBakery.QUEUES_SOFT_WRITERS)
                        .holds("c"))
                .isEmpty();
    }

    /** One leader has let it in, which is not a majority; then a reader comes. */
    @Test
    void aSoftWriterThatDoesNotHoldYetGivesWay() {
        BakeryWorld world = world();
        world.ask("d", 1, SOFT);
        world.deliver("d", "a");
        world.deliver("d", "b");
        world.deliver("a", "d");
        world.deliver("b", "d");
        world.deliver("d", "a");
        assertThat(world.letIn("a")).isEqualTo("d");
        world.part("d", "b");
        world.part("d", "c");
        ask(world, "a", 2, READER);
        assertThat(world.holds("a")).containsExactly(2L);
        assertThat(world.allLetIn("a")).containsExactly("a");
        world.meet("d", "b");
        world.meet("d", "c");
        world.run();
        assertThat(world.holds("d")).isEmpty();
        leave(world, "a", 2);
        assertThat(world.holds("d")).containsExactly(1L);
    }

    private static BakeryWorld aTimeWithoutReaders(UnsafeBakery variant) {
        BakeryWorld world = new BakeryWorld(variant, FOUR);
        ask(world, "d", 1, QUIETLY);
        world.pass(QUIET / 2);
        ask(world, "a", 2, READER);
        world.pass(QUIET / 4);
        leave(world, "a", 2);
        world.pass(QUIET / 2);
        due(world);
        return world;
    }

    @Test
    void aSoftWriterWaitsForItsTimeSinceTheLastReaderWasGranted() {
        BakeryWorld world = aTimeWithoutReaders(UnsafeBakery.NONE);
        assertThat(world.holds("d")).as("a quarter is left").isEmpty();
        world.pass(QUIET / 4 - 1);
        due(world);
        assertThat(world.holds("d")).isEmpty();
        world.pass(1);
        due(world);
        assertThat(world.holds("d")).containsExactly(1L);
        assertThat(aTimeWithoutReaders(UnsafeBakery.IGNORES_TIMES).holds("d")).containsExactly(1L);
    }

    /** Its ticket is lower than that of the reader that has held; a new one does not begin its time anew. */
    @Test
    void aSoftWriterThatDrawsAgainHasNotToWaitAgain() {
        BakeryWorld world = world();
        ask(world, "d", 1, QUIETLY);
        ask(world, "a", 2, WRITER);
        world.pass(2 * QUIET);
        leave(world, "a", 2);
        assertThat(world.holds("d")).containsExactly(1L);
    }

    @Test
    void ofTwoSoftWritersOneIsLetInAfterTheOther() {
        BakeryWorld world = world();
        ask(world, "a", 1, READER);
        ask(world, "b", 2, QUIETLY);
        ask(world, "d", 3, SOFT);
        leave(world, "a", 1);
        assertThat(world.holds("d")).as("whose time is over").containsExactly(3L);
        world.pass(QUIET);
        due(world);
        assertThat(world.holds("b")).isEmpty();
        leave(world, "d", 3);
        assertThat(world.holds("b")).containsExactly(2L);
    }

    // All orders of delivery

    @Test
    void allSchedulesOfAReaderAndAWriterWithTwoLeaders() {
        assertThat(BakeryDeliveries.search(List.of(READER, WRITER), "a", "b")).startsWith("clean");
        assertThat(BakeryDeliveries.search(List.of(READER, READER), "a", "b")).startsWith("clean");
        assertThat(BakeryDeliveries.search(List.of(READER, SOFT), "a", "b")).startsWith("clean");
    }

    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void allSchedulesWithThreeLeaders() {
        for (RequestMode other : List.of(WRITER, READER, SOFT)) {
            String found = BakeryDeliveries.search(List.of(READER, other), "a", "b", "c");
            System.out.println("a reader and " + other + ": " + found);
            assertThat(found).startsWith("clean");
        }
    }
}
