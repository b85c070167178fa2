// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.Candidacy;
import io.keyway.lock.Candidate;
import io.keyway.lock.ClientOptions;
import io.keyway.lock.Election;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.Locks;
import io.keyway.lock.NodeRule;
import io.keyway.lock.NodeSet;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.spi.NodeParts;
import io.keyway.lock.tck.process.Patience;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A client that holds a lock by a majority of three members loses any one of them, and not the lock. */
@Execution(ExecutionMode.CONCURRENT) // each with members of its own
class SparePartsTest {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** What is held at members that live is to stay held, however busy this machine is. */
    private static final Duration MAX_TTL = Patience.lease(Duration.ofSeconds(8));

    @TempDir
    Path directory;

    private TestMembers members;
    private NodeSet nodes;
    private final List<AutoCloseable> open = new ArrayList<>();

    @BeforeEach
    void start() throws Exception {
        members = new TestMembers(directory, "a", "b", "c");
        nodes = NodeSet.of(NodeRule.MAJORITY, members.ids("abc"));
        members.startGranting("abc", MAX_TTL, true);
    }

    @AfterEach
    void end() throws Exception {
        for (int i = open.size() - 1; i >= 0; i--) {
            open.get(i).close();
        }
        members.close();
    }

    private LockClient client(String algorithm) {
        LockClient client = Locks.open(url(algorithm));
        open.add(client);
        return client;
    }

    private String url(String algorithm) {
        return "lock:native:" + algorithm + "//" + String.join(",", nodes.nodes()) + "/keyway?closeTimeout=1s&"
                + TestMembers.limits(MAX_TTL);
    }

    /** The id of the node with that place in the order in which nodes are asked. */
    private String node(int place) {
        return nodes.nodes().get(place % 3);
    }

    private void end(int place) {
        members.end(letter(place));
    }

    private String letter(int place) {
        return List.of("a", "b", "c").stream()
                .filter(each -> members.id(each).equals(node(place)))
                .findFirst()
                .orElseThrow();
    }

    private static int holders(LockClient observer, String node) throws InterruptedException {
        return observer.admin()
                .show(LockKey.lock(NodeParts.part(LockName.of("x"), node)))
                .map(status -> status.holders().size())
                .orElse(0);
    }

    /** Until that many hold the part of x at each of these nodes. */
    private void untilHeld(LockClient observer, int holders, List<String> at) {
        for (String node : at) {
            await().atMost(Patience.of(PATIENCE))
                    .ignoreExceptions() // a member that was ended, and may be asked still
                    .until(() -> holders(observer, node) == holders);
        }
    }

    /**
     * Until the part of x at that node is held by a client that had x when it asked; not by a grant of before its loss.
     */
    private void untilAskedAgain(LockClient observer, String node) {
        await().atMost(Patience.of(PATIENCE))
                .ignoreExceptions()
                .until(() -> observer.admin()
                        .show(LockKey.lock(NodeParts.part(LockName.of("x"), node)))
                        .filter(status -> status.holders().size() == 1)
                        .flatMap(status -> status.holders().stream().findFirst())
                        .filter(holder -> NodeParts.token(holder.metadata()).isPresent())
                        .isPresent());
    }

