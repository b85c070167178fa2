// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.DeadlockException;
import io.keyway.lock.Lease;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.tck.process.Patience;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Three members whose names are in six groups, each with a leader of its own. */
@Execution(ExecutionMode.CONCURRENT)
class FailoverShardsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration LONGEST = Duration.ofSeconds(20);
    private static final int SHARDS = 6;

    @TempDir
    Path directory;

    private TestMembers members;

    private void start() throws IOException {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c", "d");
        members.shards(SHARDS);
        members.startAll("abc", LONGEST, true);
    }

    @AfterEach
    void end() {
        members.close();
    }

    private LockClient open() {
        return open("");
    }

    private LockClient open(String options) {
        return Locks.open("lock:native:failover://" + String.join(",", members.ids("abc"))
                + "/keyway?maxTtl=20s&ttl=20s" + options);
    }

    /** A name of each group. */
    private static List<String> names(String prefix) {
        Map<Integer, String> names = new TreeMap<>();
        for (int i = 0; names.size() < SHARDS; i++) {
            String name = prefix + i;
            names.putIfAbsent(MemberList.shard(name, SHARDS), name);
        }
        return List.copyOf(names.values());
    }

    /** The leader of that group, as all members that run have heard. */
    private String leader(int shard) {
        return await().atMost(Patience.of(PATIENCE)).until(() -> members.leader(shard), leader -> !leader.isEmpty());
    }

    /** How many groups each of them leads. */
    private Map<String, Integer> leads() {
        Map<String, Integer> leads = new HashMap<>();
        for (int shard = 0; shard < SHARDS; shard++) {
            leads.merge(leader(shard), 1, Integer::sum);
        }
        return leads;
    }

    private static Lease take(LockClient client, String name) throws InterruptedException {
        return client.lock(name).tryAcquire(Patience.of(PATIENCE)).orElseThrow();
    }

    @Test
    void membersLeadAsManyGroupsAndTheGroupsOfALostOneGoToAllOthers() throws Exception {
        start();
        assertThat(leads()).isEqualTo(Map.of("a", 2, "b", 2, "c", 2));
        members.end("b");
        await().atMost(Patience.of(PATIENCE))
                .untilAsserted(() -> assertThat(leads()).isEqualTo(Map.of("a", 3, "c", 3)));
        members.start("b", "abc", LONGEST, false);
        await().atMost(Patience.of(PATIENCE))
                .untilAsserted(() -> assertThat(leads()).isEqualTo(Map.of("a", 2, "b", 2, "c", 2)));
    }

    @Test
    void eachNameHasOneHolderWhicheverClientAsks() throws Exception {
        start();
        List<String> names = names("job-");
        try (LockClient one = open();
                LockClient two = open("&cache=off")) {
            List<Lease> held = new ArrayList<>();
            for (String name : names) {
                held.add(take(one, name));
            }
            List<CompletableFuture<Lease>> waiting = new ArrayList<>();
            for (String name : names) {
                assertThat(two.lock(name).tryAcquire()).isEmpty();
                waiting.add(two.lock(name).acquireAsync().toCompletableFuture());
            }
            LockPage page = two.admin().list("job-", Optional.empty(), 100);
            assertThat(page.locks().stream().map(each -> each.key().name().toString()))
                    .containsExactlyElementsOf(names.stream().sorted().toList());
            LockPage three = two.admin().list("job-", Optional.empty(), 3);
            assertThat(three.locks()).hasSize(3);
            assertThat(two.admin().list("job-", three.next(), 100).locks()).hasSize(3);
            Lease broken = held.remove(3);
            LockKey key = LockKey.lock(names.get(3));
            assertThat(two.admin().show(key).orElseThrow().waiters()).hasSize(1);
            assertThat(two.admin().breakLease(key, broken.token(), "test")).isTrue();
            await().atMost(Patience.of(PATIENCE)).until(() -> !broken.isHeld());
            held.forEach(Lease::close);
            held.add(3, broken);
            for (int i = 0; i < SHARDS; i++) {
                Lease next = waiting.get(i).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(next.token()).isGreaterThan(held.get(i).token());
            }
        }
    }

    /** Its group has another leader; those of the other members do not notice anything. */
    @Test
    void whoHoldsALockOfALostLeaderKeepsItAndOtherNamesGoOn() throws Exception {
        start();
        List<String> names = names("job-");
        try (LockClient one = open("&cache=off");
                LockClient two = open("&cache=off")) {
            List<Lease> held = new ArrayList<>();
            for (String name : names) {
                held.add(take(one, name));
            }
            for (String free : names("free-")) {
                take(two, free).close();
            }
            String lost = leader(2);
            List<String> others = new ArrayList<>();
            for (int shard = 0; shard < SHARDS; shard++) {
                if (!leader(shard).equals(lost)) {
                    others.add(names("free-").get(shard));
                }
            }
            assertThat(others).hasSize(4);
            members.end(lost);
            for (String name : others) {
                two.lock(name).tryAcquire().orElseThrow().close(); // without any time to wait
            }
            take(two, names("free-").get(2)).close();
            assertThat(leader(2)).isNotEqualTo(lost);
            for (String name : names) {
                assertThat(two.lock(name).tryAcquire()).as(name).isEmpty();
            }
            // Its belief ends 15 s after the last word of a leader that it has answered.
            Lease kept = held.get(2);
            await().atMost(Patience.of(PATIENCE)).until(() -> kept.remaining().compareTo(Duration.ofSeconds(14)) > 0);
            assertThat(held).allMatch(Lease::isHeld);
            held.forEach(Lease::close);
            for (int i = 0; i < SHARDS; i++) {
                assertThat(take(two, names.get(i)).token())
                        .isGreaterThan(held.get(i).token());
            }
        }
    }

    @Test
    void allMembersStartAgainWithTheRecordsOfTheirCells() throws Exception {
        start();
        List<String> names = names("job-");
        List<Long> tokens = new ArrayList<>();
        try (LockClient one = open()) {
            for (String name : names) {
                tokens.add(take(one, name).token());
            }
        }
        for (int i = 1; i < SHARDS; i++) {
            assertThat(members.data("a").resolve("records-" + i)).exists();
        }
        for (String letter : List.of("a", "b", "c")) {
            members.end(letter);
        }
        members.startAll("abc", LONGEST, false);
        try (LockClient one = open()) {
            for (int i = 0; i < SHARDS; i++) {
                assertThat(take(one, names.get(i)).token()).isGreaterThan(tokens.get(i));
            }
        }
    }

    @Test
    void aTransactionHasLocksOfAllGroupsAndACircleIsResolved() throws Exception {
        start();
        List<String> names = names("job-");
        ExecutorService threads = Executors.newFixedThreadPool(SHARDS);
        List<LockClient> clients = new ArrayList<>();
        try {
            for (int i = 0; i < SHARDS; i++) {
                clients.add(open());
            }
            try (LockTransaction all = clients.get(0).transaction()) {
                all.lockAsync(names.stream().map(LockRequest::exclusive).toList());
                assertThat(all.awaitAll(Patience.of(PATIENCE))).isTrue();
            }
            List<LockTransaction> ring = new ArrayList<>();
            for (int i = 0; i < SHARDS; i++) {
                ring.add(clients.get(i).transaction());
                ring.get(i).lock(names.get(i));
            }
            List<Future<Boolean>> victims = new ArrayList<>();
            for (int i = 0; i < SHARDS; i++) {
                LockTransaction transaction = ring.get(i);
                String next = names.get((i + 1) % SHARDS);
                victims.add(threads.submit(() -> {
                    try (transaction) {
                        transaction.lock(next);
                        transaction.ensureHeld();
                        return false;
                    } catch (DeadlockException e) {
                        return true;
                    }
                }));
            }
            int count = 0;
            for (Future<Boolean> victim : victims) {
                count += victim.get(PATIENCE.toSeconds(), TimeUnit.SECONDS) ? 1 : 0;
            }
            assertThat(count).as("victims of one circle").isEqualTo(1);
        } finally {
            threads.shutdownNow();
            clients.forEach(LockClient::close);
        }
    }

    /** Names are in other groups then, of which nobody knows what was promised in the former ones. */
    @Test
    void anotherNumberOfShardsCountsWhenAllMembersRunWithIt() throws Exception {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c");
        members.shards(SHARDS);
        Duration longest = Patience.lease(Duration.ofSeconds(2));
        members.startAll("abc", longest, true);
        List<String> names = names("job-");
        List<Long> tokens = new ArrayList<>();
        String url = "lock:native:failover://" + String.join(",", members.ids("abc")) + "/keyway?cache=off&maxTtl="
                + longest.toMillis() + "ms&ttl=" + longest.toMillis() + "ms";
        try (LockClient client = Locks.open(url)) {
            for (String name : names) {
                tokens.add(take(client, name).token());
            }
            members.end("a");
            members.end("b");
            members.shards(2);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> members.start("a", "ab", longest, false, "c"))
                    .withMessageContaining("its list was " + String.join(",", members.ids("abc")));
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> members.start("a", "bc", longest, false))
                    .withMessageContaining("not with --join");
            members.start("a", "abc", longest, false);
            ClusterMember b = members.start("b", "abc", longest, false);
            await().during(longest.multipliedBy(2))
                    .atMost(Patience.of(PATIENCE))
                    .until(() -> b.leaders().isEmpty() && b.waits().contains(members.id("c")));
            members.end("c");
            members.start("c", "abc", longest, false);
            for (int i = 0; i < SHARDS; i++) {
                assertThat(take(client, names.get(i)).token()).as(names.get(i)).isGreaterThan(tokens.get(i));
            }
        }
    }

    @Test
    void aMachineIsReplacedInAllGroupsWhileLocksAreHeld() throws Exception {
        start();
        List<String> names = names("job-");
        try (LockClient holder = open("&cache=off");
                LockClient operator = open()) {
            ClusterMembers list = operator.unwrap(ClusterMembers.class);
            List<Lease> held = new ArrayList<>();
            for (String name : names) {
                held.add(take(holder, name));
            }
            members.start("d", "abc", LONGEST, false);
            assertThat(list.add(members.id("d"), PATIENCE)).hasSize(4).contains(members.id("d"));
            String lost = leader(1);
            assertThat(list.remove(members.id(lost), PATIENCE)).hasSize(3).doesNotContain(members.id(lost));
            await().atMost(Patience.of(PATIENCE)).until(() -> members.hasEnded(lost));
            for (int shard = 0; shard < SHARDS; shard++) {
                assertThat(leader(shard)).as("shard %s", shard).isNotEqualTo(lost);
            }
            for (Lease lease : held) {
                await().atMost(Patience.of(PATIENCE))
                        .until(() -> lease.remaining().compareTo(Duration.ofSeconds(14)) > 0);
                assertThat(lease.isHeld()).isTrue();
            }
            // With d two of three are left: all groups count by the list with it.
            members.end("abc".replace(lost, "").substring(0, 1));
            for (int i = 0; i < SHARDS; i++) {
                held.get(i).close();
                take(operator, names.get(i)).close();
            }
        }
    }

    /** More connections than a member takes from one address at once. */
    @Test
    void thereAreAsManyGroupsAsThereMayBe() throws Exception {
        members = new TestMembers(directory, new FailoverAlgorithm(), "a", "b", "c");
        members.shards(Membership.MAX_SHARDS);
        members.startAll("abc", LONGEST, true);
        try (LockClient client = open()) {
            for (int i = 0; i < 2 * Membership.MAX_SHARDS; i++) {
                take(client, "job-" + i).close();
            }
        }
        for (int shard = 0; shard < Membership.MAX_SHARDS; shard++) {
            assertThat(leader(shard)).isNotEmpty();
        }
    }
}
