// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.keyway.lock.peer.client.LockClientHelper;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockFields;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

class LeaseAdminTest extends LeaseScenarios {
    private static final long MS = LeaseWorld.MS;
    private static final long TTL = LeaseWorld.TTL;

    private LockMessage.Status show(String name) {
        c(2).call(name, new LockCall.Show(1, 2_000 * MS));
        world.settle();
        return (LockMessage.Status) c(2).last(LockNotice.Told.class).answer();
    }

    private LockMessage.Page list(String prefix, String after, int max) {
        c(2).input(new io.keyway.lock.peer.kernel.Input.Command(
                LeaseKeys.DIRECTORY, new LockCall.ListNames(1, prefix, after, max, 2_000 * MS)));
        world.settle();
        return (LockMessage.Page) c(2).last(LockNotice.Told.class).answer();
    }

    @Test
    void aStatusNamesTheHolderAndTheWaitersInOrder() {
        c(0).acquire("a");
        world.settle();
        world.advance(300 * MS);
        c(1).acquire("a");
        world.settle();
        world.advance(200 * MS);
        c(2).acquire("a");
        world.settle();
        LockMessage.Status status = show("a");
        assertThat(status.holders()).singleElement().satisfies(holder -> {
            assertThat(holder.owner().client()).isEqualTo("c0");
            assertThat(holder.token()).isEqualTo(c(0).believes("a"));
            assertThat(holder.nanos()).isEqualTo(500 * MS);
        });
        assertThat(status.waiters())
                .extracting(waiter -> waiter.owner().client())
                .containsExactly("c1", "c2");
        assertThat(status.waiters().get(0).nanos()).isEqualTo(200 * MS);
        assertThat(status.more()).isZero();
    }

