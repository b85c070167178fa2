// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.DistributedLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** The bakery over sockets and files, as users of its URL see it. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class LocksOfTheBakeryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Patience.lease(Duration.ofSeconds(4));

    private static final LockKey JOB = LockKey.lock("job");

    @TempDir
    Path directory;

    private TestMembers members;
    private List<ClusterMember> all;

    @BeforeEach
    void startFour() throws IOException {
        members = new TestMembers(directory, new BakeryAlgorithm(), "a", "b", "c", "d");
        all = members.startAll("abcd", TTL, true);
    }

    @AfterEach
    void end() {
        members.close();
    }

    /** A client that is attached to that member. */
    private LockClient at(String letter) {
        return Locks.open("lock:native:bakery://" + members.id(letter) + "/keyway?maxTtl=" + TTL.toMillis() + "ms&ttl="
                + TTL.toMillis() + "ms");
    }

    @Test
    void allMembersNameTheSameThreeLeaders() {
        await().atMost(Patience.of(PATIENCE))
                .until(() -> all.stream().noneMatch(each -> each.leaders().isEmpty()));
        assertThat(all)
                .extracting(ClusterMember::leaders)
                .containsOnly(all.get(0).leaders());
        assertThat(all.get(0).leaders()).hasSize(3).doesNotHaveDuplicates();
    }

    @Test
    void clientsOfAllMembersExcludeEachOtherAndTokensRise() throws Exception {
        try (LockClient one = at("a");
                LockClient two = at("b");
                LockClient three = at("c");
                LockClient four = at("d")) { // which is no leader
            long last = 0;
            List<LockClient> clients = List.of(one, two, three, four);
            for (int round = 0; round < 8; round++) {
                Lease held = clients.get(round % 4)
                        .lock("job")
                        .tryAcquire(Patience.of(PATIENCE))
                        .orElseThrow();
                assertThat(held.token()).isGreaterThan(last);
                last = held.token();
                for (LockClient other : clients) {
                    assertThat(other.lock("job").tryAcquire()).isEmpty();
                }
                held.close();
            }
        }
    }

    /** A member that may have lived before would be silent for longer than the longest lease. */
    @Test
    void aClusterThatHasNeverRunGrantsAsSoonAsItsMembersHaveMet() throws Exception {
        try (TestMembers fresh = new TestMembers(directory.resolve("fresh"), new BakeryAlgorithm(), "a", "b", "c")) {
            fresh.startAll("abc", Duration.ofMinutes(10), true);
            try (LockClient client = Locks.open("lock:native:bakery://" + fresh.id("b") + "/keyway?maxTtl=10m")) {
                assertThat(client.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
            }
        }
    }

    @Test
    void aReleaseElsewhereIsKnownToWhoeverAsksAfterIt() throws Exception {
        try (LockClient one = at("a");
                LockClient two = at("d")) {
            for (int round = 0; round < 20; round++) {
                one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow().close();
                two.lock("job").tryAcquire().orElseThrow().close();
            }
        }
    }

    @Test
    void aWaiterIsServedWhenTheHolderOfAnotherMemberReleasesOrIsBroken() throws Exception {
        try (LockClient one = at("a");
                LockClient two = at("d");
                LockClient three = at("c")) {
            Lease held = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            CompletableFuture<Lease> waiting = two.lock("job").acquireAsync().toCompletableFuture();
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> three.admin().show(JOB).orElseThrow().waiters().size() == 1);
            assertThat(three.admin().show(JOB).orElseThrow().holders()).hasSize(1);
            held.close();
            Lease next = waiting.get();
            assertThat(next.token()).isGreaterThan(held.token());
            assertThat(three.admin().breakLease(JOB, next.token(), "test")).isTrue();
            await().atMost(Patience.of(PATIENCE)).until(() -> !next.isHeld());
            assertThat(three.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    void oneLeaderCanBeSparedAndItsReturnIsNotNoticed() throws Exception {
        try (LockClient client = at("d");
                LockClient other = at("a")) {
            Lease held = client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            members.end("c");
            assertThat(other.lock("job").tryAcquire()).isEmpty();
            assertThat(held.isHeld()).isTrue();
            held.close();
            Lease next = other.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            members.start("c", "abcd", TTL, false);
            assertThat(next.isHeld()).isTrue();
            next.close();
            assertThat(client.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    void withoutAMajorityTheHolderIsToldAndWhoAsksLearnsWhoIsMissing() throws Exception {
        List<LockEvent.Type> told = new CopyOnWriteArrayList<>();
        try (LockClient client = at("a")) {
            client.addListener(event -> told.add(event.type()));
            Lease held = client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            await().atMost(Patience.of(PATIENCE)).until(() -> told.contains(LockEvent.Type.LOCK_READY));
            members.end("b");
            members.end("c");
            await().atMost(Patience.of(PATIENCE)).until(() -> !held.isHeld());
            assertThat(held.lost().toCompletableFuture().join().detail())
                    .contains("the majority of the leaders is gone");
            assertThatThrownBy(() -> client.lock("other").tryAcquire())
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("a majority of the leaders, and of all members, must answer")
                    .hasMessageContaining(members.id("b"));
            members.start("b", "abcd", TTL, false);
            assertThat(client.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
        assertThat(told)
                .containsSubsequence(
                        LockEvent.Type.CLUSTER_UP,
                        LockEvent.Type.LOCK_READY,
                        LockEvent.Type.NO_LOCK,
                        LockEvent.Type.CLUSTER_DOWN,
                        LockEvent.Type.CLUSTER_UP,
                        LockEvent.Type.LOCK_READY);
    }

    @Test
    void s15_aHolderIsToldToUnlockAndLosesTheLockWhenItDoesNot() throws Exception {
        List<LockEvent.Type> told = new CopyOnWriteArrayList<>();
        try (LockClient client = at("a");
                LockClient other = at("d")) {
            client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow().close();
            client.addListener(event -> told.add(event.type()));
            Lease held = client.lock("job")
                    .with(LockOptions.none().withMaxHold(TTL, TTL.dividedBy(2)))
                    .acquire();
            CompletableFuture<Lease> waiting = other.lock("job").acquireAsync().toCompletableFuture();
            Lease next = waiting.get();
            assertThat(held.isHeld()).isFalse();
            assertThat(held.lost().toCompletableFuture().join().cause()).isEqualTo(LeaseLoss.Cause.MAX_HOLD);
            assertThat(next.token()).isGreaterThan(held.token());
            assertThat(held.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            assertThat(next.isHeld()).isTrue();
        }
        told.retainAll(List.of(
                LockEvent.Type.GRANTED, LockEvent.Type.UNLOCKING, LockEvent.Type.LOST, LockEvent.Type.RELEASED));
        assertThat(told).containsExactly(LockEvent.Type.GRANTED, LockEvent.Type.UNLOCKING, LockEvent.Type.LOST);
    }

    /** Each limit of a client, what it refuses, and what comes too late. */
    @Test
    void s16_aClientsLimitsAndWhatComesTooLate() throws Exception {
        try (LockClient client = at("a");
                LockClient other = at("b")) {
            DistributedLock lock = client.lock("job");
            Lease held = other.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(lock.tryAcquire(Duration.ofMillis(200))).isEmpty();
            CompletableFuture<Lease> given = lock.acquireAsync().toCompletableFuture();
            assertThat(given.cancel(true)).isTrue();
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> other.admin().show(JOB).orElseThrow().waiters().isEmpty());
            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(held.release()).as("once more").isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(lock.tryAcquire()).isPresent();
            assertThat(other.admin().breakLease(JOB, held.token(), "too late")).isFalse();
            assertThat(client.lock("job").tryAcquire()).as("it is held").isEmpty();
            LockOptions none = LockOptions.none();
            for (LockOptions longer : List.of(none.withTtl(TTL.plusMillis(1)), none.withHoldAtLeast(TTL))) {
                assertThatThrownBy(() -> client.lock("job").with(longer).tryAcquire())
                        .isInstanceOfAny(IllegalArgumentException.class, LockException.class);
            }
            assertThatThrownBy(() -> client.lock("")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> client.lock("n".repeat(513))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void tokensRiseOverAStartOfAllMembers() throws Exception {
        long before;
        try (LockClient client = at("b")) {
            before = client.lock("job")
                    .tryAcquire(Patience.of(PATIENCE))
                    .orElseThrow()
                    .token();
        }
        List.of("a", "b", "c", "d").forEach(members::end);
        members.startAll("abcd", TTL, false);
        try (LockClient client = at("c")) {
            assertThat(client.lock("job")
                            .tryAcquire(Patience.of(PATIENCE))
                            .orElseThrow()
                            .token())
                    .isGreaterThan(before);
        }
    }
}
