// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedLock;
import io.keyway.lock.FenceGuard;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.Locks;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A lock over three members for users who have no transaction: one lease, with one token that rises. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class NodesLockTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    @TempDir
    Path directory;

    private TestMembers members;
    private NodeSet nodes;
    private Duration maxTtl;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start(TestInfo test) throws Exception {
        maxTtl = TestMembers.maxTtl(test);
        members = new TestMembers(directory, "a", "b", "c");
        nodes = NodeSet.of(NodeRule.MAJORITY, members.ids("abc"));
        members.startGranting("abc", maxTtl, true);
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        members.close();
    }

    private LockClient client(String algorithm, String more) {
        LockClient client = Locks.open(url(algorithm, more));
        open.add(client);
        return client;
    }

    private String url(String algorithm, String more) {
        return "lock:native:" + algorithm + "//" + String.join(",", nodes.nodes()) + "/keyway?closeTimeout=1s&"
                + TestMembers.limits(maxTtl) + more;
    }

    private LockClient client() {
        return client("", "");
    }

    /** A client whose links to each member can be cut. */
    private LockClient client(List<ServerProxies> links) throws Exception {
        Map<String, String> addresses = new HashMap<>();
        for (String node : nodes.nodes()) {
            ServerProxies link = ServerProxies.before(List.of(node));
            open.add(link);
            links.add(link);
            addresses.putAll(link.addresses());
        }
        return client("", "&" + AddressMap.OPTION.name() + "=" + new AddressMap(addresses));
    }

    private LockKey part(int node) {
        return LockKey.lock(NodeParts.part(LockName.of("x"), nodes.nodes().get(node)));
    }

    /**
     * After {a: 100, b: 5} comes {b: 6, c: 1}: the highest of a majority's tokens need not rise by itself. Two clients
     * in turn, each time with another node cut off, and members whose epochs are far from each other.
     */
    @ParameterizedTest
    @ValueSource(longs = 1)
    void itsTokenRisesWhicheverMajorityGrants(long seed) throws Exception {
        Random random = new Random(seed);
        for (String letter : List.of("c", "c", "a")) {
            members.end(letter);
            members.start(letter, "abc", maxTtl, false);
        }
        List<List<ServerProxies>> links = List.of(new ArrayList<>(), new ArrayList<>());
        List<LockClient> clients = List.of(client(links.get(0)), client(links.get(1)));
        long before = 0;
        for (int turn = 0; turn < 12; turn++) {
            int who = random.nextInt(2);
            List<ServerProxies> own = links.get(who);
            int cut = random.nextInt(4);
            for (int node = 0; node < own.size(); node++) {
                own.get(node).all(node == cut ? FaultProxy::blackHole : FaultProxy::heal);
            }
            Lease lease = clients.get(who)
                    .lock("x", nodes)
                    .tryAcquire(Patience.of(PATIENCE))
                    .orElseThrow();
            assertThat(lease.token())
                    .as("turn %s, by %s without %s", turn, who, cut)
                    .isGreaterThan(before);
            lease.ensureHeld();
            before = lease.token();
            own.forEach(link -> link.all(FaultProxy::heal));
            lease.release();
        }
    }

    /** As of a program that releases it in a dependent of a future, or in a listener. */
    @Test
    void itIsReleasedOnTheEventExecutorToo() throws Exception {
        ExecutorService events = Executors.newSingleThreadExecutor();
        open.add(0, events::shutdown);
        LockClient client =
                Locks.open(url("", "&cache=off"), ClientOptions.defaults().withEventExecutor(events));
        open.add(0, client);
        Lease lease = client.lock("x", nodes).acquire();
        LockTransaction transaction = client.transaction();
        transaction.lockAll(List.of(LockRequest.exclusive("y").at(nodes)));
        Future<ReleaseOutcome> released = events.submit(lease::release);
        assertThat(released.get(Patience.seconds(60), TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        events.submit(transaction::close).get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(client.lock("x", nodes).tryAcquire()).isPresent();
    }

    /** What the raised tokens are for, over restarts of all members, the one with the highest epoch first. */
    @Test
    void itsTokenRisesOverRestarts() throws Exception {
        long before = 0;
        for (String letter : List.of("a", "a", "b", "c", "b")) {
            members.end(letter);
            members.start(letter, "abc", maxTtl, false);
            try (Lease lease =
                    client().lock("x", nodes).tryAcquire(Patience.of(PATIENCE)).orElseThrow()) {
                assertThat(lease.token()).as("after a restart of " + letter).isGreaterThan(before);
                before = lease.token();
            }
        }
    }

    /** The same client takes it again from no cache: its next token would be one that the nodes have passed. */
    @ParameterizedTest
    @ValueSource(strings = {"", "agent:"})
    @Tag(TestMembers.LASTING)
    void whoTakesItAgainHasAHigherToken(String algorithm) throws Exception {
        LockClient client = client(algorithm, "");
        long before = 0;
        for (int i = 0; i < 20; i++) {
            try (Lease lease = client.lock("x", nodes).acquire()) {
                assertThat(lease.token()).isGreaterThan(before);
                before = lease.token();
            }
        }
    }

    /** The client that has released it has it in its cache, at each node, until somebody asks. */
    @ParameterizedTest
    @ValueSource(strings = {"", "agent:"})
    @Tag(TestMembers.LASTING)
    void aTryWithoutWaitingGetsWhatNobodyHolds(String algorithm) throws Exception {
        LockClient former = client(algorithm, "");
        DistributedLock lock = client(algorithm, "").lock("x", nodes);
        try (LockTransaction transaction = former.transaction()) {
            transaction.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
        }
        try (Lease lease = lock.tryAcquire().orElseThrow()) {
            assertThat(lease.state()).isEqualTo(Lease.State.HELD);
            assertThat(former.lock("x", nodes).tryAcquire()).isEmpty();
        }
        assertThat(former.lock("x", nodes).tryAcquire()).isPresent();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "agent:"})
    @Tag(TestMembers.LASTING)
    void itIsTheLockOfATransactionOverTheSameNodes(String algorithm) throws Exception {
        LockClient holder = client(algorithm, "");
        DistributedLock lock = client(algorithm, "").lock("x", nodes);
        try (LockTransaction transaction = holder.transaction()) {
            transaction.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
            assertThat(lock.tryAcquire()).isEmpty();
            assertThat(lock.tryAcquire(Patience.of(Duration.ofMillis(500)))).isEmpty();
        }
        Lease lease = lock.tryAcquire().orElseThrow();
        assertThat(lease.name()).isEqualTo(LockName.of("x"));
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(holder.lock("x", nodes).tryAcquire()).isEmpty();
        lease.release();
        assertThat(holder.lock("x", nodes).tryAcquire()).isPresent();
    }

    @Test
    void itGoesOnWithoutOneMemberAndEndsWithTwo() throws Exception {
        LockClient client = client();
        members.end("b");
        Lease lease = client.lock("x", nodes).tryAcquire(Patience.of(PATIENCE)).orElseThrow();
        members.end("c");
        lease.lost().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThatThrownBy(lease::ensureHeld).isInstanceOf(LeaseLostException.class);
        CompletableFuture<Lease> waits = client.lock("x", nodes).acquireAsync();
        members.start("c", "abc", maxTtl, false);
        assertThat(waits.get(Patience.seconds(60), TimeUnit.SECONDS).token()).isGreaterThan(lease.token());
    }

    /** Nobody is left in a queue, and nothing is held, by who gave up. */
    @Test
    @Tag(TestMembers.LASTING)
    void whoGivesUpLeavesNothingBehind() throws Exception {
        LockClient client = client();
        LockClient other = client();
        Lease held = client.lock("x", nodes).acquire();
        CompletableFuture<Lease> waits = other.lock("x", nodes).acquireAsync();
        await().atMost(Patience.of(PATIENCE))
                .until(() -> client.admin()
                        .show(part(0))
                        .filter(status -> status.waiters().size() == 1)
                        .isPresent());
        waits.cancel(false);
        held.release();
        await().atMost(Patience.of(PATIENCE)).until(() -> {
            boolean empty = true;
            for (int node = 0; node < 3; node++) {
                empty &= client.admin().show(part(node)).isEmpty();
            }
            return empty;
        });
        other.lock("x", nodes).tryAcquire().orElseThrow().release();
    }

    /** The programs of the docs. */
    @Test
    void theExamplesWork() throws Exception {
        FenceGuard guard = FenceGuard.inMemory();
        Lease late = client().lock("ledger/month", nodes).acquire();
        late.release();
        members.end("b");
        assertThat(NodeSetsExample.closeByToken(client(), nodes.nodes(), guard)).isTrue();
        assertThat(guard.admits(late)).isFalse();

        List<String> done = new ArrayList<>();
        NodeSetsExample.serve(client(), nodes.nodes(), () -> done.add("scheduled"));
        assertThat(done).containsExactly("scheduled");
    }
}
