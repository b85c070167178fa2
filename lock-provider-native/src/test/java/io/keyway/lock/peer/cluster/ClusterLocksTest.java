// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.Opening;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What restarts of members do to users, over real sockets and files. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class ClusterLocksTest {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final int NAMES = 40;

    @TempDir
    Path directory;

    private TestMembers members;

    @BeforeEach
    void startThree() throws IOException {
        members = new TestMembers(directory, "a", "b", "c");
    }

    @AfterEach
    void end() {
        members.close();
    }

    private void startAll(Duration maxTtl) throws IOException {
        List<ClusterMember> all = members.startAll("abc", maxTtl, true);
        await().atMost(Patience.of(PATIENCE)).until(() -> all.stream().noneMatch(ClusterMember::quarantined));
    }

    private String url(String more) {
        return "lock:native://" + String.join(",", members.ids("abc")) + "/keyway?maxTtl=" + more;
    }

    private static List<Lease> acquireAll(LockClient client) throws InterruptedException {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < NAMES; i++) {
            leases.add(
                    client.lock("name-" + i).tryAcquire(Patience.of(PATIENCE)).orElseThrow());
        }
        return leases;
    }

    @Test
    void whatIsKeptForNobodyIsKeptWhenAllMembersEndInOrderAndStartAgain() throws Exception {
        startAll(HOUR);
        try (LockClient client = Locks.open(url("1h"))) {
            LockOptions options = LockOptions.none().withHoldAtLeast(Duration.ofMinutes(50));
            client.lock("job").with(options).acquire().close();
        }
        for (String letter : List.of("a", "b", "c")) {
            members.end(letter);
        }
        List<ClusterMember> all = members.startAll("abc", HOUR, false);
        await().atMost(Patience.of(PATIENCE)).until(() -> all.stream().noneMatch(ClusterMember::quarantined));
        try (LockClient client = Locks.open(url("1h"))) {
            assertThat(client.lock("job").tryAcquire()).isEmpty();
            assertThat(acquireAll(client)).allMatch(Lease::isHeld);
        }
    }

    @Test
    void holdersKeepTheirLocksWhenAllMembersEndInOrderAndStartAgain() throws Exception {
        startAll(HOUR);
        try (LockClient holder = Locks.open(url("1h&ttl=1h"));
                LockClient other = Locks.open(url("1h&ttl=1h"))) {
            List<Lease> leases = acquireAll(holder);
            for (String letter : List.of("a", "b", "c")) {
                members.end(letter);
                assertThat(members.start(letter, "abc", HOUR, false).quarantined())
                        .isFalse();
            }
            for (int i = 0; i < NAMES; i++) {
                assertThat(other.lock("name-" + i).tryAcquire()).as("name-" + i).isEmpty();
                assertThat(leases.get(i).isHeld()).isTrue();
            }
            assertThat(other.lock("free").tryAcquire(Patience.of(PATIENCE))).isPresent();
            long token = leases.get(0).token();
            leases.forEach(Lease::close);
            Optional<Lease> next = other.lock("name-0").tryAcquire(Patience.of(PATIENCE));
            assertThat(next).isPresent();
            assertThat(next.get().token()).isGreaterThan(token);
        }
    }

    @Test
    void aMemberThatEndedWithoutAWordGrantsAgainWhenItsLeasesAreOver() throws Exception {
        startAll(Duration.ofSeconds(1));
        try (LockClient holder = Locks.open(url("1s&ttl=1s"));
                LockClient other = Locks.open(url("1s&ttl=1s"))) {
            List<Lease> leases = acquireAll(holder);
            Files.delete(members.data("b").resolve("host.lock"));
            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("b"));
            ClusterMember again = members.start("b", "abc", Duration.ofSeconds(1), false);
            await().atMost(Patience.of(PATIENCE)).until(() -> !again.quarantined());
            for (int i = 0; i < NAMES; i++) {
                Optional<Lease> taken = other.lock("name-" + i).tryAcquire();
                assertThat(taken.isPresent() && leases.get(i).isHeld())
                        .as("name-%s is held twice", i)
                        .isFalse();
                taken.ifPresent(Lease::close);
            }
            leases.forEach(Lease::close);
            assertThat(acquireAll(other)).hasSize(NAMES);
        }
    }

    @Test
    void whoWaitsAtAMemberThatStartedAnewLearnsForHowLong() throws Exception {
        startAll(HOUR);
        try (LockClient holder = Locks.open(url("1h&ttl=1h"))) {
            assertThat(acquireAll(holder)).hasSize(NAMES);
            Files.delete(members.data("b").resolve("host.lock"));
            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded("b"));
        }
        assertThat(members.start("b", "abc", HOUR, false).quarantined()).isTrue();
        MemberList list =
                new MemberList(members.ids("abc").stream().map(NodeId::parse).toList());
        String name = IntStream.iterate(0, i -> i + 1)
                .mapToObj(i -> "free-" + i)
                .filter(each -> list.owner(each).toString().equals(members.id("b")))
                .findFirst()
                .orElseThrow();
        try (LockClient client = Locks.open(url("1h"))) {
            Opening.Watch watch = client.unwrap(Opening.Watch.class);
            assertThat(watch.of(LockName.of(name))).isEmpty();
            CompletableFuture<Lease> waiting = client.lock(name).acquireAsync();
            await().atMost(Patience.of(PATIENCE))
                    .until(() -> watch.of(LockName.of(name)).isPresent());
            Opening opening = watch.of(LockName.of(name)).orElseThrow();
            assertThat(opening.toString())
                    .matches(members.id("b")
                            + " was just started, or has taken over, and grants nothing for another \\d+s");
            assertThat(opening.left()).isBetween(Duration.ofMinutes(50), Duration.ofMinutes(65));
            assertThat(waiting).isNotDone();
        }
    }

    @Test
    void anApplicationHostsAMemberUntilItsLastClientCloses() throws Exception {
        members.start("a", "abc", HOUR, true);
        members.start("b", "abc", HOUR, true);
        String here = url("1h&ttl=1h") + "&member=" + members.id("c") + "&data=" + members.data("c");
        LockClient first = Locks.open(here);
        try (LockClient second = Locks.open(here)) {
            first.close();
            assertThat(members.data("c").resolve("host.info")).exists();
            assertThat(second.url().toString()).contains("member=");
        }
        assertThat(members.data("c").resolve("host.info")).doesNotExist();
    }
}
