// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Members of a bakery that come and go over sockets, while users hold, wait for and take locks. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class ElasticBakeryTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration TTL = Patience.lease(Duration.ofSeconds(4));

    @TempDir
    private Path directory;

    private TestMembers members;

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, new BakeryAlgorithm(), "a", "b", "c", "d", "e");
        members.startAll("abcd", TTL, true);
    }

    @AfterEach
    void end() {
        members.close();
    }

    private LockClient at(String letters) {
        return Locks.open("lock:native:bakery://" + String.join(",", members.ids(letters)) + "/keyway?maxTtl="
                + TTL.toMillis() + "ms&ttl=" + TTL.toMillis() + "ms");
    }

    @Test
    void aMemberComesAndALeaderAndAnotherOneGoWhileLocksAreHeldAndWaitedFor() throws Exception {
        try (LockClient holder = at("b");
                LockClient waiter = at("c");
                LockClient stale = at("a");
                LockClient operator = at("bc")) {
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            assertThat(list.list(Patience.of(PATIENCE))).isEqualTo(members.ids("abcd"));
            assertThat(stale.lock("other").tryAcquire(Patience.of(PATIENCE))).isPresent(); // and so it is attached to a
            Lease held = holder.lock("job").tryAcquire(Patience.of(PATIENCE)).orElseThrow();
            CompletableFuture<Lease> waiting = waiter.lock("job").acquireAsync().toCompletableFuture();
            members.start("e", "abcd", TTL, false);

            assertThat(list.add(members.id("e"), Patience.of(PATIENCE)))
                    .hasSize(5)
                    .endsWith(members.id("e"));
            assertThat(list.remove(members.id("d"), Patience.of(PATIENCE)))
                    .as("no leader")
                    .doesNotContain(members.id("d"));
            assertThat(list.remove(members.id("a"), Patience.of(PATIENCE)))
                    .as("a leader")
                    .hasSize(3)
                    .doesNotContain(members.id("a"));

            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("a") && members.hasEnded("d"));
            try (LockClient late = at("ab");
                    LockClient atNew = at("e")) {
                assertThat(atNew.lock("new").tryAcquire(Patience.of(PATIENCE))).isPresent();
                assertThat(stale.lock("stale").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
                assertThat(late.lock("late").tryAcquire(Patience.of(PATIENCE))).isPresent();
                assertThat(late.unwrap(ClusterMembers.class).list(Patience.of(PATIENCE)))
                        .containsExactlyInAnyOrder(members.id("b"), members.id("c"), members.id("e"));
                assertThat(held.isHeld()).isTrue();
                assertThat(waiting).isNotDone();
                assertThat(late.lock("job").tryAcquire()).as("it is held").isEmpty();
            }
            held.close();
            Lease next = waiting.get();
            assertThat(next.token()).isGreaterThan(held.token());
            next.close();
        }
    }

    private void removeD() throws Exception {
        for (String each : List.of("a", "b", "c", "d")) {
            try (LockClient client = at(each)) { // all have opened
                assertThat(client.lock("first").tryAcquire(Patience.of(PATIENCE)))
                        .isPresent();
            }
        }
        try (LockClient operator = at("a")) {
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            members.end("d");
            assertThat(list.remove(members.id("d"), Patience.of(PATIENCE))).hasSize(3);
        }
    }

    @Test
    void aMemberThatComesBackSoonHearsThatItWasRemoved() throws Exception {
        removeD();
        members.start("d", "abcd", TTL, false);
        await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("d"));
    }

    @Test
    @Tag("soak") // it waits for a time that is not virtual here
    void aMemberThatComesBackLateSendsItsClientsAway() throws Exception {
        removeD();
        Duration talkedTo = Duration.ofSeconds(12);
        await().pollDelay(talkedTo).atMost(Patience.of(PATIENCE)).until(() -> true);
        members.start("d", "abcd", TTL, false);
        try (LockClient none = at("d");
                LockClient some = at("ad")) {
            await().atMost(Patience.of(PATIENCE))
                    .untilAsserted(
                            () -> assertThatThrownBy(() -> none.lock("job").tryAcquire(Duration.ofMillis(500)))
                                    .hasMessageContaining(members.id("d") + " is no member: the members are "));
            assertThat(some.lock("job").tryAcquire(Patience.of(PATIENCE))).isPresent();
            assertThat(members.hasEnded("d")).isFalse();
        }
    }

    /** What its members must agree on beside the list. */
    @Test
    void aMemberThatSaysAnotherNumberOfLeadersDoesNotJoin() throws Exception {
        try (TestMembers other = new TestMembers(
                        directory.resolve("other"),
                        new BakeryAlgorithm().electing(OptionalInt.of(1), OptionalInt.empty()),
                        members);
                LockClient operator = at("a")) {
            other.start("e", "abcd", TTL, false);
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            assertThat(list.list(Patience.of(PATIENCE))).hasSize(4);
            assertThatIllegalArgumentException().isThrownBy(() -> list.add("nonsense", PATIENCE));
            assertThatThrownBy(() -> list.add(members.id("e"), Duration.ofSeconds(3)))
                    .hasMessageContaining(members.id("e") + " does not answer");
        }
    }
}
