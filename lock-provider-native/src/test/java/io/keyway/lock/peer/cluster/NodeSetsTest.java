// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.AddressMap;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.Feature;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.LockUrl;
import io.keyway.lock.Locks;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.tck.proxy.ServerProxies;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** Locks over several of three members: what is granted, refused and lost, and never to two. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class NodeSetsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final int USERS = 3;

    @TempDir
    Path directory;

    private TestMembers members;
    private List<String> nodes;
    private Duration maxTtl;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start(TestInfo test) throws Exception {
        maxTtl = TestMembers.maxTtl(test);
        members = new TestMembers(directory, "a", "b", "c");
        nodes = members.ids("abc");
        members.startGranting("abc", maxTtl, true);
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : open) {
            each.close();
        }
        members.close();
    }

    private String url(String algorithm) {
        return "lock:native:" + algorithm + "//" + String.join(",", nodes) + "/keyway?closeTimeout=1s&"
                + TestMembers.limits(maxTtl);
    }

    private LockClient client(LockUrl url) {
        LockClient client = Locks.open(url.reveal());
        open.add(client);
        return client;
    }

    private LockClient client() {
        return client(LockUrl.parse(url("")));
    }

    private static void until(BooleanSupplier condition) {
        await().atMost(Patience.of(PATIENCE)).until(condition::getAsBoolean);
    }

    /** The id of the node with that place in the order in which nodes are asked. */
    private String node(int place) {
        return nodes.stream().sorted().toList().get(place);
    }

    private String letter(int place) {
        return List.of("a", "b", "c").stream()
                .filter(each -> members.id(each).equals(node(place)))
                .findFirst()
                .orElseThrow();
    }

    private static LockKey part(String name, String node) {
        return LockKey.lock(NodeParts.part(LockName.of(name), node));
    }

    private LockRequest exclusive(String name, NodeRule rule) {
        return LockRequest.exclusive(name).at(NodeSet.of(rule, nodes));
    }

    private static int waiters(LockClient observer, LockKey key) {
        try {
            return observer.admin()
                    .show(key)
                    .map(status -> status.waiters().size())
                    .orElse(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static int holders(LockClient observer, LockKey key) {
        try {
            return observer.admin()
                    .show(key)
                    .map(status -> status.holders().size())
                    .orElse(0);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The source: three nodes and all. */
    @Test
    @Tag(TestMembers.LASTING)
    void scenario15AllNeedsEachNode() throws Exception {
        LockTransaction all = client().transaction();
        all.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.ALL);
        for (String node : nodes) {
            assertThat(holders(client(), part("x", node))).isEqualTo(1);
        }
        LockTransaction second = client().transaction();
        second.lockAsync(List.of(exclusive("x", NodeRule.ALL)));
        assertThat(second.awaitAll(Duration.ofMillis(200))).isFalse();
        long token = all.token("x");
        assertThat(all.unlock("x")).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(second.awaitAll(Patience.of(PATIENCE))).isTrue();
        assertThat(second.token("x")).isGreaterThan(token);
    }

    /** Otherwise it would be given back with the lock over nodes. */
    @Test
    void aLockOfItsOwnIsNoPart() throws Exception {
        LockTransaction transaction = client().transaction();
        String own = part("x", node(0)).name().value();
        transaction.lock(own);
        assertThatThrownBy(() -> transaction.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(own + " is in this transaction as a lock of its own");
        transaction.unlock(own);
        transaction.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        assertThat(transaction.tokens("x")).containsKey(node(0));
        LockTransaction both = client().transaction();
        List<LockRequest> requests = List.of(exclusive("x", NodeRule.MAJORITY), LockRequest.exclusive(own));
        assertThatThrownBy(() -> both.lockAsync(requests)).isInstanceOf(IllegalStateException.class);
    }

    /** The source: a dead node with a majority and with any; readers at two nodes share. */
    @Test
    void scenario15AMajorityOrAnyDoesWithoutADeadNode() throws Exception {
        members.end(letter(0));
        LockTransaction majority = client().transaction();
        majority.lock("y", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        majority.ensureHeld();
        assertThat(majority.tokens("y")).containsOnlyKeys(node(1), node(2));
        LockTransaction one = client().transaction();
        LockTransaction two = client().transaction();
        one.lock("z", LockMode.SHARED, nodes, NodeRule.ANY);
        two.lock("z", LockMode.SHARED, nodes, NodeRule.ANY);
        one.ensureHeld();
        two.ensureHeld();

        LockTransaction none = client().transaction();
        assertThatThrownBy(() -> none.lock("w", LockMode.EXCLUSIVE, nodes, NodeRule.ALL))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(node(0))
                .hasMessageNotContaining("from " + node(1));
        assertThat(none.status()).isEqualTo(Status.NO_LOCKS);
        assertThat(waiters(client(), part("w", node(1)))).isZero();
    }

    /** The source grants on both sides of a split, by rules that count the nodes which each side takes for alive. */
    @Test
    void scenario30RulesThatCountTheNodesThatAreAliveAreRefusedAndSoIsAnyToWriters() {
        for (String alive : List.of("majority_alive", "all_alive", "ALL-ALIVE")) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> NodeRule.of(alive))
                    .withMessageContaining("on each side of a split net")
                    .withMessageContaining("MAJORITY");
        }
        assertThat(NodeRule.of("majority")).isEqualTo(NodeRule.MAJORITY);
        LockTransaction transaction = client().transaction();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transaction.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.ANY))
                .withMessageContaining("on each side of a split net");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> transaction.lock("x", LockMode.EXCLUSIVE, List.of(), NodeRule.ALL));
        assertThat(transaction.status()).isEqualTo(Status.NO_LOCKS);
    }

    @Test
    @Tag(TestMembers.LASTING)
    void theListAndTheRuleBelongToTheLock() throws Exception {
        LockTransaction holder = client().transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        for (NodeSet other :
                List.of(NodeSet.of(NodeRule.ALL, nodes), NodeSet.of(NodeRule.MAJORITY, List.of(node(0), node(2))))) {
            LockTransaction transaction = client().transaction();
            assertThatThrownBy(() -> transaction.lock("x", LockMode.EXCLUSIVE, other.nodes(), other.rule()))
                    .isInstanceOfSatisfying(
                            LockUnavailableException.class,
                            e -> assertThat(e.retryable()).isFalse())
                    .hasMessageContaining("belong to the lock");
            assertThat(transaction.status()).isEqualTo(Status.NO_LOCKS);
        }
        assertThatIllegalStateException().isThrownBy(() -> holder.lockAsync(List.of(exclusive("x", NodeRule.ALL))));
        LockTransaction stranger = client().transaction();
        assertThatThrownBy(() -> stranger.lock("y", LockMode.EXCLUSIVE, List.of("nobody:1"), NodeRule.ALL))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining(node(0));
        holder.ensureHeld();
    }

    /** Readers at any node and writers at all of them are of one lock. */
    @Test
    @Tag(TestMembers.LASTING)
    void aReaderAtAnyNodeKeepsOutTheWriterAtAll() throws Exception {
        LockTransaction reader = client().transaction();
        reader.lock("x", LockMode.SHARED, nodes, NodeRule.ANY);
        assertThat(reader.tokens("x")).hasSize(1);
        LockTransaction writer = client().transaction();
        writer.lockAsync(List.of(exclusive("x", NodeRule.ALL)));
        assertThat(writer.awaitAll(Duration.ofMillis(200))).isFalse();
        reader.close();
        assertThat(writer.awaitAll(Patience.of(PATIENCE))).isTrue();
        LockTransaction late = client().transaction();
        late.lockAsync(List.of(LockRequest.shared("x").at(NodeSet.of(NodeRule.ANY, nodes))));
        assertThat(late.awaitAll(Duration.ofMillis(200))).isFalse();
        writer.close();
        assertThat(late.awaitAll(Patience.of(PATIENCE))).isTrue();
    }

    @Test
    void aNodeThatIsBackIsAskedByWhoHasTheLockAndNotByWhoWaits() throws Exception {
        members.end(letter(0));
        LockClient client = client();
        LockTransaction holder = client.transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        ClusterMember again = members.start(letter(0), "abc", maxTtl, false);
        until(() -> !again.quarantined());
        LockTransaction other = client().transaction();
        other.lockAsync(List.of(exclusive("x", NodeRule.MAJORITY)));
        until(() -> holders(client, part("x", node(0))) == 1); // the holder's, unless the other came first
        holder.ensureHeld();
        assertThat(other.status()).isEqualTo(Status.WAITING);
        holder.close();
        assertThat(other.awaitAll(Patience.of(PATIENCE))).isTrue();
    }

    @Test
    void whoAwaitsNodesHoldsNoneWhileTooFewAnswer() throws Exception {
        members.end(letter(1));
        members.end(letter(2));
        LockClient client = client();
        LockTransaction waiting =
                client.transaction(TransactionOptions.defaults().withAwaitNodes(true));
        waiting.lockAsync(List.of(exclusive("x", NodeRule.MAJORITY)));
        until(() -> holders(client, part("x", node(0))) == 1);
        until(() -> holders(client, part("x", node(0))) == 0);
        assertThat(waiting.status()).isEqualTo(Status.WAITING);
        members.start(letter(2), "abc", maxTtl, false);
        assertThat(waiting.awaitAll(Patience.of(PATIENCE))).isTrue();
        waiting.ensureHeld();
        assertThat(waiting.tokens("x")).containsOnlyKeys(node(0), node(2));
    }

    @Test
    void aLockIsLostWithItsMajority() throws Exception {
        LockTransaction holder = client().transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        assertThat(holder.tokens("x")).containsKeys(node(0), node(1));
        assertThatThrownBy(() -> holder.token("x"))
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("tokens(name)");
        assertThatIllegalStateException().isThrownBy(() -> holder.surrender("x"));
        assertThatIllegalStateException().isThrownBy(() -> holder.unlock("@" + node(0) + "/x"));
        until(() -> holder.tokens("x").size() == 3);
        members.end(letter(1));
        members.end(letter(2));
        until(() -> holder.status() == Status.LOST);
        assertThat(holder.lost().toCompletableFuture()).succeedsWithin(PATIENCE);
        holder.close();
        members.start(letter(2), "abc", maxTtl, false);
        LockTransaction next = client().transaction();
        next.lockAsync(List.of(exclusive("x", NodeRule.MAJORITY)));
        assertThat(next.awaitAll(Patience.of(PATIENCE))).isTrue();
        assertThat(next.tokens("x")).containsOnlyKeys(node(0), node(2));
    }

    /** The client's event executor, by which a transaction hears of losses, is held up. */
    @Test
    void aLockWhoseMajorityIsGoneIsNotHeldAlsoBeforeItsTransactionIsTold() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        ExecutorService executor = Executors.newSingleThreadExecutor();
        open.add(told::countDown);
        LockClient client = Locks.open(url(""), ClientOptions.defaults().withEventExecutor(executor));
        open.add(client);
        open.add(executor::shutdown);
        LockTransaction holder = client.transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        holder.ensureHeld("x");
        executor.execute(() -> hold(told));
        LockClient operator = client();
        for (Map.Entry<String, Long> each : holder.tokens("x").entrySet()) {
            operator.admin().breakLease(part("x", each.getKey()), each.getValue(), "of the test");
        }
        until(() -> holder.status() == Status.LOST);
        assertThatThrownBy(() -> holder.ensureHeld("x")).isInstanceOf(LeaseLostException.class);
        assertThat(holder.unlock("x")).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        told.countDown();
        executor.submit(() -> {}).get();
        assertThat(holder.status()).isEqualTo(Status.NO_LOCKS);
    }

    private static void hold(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The program of the docs, and a holder that comes late. */
    @Test
    void aResourceThatKnowsTheTokensOfNodesRefusesWhoComesLate() throws Exception {
        NodeSetsExample.Ledger ledger = new NodeSetsExample.Ledger();
        assertThat(NodeSetsExample.close(client(), nodes, ledger)).isTrue();
        LockTransaction late = client().transaction();
        late.lock("ledger/month", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        Map<String, Long> tokens = late.tokens("ledger/month");
        assertThat(tokens).containsKeys(node(0), node(1));
        late.close();
        members.end(letter(0)); // the next one has one node in common with it
        assertThat(NodeSetsExample.close(client(), nodes, ledger)).isTrue();
        assertThat(ledger.close(tokens)).isFalse();
    }

    /** Each level at each node; readers of a tree and writers below it exclude each other. */
    @Test
    @Tag(TestMembers.LASTING)
    void whereEveryLockIsOneOfATreeThoseOverNodesAreToo() throws Exception {
        LockClient agents = client(LockUrl.parse(url("agent:")));
        LockTransaction below = agents.transaction();
        below.lock("home/ann", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        below.ensureHeld();
        LockTransaction beside = client(LockUrl.parse(url("agent:"))).transaction();
        beside.lock("home/bob", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        LockTransaction above = client(LockUrl.parse(url("agent:"))).transaction();
        above.lockAsync(List.of(LockRequest.shared("home").at(NodeSet.of(NodeRule.MAJORITY, nodes))));
        assertThat(above.awaitAll(Duration.ofMillis(300))).isFalse();
        assertThat(below.unlock("home/ann")).isEqualTo(ReleaseOutcome.RELEASED);
        boolean both = above.awaitAll(Duration.ofMillis(300));
        assertThat(both).as("beside is %s", beside.status()).isFalse();
        beside.close();
        assertThat(above.awaitAll(Patience.of(PATIENCE))).isTrue();
        above.ensureHeld();
        assertThat(below.status()).isEqualTo(Status.NO_LOCKS);
        above.close();
        for (String node : nodes) {
            until(() -> holders(agents, part("home", node)) == 0);
        }
    }

    /** Each holds one lock over nodes, and waits for the other's; whatever the rule, one gives way. */
    @Test
    void aCircleOverNodesIsFoundAndResolved() throws Exception {
        for (NodeRule rule : List.of(NodeRule.ALL, NodeRule.MAJORITY)) {
            LockTransaction one = client().transaction();
            LockTransaction two = client().transaction();
            one.lock("x" + rule, LockMode.EXCLUSIVE, nodes, rule);
            two.lock("y" + rule, LockMode.EXCLUSIVE, nodes, rule);
            two.lockAsync(List.of(exclusive("x" + rule, rule)));
            one.lockAsync(List.of(exclusive("y" + rule, rule)));
            until(() -> one.status() == Status.ABORTED || two.status() == Status.ABORTED);
            LockTransaction victim = one.status() == Status.ABORTED ? one : two;
            LockTransaction other = victim == one ? two : one;
            assertThatThrownBy(victim::awaitAll).isInstanceOf(DeadlockException.class);
            victim.close();
            assertThat(other.awaitAll(Patience.of(PATIENCE))).isTrue();
            other.ensureHeld();
            other.close();
        }
    }

    /**
     * One of two locks in a tree can do without what both wait for, since another node may grant it; the other lock
     * cannot. So that is an edge of the circle.
     */
    @Test
    @Tag(TestMembers.LASTING)
    void aCircleThroughALevelThatTwoLocksWaitForIsResolved() throws Exception {
        LockTransaction away = client(LockUrl.parse(url("agent:"))).transaction();
        away.lock("a", LockMode.EXCLUSIVE, List.of(node(1)), NodeRule.ALL);
        LockTransaction other = client(LockUrl.parse(url("agent:"))).transaction();
        other.lock("a", LockMode.EXCLUSIVE, List.of(node(0)), NodeRule.ALL);
        LockTransaction one = client(LockUrl.parse(url("agent:"))).transaction();
        one.lock("s", LockMode.EXCLUSIVE);
        one.lockAsync(List.of(LockRequest.shared("a/x").at(NodeSet.of(NodeRule.ANY, List.of(node(0), node(1))))));
        other.lockAsync(List.of(LockRequest.exclusive("s")));
        LockClient observer = client(LockUrl.parse(url("agent:")));
        until(() -> waiters(observer, part("a", node(1))) == 1); // it goes on by the other node
        one.lockAsync(List.of(LockRequest.shared("a/y").at(NodeSet.of(NodeRule.ALL, List.of(node(0))))));
        until(() -> one.status() == Status.ABORTED || other.status() == Status.ABORTED);
        (one.status() == Status.ABORTED ? one : other).close();
        away.close();
        LockTransaction left = one.status() == Status.CLOSED ? other : one;
        assertThat(left.awaitAll(Patience.of(PATIENCE))).isTrue();
    }

    /** One surrenders one of its two nodes; by that and the third one, which is free, the other one goes on. */
    @Test
    void whoWaitsInACircleGoesOnByANodeThatIsFree() throws Exception {
        LockTransaction steps =
                client().transaction(TransactionOptions.defaults().withPriority(1));
        steps.lock("y", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        LockTransaction atOnce = client().transaction();
        atOnce.lockAsync(List.of(exclusive("x", NodeRule.MAJORITY), exclusive("y", NodeRule.MAJORITY)));
        await().atMost(Patience.of(PATIENCE))
                .ignoreExceptionsInstanceOf(LockUnavailableException.class) // a busy machine
                .until(() -> atOnce.explain().held().size() == 2);
        steps.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        steps.ensureHeld();
        assertThat(steps.tokens("x")).containsKey(node(2));
        assertThat(atOnce.deadlocks()).hasSize(1);
        steps.close();
        assertThat(atOnce.awaitAll(Patience.of(PATIENCE))).isTrue();
        atOnce.close();
    }

    /** All ask for three locks in turned order, at once: everybody gets all, in turn, also without a node. */
    @Test
    void whoAsksForSeveralOverNodesAtOnceGetsAll() throws Exception {
        members.end(letter(1));
        List<LockTransaction> rotated = new ArrayList<>();
        for (int user = 0; user < 3; user++) {
            LockTransaction transaction = client().transaction();
            List<LockRequest> wanted = new ArrayList<>();
            for (int lock = 0; lock < 3; lock++) {
                wanted.add(exclusive("turned/" + (user + lock) % 3, NodeRule.MAJORITY));
            }
            transaction.lockAsync(wanted);
            rotated.add(transaction);
        }
        Set<LockTransaction> done = new HashSet<>();
        until(() -> {
            for (LockTransaction each : rotated) {
                if (each.status() == Status.HELD) {
                    each.ensureHeld();
                    each.close();
                    done.add(each);
                }
            }
            return done.size() == 3;
        });
        assertThat(rotated).allMatch(each -> each.status() == Status.CLOSED);
    }

    @Test
    void whereNoNodesCanBeNamedThatIsRefused() {
        LockClient one = Locks.open("lock:native:mem://node-sets");
        open.add(one);
        assertThat(one.features()).doesNotContain(Feature.NODE_SETS);
        assertThat(client().features()).contains(Feature.NODE_SETS);
        LockTransaction transaction = one.transaction();
        assertThatThrownBy(() -> transaction.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.ALL))
                .isInstanceOfSatisfying(
                        UnsupportedFeatureException.class,
                        e -> assertThat(e.feature()).contains(Feature.NODE_SETS));
    }

    /** Each user reaches another part of the nodes, and another one again and again, and nodes start anew. */
    @Test
    @Tag("soak")
    void noTwoHoldAMajorityWhateverIsCut() throws Exception {
        cut(new Random(1), 16, false);
    }

    @Test
    @Tag("soak")
    void noTwoHoldAMajorityForLong() throws Exception {
        assertThat(cut(new Random(), 1_000, false)).hasSize(USERS);
    }

    /** As before; one reads a tree, in which the others write. */
    @Test
    @Tag("soak")
    void noneReadsATreeInWhichOthersWriteForLong() throws Exception {
        assertThat(cut(new Random(), 1_000, true)).hasSize(USERS);
    }

    /** {@return how often each user was granted what it wants} */
    private Map<Integer, Integer> cut(Random random, int steps, boolean tree) throws Exception {
        String url = url(tree ? "agent:" : "");
        List<List<ServerProxies>> links = new ArrayList<>();
        List<LockClient> users = new ArrayList<>();
        List<LockRequest> wanted = new ArrayList<>();
        for (int user = 0; user < USERS; user++) {
            wanted.add(tree ? inATree(user) : exclusive("x", NodeRule.MAJORITY));
            List<ServerProxies> own = new ArrayList<>();
            Map<String, String> addresses = new HashMap<>();
            for (String node : nodes) {
                ServerProxies link = ServerProxies.before(List.of(node));
                open.add(link);
                own.add(link);
                addresses.putAll(link.addresses());
            }
            links.add(own);
            users.add(client(LockUrl.parse(url + "&" + AddressMap.OPTION.name() + "=" + new AddressMap(addresses))));
        }
        Map<Integer, LockTransaction> running = new HashMap<>();
        Map<String, Map<String, Long>> highest = new HashMap<>();
        Map<Integer, Integer> turns = new HashMap<>();
        for (int step = 0; step < steps; step++) {
            for (ServerProxies link : links.stream().flatMap(List::stream).toList()) {
                link.all(random.nextInt(3) == 0 ? FaultProxy::blackHole : FaultProxy::heal);
            }
            if (step % 8 == 3) {
                String letter = letter(random.nextInt(nodes.size()));
                members.end(letter);
                members.start(letter, "abc", maxTtl, false);
            }
            long end =
                    System.nanoTime() + Patience.lease(Duration.ofMillis(150)).toNanos();
            while (System.nanoTime() < end) {
                for (int user = 0; user < USERS; user++) {
                    LockTransaction now = running.get(user);
                    if (now == null || now.status() == Status.LOST) {
                        running.put(user, begin(users.get(user), now, wanted.get(user)));
                    } else if (now.status() == Status.HELD) {
                        assertAlone(user, running, tree);
                        String name = wanted.get(user).name().value();
                        if (fences(now, name, highest.computeIfAbsent(name, fresh -> new HashMap<>()))) {
                            turns.merge(user, 1, Integer::sum);
                        }
                        if (random.nextInt(200) == 0) {
                            now.unlock(name);
                            now.lockAsync(List.of(wanted.get(user)));
                        }
                    }
                }
            }
        }
        links.forEach(own -> own.forEach(link -> link.all(FaultProxy::heal)));
        assertThat(turns.values().stream().mapToInt(Integer::intValue).sum())
                .as("grants of " + turns)
                .isGreaterThan(steps / 4);
        for (LockTransaction each : running.values()) {
            each.close();
        }
        LockTransaction last = client(LockUrl.parse(url))
                .transaction(TransactionOptions.defaults().withAwaitNodes(true));
        last.lock("x", LockMode.EXCLUSIVE, nodes, NodeRule.MAJORITY);
        last.ensureHeld();
        return turns;
    }

    /** The first reads the tree. */
    private LockRequest inATree(int user) {
        return user == 0
                ? LockRequest.shared("x").at(NodeSet.of(NodeRule.MAJORITY, nodes))
                : exclusive("x/" + user, NodeRule.MAJORITY);
    }

    private static LockTransaction begin(LockClient client, @Nullable LockTransaction former, LockRequest wanted) {
        if (former != null) {
            new Thread(former::close).start();
        }
        LockTransaction fresh = client.transaction(TransactionOptions.defaults().withAwaitNodes(true));
        fresh.lockAsync(List.of(wanted));
        return fresh;
    }

    /** Who held before another was seen to hold, and holds after that, held at that moment. */
    private static void assertAlone(int holder, Map<Integer, LockTransaction> running, boolean tree) {
        running.forEach((user, other) -> {
            boolean both = user != holder
                    && (!tree || user == 0 || holder == 0)
                    && other.status() == Status.HELD
                    && running.get(holder).status() == Status.HELD
                    && other.status() == Status.HELD;
            assertThat(both).as(user + " and " + holder + " hold").isFalse();
        });
    }

    /** A resource that keeps the highest token of each node; true if these are new to it. */
    private static boolean fences(LockTransaction holder, String name, Map<String, Long> highest) {
        Map<String, Long> tokens;
        try {
            tokens = holder.tokens(name);
        } catch (IllegalStateException e) {
            return false; // lost by now
        }
        boolean fresh = false;
        for (Map.Entry<String, Long> each : tokens.entrySet()) {
            long known = highest.getOrDefault(each.getKey(), 0L);
            assertThat(each.getValue()).as("token of " + each.getKey()).isGreaterThanOrEqualTo(known);
            fresh |= each.getValue() > known;
        }
        highest.putAll(tokens);
        return fresh;
    }
}
