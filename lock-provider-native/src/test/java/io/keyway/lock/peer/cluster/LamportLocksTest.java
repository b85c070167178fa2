// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockException;
import io.keyway.lock.LockKey;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.lamport.LamportAlgorithm;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Lamport's queue in three members over sockets and files, as users of its URL see it. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class LamportLocksTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Duration.ofSeconds(10);

    private static final LockKey JOB = LockKey.lock("job");

    @TempDir
    Path directory;

    private TestMembers members;

    @BeforeEach
    void startThree() throws IOException {
        members = new TestMembers(directory, new LamportAlgorithm(), "a", "b", "c");
        members.startAll("abc", TTL, true);
    }

    @AfterEach
    void end() {
        members.close();
    }

    /** A client that is attached to that member. */
    private LockClient at(String letter) {
        return Locks.open("lock:native:lamport://" + members.id(letter) + "/keyway?maxTtl=10s&ttl=10s");
    }

    @Test
    void clientsOfAllMembersExcludeEachOtherAndTokensRise() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        AtomicLong last = new AtomicLong();
        CountDownLatch done = new CountDownLatch(3);
        List<String> wrong = new ArrayList<>();
        List<Thread> users = new ArrayList<>();
        for (String letter : List.of("a", "b", "c")) {
            Thread user = new Thread(() -> {
                try (LockClient client = at(letter)) {
                    for (int i = 0; i < 20; i++) {
                        try (Lease lease = client.lock("job")
                                .tryAcquire(Patience.of(PATIENCE))
                                .orElseThrow()) {
                            if (inside.incrementAndGet() != 1 || last.getAndSet(lease.token()) >= lease.token()) {
                                wrong.add("token " + lease.token());
                            }
                            inside.decrementAndGet();
                        }
                    }
                    done.countDown();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            users.add(user);
            user.start();
        }
        for (Thread user : users) {
            user.join();
        }
        assertThat(done.getCount()).isZero();
        assertThat(wrong).isEmpty();
    }

    @Test
    void aWaiterIsServedWhenTheHolderOfAnotherMemberReleasesOrBreaks() throws Exception {
        try (LockClient one = at("a");
                LockClient two = at("b");
                LockClient three = at("c")) {
            Lease held = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(two.lock("job").tryAcquire()).isEmpty();
            CompletableFuture<Lease> waiting = two.lock("job").acquireAsync().toCompletableFuture();
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> three.admin().show(JOB).orElseThrow().waiters().size() == 1);
            assertThat(three.admin().show(JOB).orElseThrow().holders()).hasSize(1);
            assertThat(three.admin().list("", Optional.empty(), 10).locks()).hasSize(1);
            held.close();
            Lease next = waiting.get();
            assertThat(next.token()).isGreaterThan(held.token());
            assertThat(three.admin().breakLease(JOB, next.token(), "test")).isTrue();
            await().atMost(Patience.of(PATIENCE)).until(() -> !next.isHeld());
            assertThat(three.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
        }
    }

    @Test
    void aMemberThatIsDownBlocksAndIsNamed() throws Exception {
        try (LockClient client = at("a")) {
            client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow().close();
            members.end("c");
            assertThatThrownBy(() -> client.lock("job").tryAcquire())
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining("every member must answer")
                    .hasMessageContaining(members.id("c"));
            assertThatThrownBy(() -> client.lock("job").tryAcquire(Duration.ofSeconds(3)))
                    .isInstanceOf(LockException.class)
                    .hasMessageContaining(members.id("c"));
            CompletableFuture<Lease> waiting = client.lock("job").acquireAsync().toCompletableFuture();
            members.start("c", "abc", TTL, false);
            waiting.get().close();
        }
    }

    @Test
    void membersInTheProcessesOfTheirClientsServeThem() throws Exception {
        try (LockClient client = at("a")) {
            client.lock("job")
                    .tryAcquire(Patience.of(PATIENCE))
                    .orElseThrow()
                    .close(); // all know their list: no quarantine
        }
        List.of("a", "b", "c").forEach(members::end);
        List<LockClient> clients = new ArrayList<>();
        for (String letter : List.of("a", "b", "c")) {
            clients.add(Locks.open("lock:native:lamport://" + String.join(",", members.ids("abc"))
                    + "/keyway?maxTtl=10s&ttl=10s&member=" + members.id(letter) + "&data=" + members.data(letter)));
        }
        try {
            Lease held =
                    clients.get(0).lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(clients.get(1).lock("job").tryAcquire()).isEmpty();
            held.close();
            assertThat(clients.get(2).lock("job").tryAcquire(Patience.of(PATIENCE)))
                    .isPresent();
        } finally {
            clients.forEach(LockClient::close);
        }
    }

    @Test
    void whatAProcessHasHeardOfComesBeforeWhatItAsksElsewhere() throws Exception {
        // A cluster of the same name whose clock is days ahead: as if one member had heard what another has not.
        TestMembers ahead = new TestMembers(directory.resolve("ahead"), new LamportAlgorithm(), "x");
        long epoch = Instant.now().plus(Duration.ofDays(10)).getEpochSecond();
        ahead.floor("x", Tokens.of(epoch - Instant.parse("2020-01-01T00:00:00Z").getEpochSecond(), 0));
        ahead.startAll("x", TTL, true);
        try (ahead;
                LockClient one = Locks.open("lock:native:lamport://" + ahead.id("x") + "/keyway?maxTtl=10s&ttl=10s");
                LockClient other = at("a")) {
            Lease before = one.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            Lease after = other.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(after.token()).isGreaterThan(before.token());
        }
    }

    @Test
    @Tag("soak")
    void whoeverHasToAskAnotherMemberComesAfterWhatItHeardOfTheFormer() throws Exception {
        Duration shortest = Duration.ofSeconds(1);
        TestMembers three = new TestMembers(directory.resolve("three"), new LamportAlgorithm(), "a", "b", "c");
        three.start("a", "abc", shortest, true);
        try (three;
                LockClient client = Locks.open("lock:native:lamport://" + String.join(",", three.ids("abc"))
                        + "/keyway?maxTtl=1s&ttl=1s&connect=eager")) { // it has found the only one that there is
            CompletableFuture<Lease> first = client.lock("job").acquireAsync().toCompletableFuture();
            three.start("b", "abc", shortest, true);
            three.start("c", "abc", shortest, true);
            Lease before = first.get();
            before.close();
            List.of("a", "b", "c").forEach(three::end);
            three.start("b", "bc", shortest, false, "a");
            three.start("c", "bc", shortest, false, "a");
            Lease after = client.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            assertThat(after.token()).isGreaterThan(before.token());
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
        List.of("a", "b", "c").forEach(members::end);
        members.startAll("abc", TTL, false);
        try (LockClient client = at("c")) {
            Optional<Lease> after = client.lock("job").tryAcquire(Patience.of(PATIENCE));
            assertThat(after.orElseThrow().token()).isGreaterThan(before);
        }
    }
}