    /** Another client is kept out for longer than any lease lasts that is not renewed. */
    private void assertKeptOut(LockClient other) throws InterruptedException {
        assertThat(other.lock("x", nodes).tryAcquire(MAX_TTL)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aLockOutlivesTheLossOfAnyMemberAndNotOfTwo(int place) throws Exception {
        LockClient other = client("");
        Lease lease = client("").lock("x", nodes).acquire();
        untilHeld(other, 1, nodes.nodes());
        end(place);
        assertKeptOut(other);
        assertThat(lease.state()).isEqualTo(Lease.State.HELD);
        assertThat(lease.remaining()).isPositive();

        end(place + 1);
        LeaseLoss loss = lease.lost().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.EXPIRED);
        assertThatThrownBy(lease::ensureHeld).isInstanceOf(LeaseLostException.class);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
    }

    /** A member that was lost is asked again when it is back; so each member may be lost after the other. */
    @ParameterizedTest
    @ValueSource(strings = {"", "agent:"})
    void aPartThatWasLostIsAskedForAgain(String algorithm) throws Exception {
        LockClient other = client(algorithm);
        Lease lease = client(algorithm).lock("x", nodes).acquire();
        untilHeld(other, 1, nodes.nodes());
        for (int place = 0; place < 3; place++) {
            end(place);
            assertKeptOut(other);
            lease.ensureHeld();
            ClusterMember again = members.start(letter(place), "abc", MAX_TTL, false);
            await().atMost(Patience.of(PATIENCE)).until(() -> !again.quarantined());
            untilAskedAgain(other, node(place));
        }
        long token = lease.token();
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        Lease next = other.lock("x", nodes).tryAcquire(Patience.of(PATIENCE)).orElseThrow();
        assertThat(next.token()).isGreaterThan(token);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aTransactionsLockOutlivesTheLossOfAnyMemberAndNotOfTwo(int place) throws Exception {
        LockClient other = client("");
        LockTransaction holder = client("").transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
        untilHeld(other, 1, nodes.nodes());
        assertThat(holder.status()).isEqualTo(Status.HELD);
        assertThat(holder.tokens("x")).containsOnlyKeys(nodes.nodes());
        end(place);
        assertKeptOut(other);
        holder.ensureHeld();
        holder.ensureHeld("x");
        end(place + 1);
        holder.lost().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(holder.status()).isEqualTo(Status.LOST);
        assertThat(holder.unlock("x")).as("one part is left").isEqualTo(ReleaseOutcome.ALREADY_LOST);
    }

    /** Of a tree a node's part of one lock and that of another one, which is waited for, have a level in common. */
    @Test
    void aLockOfATreeOutlivesAMemberAtWhichItsTransactionWaitsForAnother() throws Exception {
        LockClient other = client("");
        LockTransaction writer = tree(other);
        writer.lock("t/y", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
        LockTransaction holder = tree(client(""));
        holder.lock("t/x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
        for (String node : nodes.nodes()) {
            untilHeld(other, "t/x", node);
        }
        holder.lockAsync(List.of(LockRequest.exclusive("t/y").at(nodes)));
        untilWaiting(other, "t/y", node(0));
        end(0);
        await().atMost(Patience.of(PATIENCE))
                .until(() -> holder.tokens("t/x").keySet().equals(Set.of(node(1), node(2))));
        untilWaiting(other, "t/y", node(1));
        holder.ensureHeld("t/x");
        writer.close();
        assertThat(holder.awaitAll(Patience.of(PATIENCE))).isTrue();
        holder.ensureHeld();
    }

    private static LockTransaction tree(LockClient client) {
        return client.transaction(TransactionOptions.defaults().withTree(true));
    }

    private static void untilHeld(LockClient observer, String name, String node) {
        await().atMost(Patience.of(PATIENCE))
                .until(() -> observer.admin()
                        .show(LockKey.lock(NodeParts.part(LockName.of(name), node)))
                        .filter(status -> !status.holders().isEmpty())
                        .isPresent());
    }

    private static void untilWaiting(LockClient observer, String name, String node) {
        await().atMost(Patience.of(PATIENCE))
                .until(() -> observer.admin()
                        .show(LockKey.lock(NodeParts.part(LockName.of(name), node)))
                        .filter(status -> !status.waiters().isEmpty())
                        .isPresent());
    }

    /** The one thread that completes futures is the caller's: nothing that blocks may wait for it. */
    @Test
    void aCallbackTakesAndGivesBackLocks() throws Exception {
        ExecutorService callbacks = Executors.newSingleThreadExecutor();
        open.add(callbacks::shutdownNow);
        LockClient own = Locks.open(url(""), ClientOptions.defaults().withEventExecutor(callbacks));
        open.add(own);
        ReleaseOutcome outcome = callbacks
                .submit(() -> {
                    try (Lease lease = own.lock("x", nodes).acquire()) {
                        lease.ensureHeld();
                    }
                    Lease again = own.lock("x", nodes)
                            .tryAcquire(Patience.of(PATIENCE))
                            .orElseThrow();
                    return again.release();
                })
                .get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        outcome = callbacks
                .submit(() -> {
                    try (LockTransaction transaction = own.transaction()) {
                        transaction.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
                        ReleaseOutcome first = transaction.unlock("x");
                        transaction.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
                        return first;
                    }
                })
                .get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(client("").lock("x", nodes).tryAcquire(Patience.of(PATIENCE)))
                .isPresent();
    }

    /** Also while the transaction waits for another lock. */
    @Test
    void sparePartsAreAskedForWhileTheTransactionWaits() throws Exception {
        LockClient other = client("");
        Lease kept = other.lock("y").acquire();
        LockTransaction holder = client("").transaction();
        holder.lock("x", LockMode.EXCLUSIVE, nodes.nodes(), NodeRule.MAJORITY);
        holder.lockAsync(List.of(LockRequest.exclusive("y")));
        untilHeld(other, 1, nodes.nodes());
        assertThat(holder.status()).isEqualTo(Status.WAITING);
        kept.release();
        assertThat(holder.awaitAll(Patience.of(PATIENCE))).isTrue();
        holder.ensureHeld();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2})
    void aLeaderLeadsOnWithoutAnyMember(int place) throws Exception {
        Election election = client("agent:").election("x").at(nodes).as("one");
        Candidacy one = election.stand();
        open.add(one);
        Lease leads = one.elected().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        LockClient other = client("agent:");
        untilHeld(other, 1, nodes.nodes());
        Election seen = other.election("x").at(nodes).as("two");
        assertThat(seen.leader().orElseThrow().token()).hasValue(leads.token());
        Candidacy two = seen.stand();
        open.add(two);
        end(place);
        assertKeptOut(other);
        assertThat(one.isLeading()).isTrue();
        assertThat(leads.isHeld()).isTrue();
        Candidate leader = seen.leader().orElseThrow();
        assertThat(leader.name()).isEqualTo("one");
        assertThat(leader.token()).hasValue(leads.token());
        one.close();
        Lease next = two.elected().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(next.token()).isGreaterThan(leads.token());
    }

    /** What is under way is given back, too, and the answer of a member that is away decides nothing. */
    @Test
    void aReleaseLeavesNothingAndNeedsNoMemberThatIsAway() throws Exception {
        LockClient other = client("");
        LockClient own = client("");
        for (int i = 0; i < 20; i++) {
            own.lock("x", nodes).acquire().close();
        }
        untilHeld(other, 0, nodes.nodes());
        Lease lease = own.lock("x", nodes).acquire();
        untilHeld(other, 1, nodes.nodes());
        end(1);
        assertThat(lease.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.lock("x", nodes).tryAcquire(Patience.of(PATIENCE))).isPresent();
    }

    /** An operator ends the lock by any of its parts. */
    @Test
    void aBreakOfOnePartEndsTheLock() throws Exception {
        LockClient other = client("");
        Lease lease = client("").lock("x", nodes).acquire();
        untilHeld(other, 1, nodes.nodes());
        LockKey part = LockKey.lock(NodeParts.part(LockName.of("x"), node(2)));
        long token =
                other.admin().show(part).orElseThrow().holders().get(0).token().orElseThrow();
        other.admin().breakLease(part, token, "maintenance");
        LeaseLoss loss = lease.lost().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
        assertThat(other.lock("x", nodes).tryAcquire(Patience.of(PATIENCE))).isPresent();
    }

    /** Parts that came later end with the first. */
    @Test
    void aLockIsHeldForNoLongerThanItsOwnerAsked() throws Exception {
        LockClient other = client("");
        Duration limit = MAX_TTL.multipliedBy(2);
        Lease lease = client("")
                .lock("x", nodes)
                .with(LockOptions.none().withMaxHold(limit))
                .acquire();
        untilHeld(other, 1, nodes.nodes());
        end(0);
        LeaseLoss loss = lease.lost().toCompletableFuture().get(Patience.seconds(60), TimeUnit.SECONDS);
        assertThat(loss.cause()).isEqualTo(LeaseLoss.Cause.MAX_HOLD);
        assertThat(loss.heldFor()).isBetween(limit.minus(MAX_TTL.dividedBy(2)), limit);
    }
}