    @Test
    void allWaitersOfAllClientsAreListedInTheOrderOfTheirCalls() {
        c(0).acquire("a");
        world.settle();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            world.advance(10 * MS);
            c(i % 2).acquire("a");
            expected.add("c" + i % 2);
            world.settle();
        }
        LockMessage.Status status = show("a");
        assertThat(status.holders())
                .singleElement()
                .extracting(Participant::token)
                .isEqualTo(c(0).believes("a"));
        assertThat(status.waiters())
                .extracting(waiter -> waiter.owner().client())
                .containsExactlyElementsOf(expected);
        assertThat(status.waiters()).extracting(Participant::nanos).isSortedAccordingTo((a, b) -> Long.compare(b, a));
        assertThat(status.more()).isZero();
    }

    @Test
    void thousandsOfWaitersComeInSeveralParts() {
        c(0).acquire("a");
        world.settle();
        for (int i = 0; i < 10_000; i++) {
            c(i % 2).acquire("a");
        }
        world.settle();
        LockMessage.Status status = show("a");
        assertThat(status.waiters()).hasSize(10_000);
        assertThat(status.more()).isZero();
        assertThat(c(2).notices).filteredOn(LockNotice.Told.class::isInstance).hasSize(1);
    }

    @Test
    void waitersBeyondTheBoundAreCounted() {
        ParticipantList list = new ParticipantList();
        Owner owner = new Owner("c", java.util.Map.of("k", "v".repeat(1_000)));
        for (int i = 0; i < 2_000; i++) {
            list.add(new Participant(owner, io.keyway.lock.LockMode.EXCLUSIVE, 1, 0, i));
        }
        int listed =
                list.parts().stream().mapToInt(part -> part.waiters().size()).sum();
        assertThat(listed + list.more()).isEqualTo(2_000);
        assertThat(listed).isBetween(900, 1_000);
        assertThat(list.parts()).allSatisfy(part -> assertThat(part.waiters()).hasSizeBetween(1, 12));
    }

    @Test
    void aWaitingClientThatDoesNotAnswerIsShownAsTheManagerKnowsIt() {
        c(0).acquire("a");
        c(1).acquire("a");
        c(1).acquire("a");
        world.settle();
        c(1).holdToClient(true);
        c(2).call("a", new LockCall.Show(1, 4_000 * MS));
        world.advance(1_000 * MS);
        LockMessage.Status status =
                (LockMessage.Status) c(2).last(LockNotice.Told.class).answer();
        assertThat(status.holders()).hasSize(1);
        assertThat(status.waiters()).hasSize(1);
        c(1).holdToClient(false);
    }

    @Test
    void anIdleCacheIsNoHolder() {
        c(0).acquire("a");
        world.settle();
        c(0).release("a");
        assertThat(show("a").holders()).isEmpty();
        long token = c(0).reuse("a");
        assertThat(show("a").holders())
                .singleElement()
                .extracting(Participant::token)
                .isEqualTo(token);
    }

    @Test
    void aHolderThatDoesNotAnswerIsShownAsTheManagerKnowsIt() {
        c(0).acquire("a");
        world.settle();
        c(0).holdToClient(true);
        c(2).call("a", new LockCall.Show(1, 2_000 * MS));
        world.settle();
        assertThat(c(2).notices).isEmpty();
        world.advance(1_000 * MS);
        LockMessage.Status status =
                (LockMessage.Status) c(2).last(LockNotice.Told.class).answer();
        assertThat(status.holders())
                .singleElement()
                .extracting(Participant::token)
                .isEqualTo(c(0).believes("a"));
        c(0).holdToClient(false);
    }

    @Test
    void aNameAtRestHasAnEmptyStatusAndStaysAtRest() {
        LockMessage.Status status = show("never-used");
        assertThat(status.holders()).isEmpty();
        assertThat(status.waiters()).isEmpty();
        assertThat(world.member().residents()).isZero();
        assertThat(c(2).cell.residents()).isZero();
    }

    @Test
    void namesArePagedInOrderByPrefix() {
        List<String> names = List.of("jobs/1", "jobs/10", "jobs/2", "jobs/3", "other", "jobs");
        for (String name : names) {
            c(0).acquire(name);
        }
        world.settle();
        assertThat(list("jobs/", "", 2)).satisfies(page -> {
            assertThat(page.names()).containsExactly("jobs/1", "jobs/10");
            assertThat(page.more()).isTrue();
        });
        assertThat(list("jobs/", "jobs/10", 2)).satisfies(page -> {
            assertThat(page.names()).containsExactly("jobs/2", "jobs/3");
            assertThat(page.more()).isFalse();
        });
        assertThat(list("", "", 100).names()).containsExactly("jobs", "jobs/1", "jobs/10", "jobs/2", "jobs/3", "other");
        assertThat(list("", "zzz", 100).names()).isEmpty();
    }

    @Test
    @Tag("soak")
    void pagesShowTheOldAndTheNewNamesThatAreHeldInOrder() {
        world = new LeaseWorld(LockSettings.defaults().withoutCache());
        for (int i = 0; i < 3; i++) {
            world.client();
        }
        Set<String> held = new TreeSet<>();
        Random random = new Random(7);
        for (int i = 0; i < 3_000; i++) {
            String name = "n" + random.nextInt(2_000);
            if (held.remove(name)) {
                c(0).release(name);
            } else {
                held.add(name);
                c(0).acquire(name);
            }
            if (i % 10 == 0) {
                world.settle();
                c(1).acquire("brief");
                world.settle();
                c(1).release("brief");
            }
            if (i == 1_500) {
                assertThat(list("n", "", 1).more()).isTrue();
            }
            world.settle();
            world.forget();
        }
        List<String> listed = new ArrayList<>();
        LockMessage.Page page;
        do {
            String last = listed.isEmpty() ? "" : listed.get(listed.size() - 1);
            page = list("n", last, 100);
            listed.addAll(page.names());
        } while (page.more());
        assertThat(held).hasSizeGreaterThan(300);
        assertThat(listed).containsExactlyElementsOf(held);
    }

    @Test
    void aPageIsBoundedHoweverManyNamesThereAre() {
        for (int i = 0; i < 600; i++) {
            c(0).acquire(String.format("n%04d", i));
        }
        world.settle();
        List<String> all = new ArrayList<>();
        LockMessage.Page page;
        do {
            page = list("n", all.isEmpty() ? "" : all.get(all.size() - 1), Integer.MAX_VALUE);
            assertThat(page.names().size()).isLessThanOrEqualTo(LockFields.MAX_PAGE);
            all.addAll(page.names());
        } while (page.more());
        assertThat(all).hasSize(600).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void aQuestionWithoutAnAnswerFails() {
        c(2).holdToMember(true);
        c(2).call("a", new LockCall.Show(7, 1_000 * MS));
        world.advance(1_000 * MS);
        assertThat(c(2).last(LockNotice.Failed.class).request()).isEqualTo(7);
        assertThat(c(2).cell.residents()).isZero();
        c(2).holdToMember(false);
        world.settle();
    }

    @Test
    void aQuestionIsAskedAgainOfAFreshSession() {
        c(2).holdToMember(true);
        c(2).call("a", new LockCall.Show(7, 4 * TTL));
        world.sessionEnds(c(2));
        c(2).lose(false);
        c(2).open();
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer()).isInstanceOf(LockMessage.Status.class);
    }

    @Test
    void aBreakOfAFreeNameIsAnsweredAtOnce() {
        c(2).call("a", new LockCall.Break(3, 12345, "nobody", TTL));
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 3, false));
    }

    @Test
    void anIdleCacheIsNotBroken() {
        c(0).acquire("a");
        world.settle();
        long token = c(0).believes("a");
        c(0).release("a");
        c(2).call("a", new LockCall.Break(3, token, "idle", TTL));
        world.settle();
        assertThat(c(2).last(LockNotice.Told.class).answer())
                .isEqualTo(new LockMessage.Answer(LeaseWorld.key("a"), 3, false));
        assertThat(c(0).phase("a")).isEqualTo(LockClientHelper.Phase.CACHED);
    }
}
