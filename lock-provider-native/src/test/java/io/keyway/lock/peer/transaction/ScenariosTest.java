// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientClosedException;
import io.keyway.lock.Deadlock;
import io.keyway.lock.DeadlockException;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.TransactionOptions.OnDeadlock;
import io.keyway.lock.peer.MemoryWorld;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * The scenarios of the source's tests and of its measurements that concern locks with flat names at one server, each
 * under the number that docs/algorithms/agents.md gives it; in virtual time.
 */
class ScenariosTest extends InOneWorld {
    private final List<LockTransaction> transactions = new ArrayList<>();

    @AfterEach
    void closeTransactions() {
        transactions.forEach(LockTransaction::close);
    }

    private LockTransaction begin() {
        return begin(TransactionOptions.defaults());
    }

    private LockTransaction begin(TransactionOptions options) {
        return begin(client(), options);
    }

    private LockTransaction begin(LockClient client, TransactionOptions options) {
        LockTransaction transaction = client.transaction(options);
        transactions.add(transaction);
        return transaction;
    }

    private static List<LockRequest> all(String... names) {
        return List.of(names).stream().map(LockRequest::exclusive).toList();
    }

    @Test
    void scenario1OneTransactionTakesALockAndEnds() throws Exception {
        LockTransaction a = begin();
        a.lock("x");
        assertThat(a.deadlocks()).isEmpty();
        assertThat(a.token("x")).isPositive();
        a.close();
        assertThat(a.status()).isEqualTo(Status.CLOSED);
        assertThat(clients.get(0).lock("x").tryAcquire()).isPresent();
    }

    @Test
    void scenario2WhoWaitsIsGrantedWhenTheHoldersClientEnds() throws Exception {
        LockClient client = client();
        LockTransaction a = begin(client, TransactionOptions.defaults());
        LockTransaction b = begin();
        a.lock("x");
        b.lockAsync("x", LockMode.EXCLUSIVE);
        assertThat(b.awaitAll(SHORT)).isFalse();
        client.close();
        holds(b);
    }

    @Test
    void scenario3ReadersAreGrantedTogetherWhenTheWriterEnds() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        LockTransaction c = begin();
        a.lock("x");
        b.lockAsync("x", LockMode.SHARED);
        c.lockAsync("x", LockMode.SHARED);
        waits(b);
        waits(c);
        a.close();
        holds(b);
        holds(c);
    }

    @Test
    void scenario4ThreeLocksInterleavedByThreeGoToOneAfterTheOther() throws Exception {
        for (int turn = 0; turn < 3; turn++) {
            LockTransaction transaction = begin();
            for (int i = 0; i < 3; i++) {
                transaction.lockAsync("l" + (turn + i) % 3, LockMode.EXCLUSIVE);
            }
        }
        for (int left = 3; left > 0; left--) {
            until(() -> transactions.stream().anyMatch(each -> each.status() == Status.HELD));
            List<LockTransaction> inside = transactions.stream()
                    .filter(each -> each.status() == Status.HELD)
                    .toList();
            assertThat(inside).hasSize(1);
            if (left == 1) {
                inside.get(0).lock("more");
            }
            inside.get(0).close();
        }
    }

    @Test
    void scenario6TheOnlyReaderBecomesTheWriterAtOnce() throws Exception {
        LockTransaction a = begin();
        a.lock("x", LockMode.SHARED);
        long read = a.token("x");
        a.lock("x", LockMode.EXCLUSIVE);
        assertThat(a.token("x")).isGreaterThan(read);
        // What is held alone serves a reader too.
        long write = a.token("x");
        a.lock("x", LockMode.SHARED);
        assertThat(a.token("x")).isEqualTo(write);
    }

    @Test
    void scenario8OfTwoReadersWhoUpgradeOneIsToldThatItCannot() throws Exception {
        LockTransaction f = begin();
        LockTransaction g = begin();
        f.lock("x", LockMode.SHARED);
        g.lock("x", LockMode.SHARED);
        f.lockAsync("x", LockMode.EXCLUSIVE);
        waits(f);
        assertThatThrownBy(() -> g.lock("x", LockMode.EXCLUSIVE))
                .isInstanceOf(DeadlockException.class)
                .hasMessageContaining("beside a reader that asked for the same earlier");
        waits(f);
        g.close();
        holds(f);
    }

    @Test
    void scenario11TwoWhoAskAtOnceBothFinishAndBothHearOfTheDeadlock() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        circle(a, b);
        until(() -> a.status() == Status.HELD || b.status() == Status.HELD);
        LockTransaction first = a.status() == Status.HELD ? a : b;
        LockTransaction second = first == a ? b : a;
        waits(second);
        assertThat(first.deadlocks()).hasSize(1);
        assertThat(second.deadlocks()).hasSize(1);
        Deadlock deadlock = second.deadlocks().get(0);
        assertThat(deadlock.way()).isEqualTo(Deadlock.Way.SURRENDERED);
        assertThat(deadlock.cycle()).hasSize(2);
        assertThat(deadlock.cycle().get(0).transaction()).isEqualTo(second.id());
        first.close();
        holds(second);
    }

    /** Each has its own lock first, which it has not been told. */
    private void circle(LockTransaction... ring) throws InterruptedException {
        LockTransaction gate = begin();
        gate.lock("gate");
        for (int i = 0; i < ring.length; i++) {
            ring[i].lockAsync(List.of(LockRequest.shared("gate"), LockRequest.exclusive("l" + i)));
            waits(ring[i]);
        }
        for (int i = 0; i < ring.length; i++) {
            ring[i].lockAsync("l" + (i + 1) % ring.length, LockMode.EXCLUSIVE);
        }
        gate.close();
    }

    @Test
    void scenario12AllOfARingOfThreeFinish() throws Exception {
        LockTransaction[] ring = {begin(), begin(), begin()};
        circle(ring);
        List<LockTransaction> left = new ArrayList<>(List.of(ring));
        while (!left.isEmpty()) {
            until(() -> left.stream().anyMatch(each -> each.status() == Status.HELD));
            LockTransaction done = left.stream()
                    .filter(each -> each.status() == Status.HELD)
                    .findFirst()
                    .orElseThrow();
            done.close();
            left.remove(done);
        }
        assertThat(ring).allSatisfy(each -> assertThat(each.deadlocks()).isNotEmpty());
    }

    @Test
    void scenario14WhoHoldsAndPrefersToBeAbortedFailsAndTheOtherIsGranted() throws Exception {
        TransactionOptions aborts = TransactionOptions.defaults().withOnDeadlock(OnDeadlock.ABORT);
        LockTransaction a = begin(aborts);
        LockTransaction b = begin(aborts);
        a.lock("x");
        b.lock("y");
        a.lockAsync("y", LockMode.EXCLUSIVE);
        b.lockAsync("x", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED);
        LockTransaction victim = a.status() == Status.ABORTED ? a : b;
        LockTransaction other = victim == a ? b : a;
        assertThatThrownBy(victim::awaitAll).isInstanceOfSatisfying(DeadlockException.class, e -> {
            assertThat(e.deadlock()).isPresent();
            assertThat(e.nextAge()).isEqualTo(1);
            assertThat(e.getMessage()).contains(a.id(), b.id(), "x", "y");
        });
        waits(other);
        victim.close();
        holds(other);
    }

    @Test
    void scenario14TheOtherOneIsTheVictimWhenTheWorkIsTriedAgain() throws Exception {
        LockTransaction old = begin(TransactionOptions.defaults().withAge(1));
        LockTransaction young = begin();
        old.lock("x");
        young.lock("y");
        old.lockAsync("y", LockMode.EXCLUSIVE);
        young.lockAsync("x", LockMode.EXCLUSIVE);
        until(() -> young.status() == Status.ABORTED);
        young.close();
        holds(old);
    }

    @Test
    void scenario21RotatedOrderNeverHangs() throws Exception {
        for (int round = 0; round < 30; round++) {
            scenario4ThreeLocksInterleavedByThreeGoToOneAfterTheOther();
            transactions.clear();
        }
    }

    @Test
    void scenario23WhatWasSurrenderedIsWantedAgain() throws Exception {
        LockTransaction a = begin();
        LockTransaction c = begin();
        // The youngest of a client ranks highest in it.
        LockTransaction b = begin(clients.get(clients.size() - 2), TransactionOptions.defaults());
        LockTransaction gate = begin();
        gate.lock("gate");
        b.lockAsync(all("gate", "lb"));
        a.lockAsync(all("la"));
        c.lockAsync(all("lb"));
        waits(c);
        a.lockAsync(all("lb"));
        waits(a);
        b.lockAsync(all("la"));
        until(() -> !b.deadlocks().isEmpty() || a.status() == Status.ABORTED);
        a.close();
        gate.close();
        until(() -> c.status() == Status.HELD || b.status() == Status.HELD);
        assertThat(List.of(c.status(), b.status())).containsOnlyOnce(Status.HELD);
    }

    @Test
    void scenario24AThousandTransactionsLeaveNothing() throws Exception {
        LockClient client = client();
        for (int i = 0; i < 1000; i++) {
            try (LockTransaction transaction = client.transaction()) {
                transaction.lockAll(all("x", "y"));
                transaction.ensureHeld();
            }
        }
        assertThat(client.admin()
                        .show(LockKey.lock("x"))
                        .map(status -> status.waiters().size())
                        .orElse(0))
                .isZero();
        assertThat(clients.get(0).lock("x").tryAcquire(SOON)).isPresent();
    }

    @Test
    void scenario24AwaitingNothingReturns() throws Exception {
        LockTransaction a = begin();
        a.awaitAll();
        assertThat(a.awaitAll(Duration.ZERO)).isTrue();
        assertThat(a.status()).isEqualTo(Status.NO_LOCKS);
    }

    /** By the names, from another transaction, of the same client or not; by a token that is not the present one. */
    @Test
    void scenario24TheEndByAStrangerIsAnError() throws Exception {
        LockClient client = client();
        LockTransaction a = begin(client, TransactionOptions.defaults());
        a.lock("x");
        long token = a.token("x");
        for (LockTransaction stranger : List.of(begin(client, TransactionOptions.defaults()), begin())) {
            assertThatThrownBy(() -> stranger.unlock("x")).hasMessageContaining("x is not held");
            assertThatThrownBy(() -> stranger.surrender("x")).hasMessageContaining("neither held nor waited for");
            assertThatThrownBy(() -> stranger.token("x")).hasMessageContaining("x is not held");
            assertThat(stranger.cancel("x")).isFalse();
            stranger.lockAsync("x", LockMode.EXCLUSIVE);
            waits(stranger);
            assertThatThrownBy(() -> stranger.unlock("x")).hasMessageContaining("is being waited for");
            stranger.close();
            assertThatThrownBy(() -> stranger.unlock("x")).hasMessageContaining("is not held");
        }
        assertThat(client().admin().breakLease(LockKey.lock("x"), token + 1, "of another"))
                .isFalse();
        a.ensureHeld();
        assertThat(a.token("x")).isEqualTo(token);
        assertThat(client().lock("x").tryAcquire()).isEmpty();
    }

    @Test
    void scenario25WhoComesWhileALockIsSurrenderedIsNotOvertaken() throws Exception {
        LockTransaction gate = begin();
        gate.lock("gate");
        LockTransaction a = begin();
        a.lockAsync(all("gate", "x"));
        waits(a);
        LockTransaction b = begin(TransactionOptions.defaults().withAge(3));
        b.lock("y");
        b.lockAsync("x", LockMode.EXCLUSIVE);
        waits(b);
        LockTransaction c = begin();
        c.lockAsync("x", LockMode.EXCLUSIVE);
        // Or the lock may be surrendered, and asked for again, before it has asked.
        waits(c);
        a.lockAsync("y", LockMode.EXCLUSIVE);
        holds(b);
        assertThat(a.deadlocks()).hasSize(1);
        assertThat(b.deadlocks()).hasSize(1);
        b.close();
        holds(c);
        assertThat(a.status()).isEqualTo(Status.WAITING);
        c.close();
        gate.close();
        holds(a);
        assertThat(a.deadlocks()).hasSize(1);
    }

    @Test
    void scenario31NobodyIsTheVictimAgainAndAgain() throws Exception {
        int[] ages = new int[3];
        int last = -1;
        int inARow = 0;
        LockClient[] own = {client(), client(), client()};
        for (int round = 0; round < 12; round++) {
            LockTransaction[] ring = new LockTransaction[3];
            for (int i = 0; i < 3; i++) {
                ring[i] = begin(own[i], TransactionOptions.defaults().withAge(ages[i]));
                ring[i].lock("l" + i);
            }
            for (int i = 0; i < 3; i++) {
                ring[i].lockAsync("l" + (i + 1) % 3, LockMode.EXCLUSIVE);
            }
            until(() -> List.of(ring).stream().anyMatch(each -> each.status() == Status.ABORTED));
            int victim = 0;
            while (ring[victim].status() != Status.ABORTED) {
                victim++;
            }
            inARow = victim == last ? inARow + 1 : 1;
            last = victim;
            assertThat(inARow)
                    .as("times in a row that %s is the victim, in round %s", victim, round)
                    .isLessThan(3);
            for (int i = 0; i < 3; i++) {
                LockTransaction next = ring[Math.floorMod(victim - i, 3)];
                if (i > 0) {
                    holds(next);
                }
                next.close();
                // Whose work is done begins other work; the victim's is tried again.
                ages[Math.floorMod(victim - i, 3)] = i > 0 ? 0 : ages[victim] + 1;
            }
        }
    }

    @Test
    void scenario26ReadersAndWritersInARingAreResolved() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x", LockMode.SHARED);
        b.lock("y", LockMode.SHARED);
        a.lockAsync("y", LockMode.EXCLUSIVE);
        b.lockAsync("x", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED);
        assertThat(List.of(a.status(), b.status())).containsOnlyOnce(Status.ABORTED);
    }

    @Test
    void scenario27TwoCirclesThatShareALockAreNotOverResolved() throws Exception {
        LockTransaction victim = begin();
        LockTransaction one = begin(TransactionOptions.defaults().withAge(3));
        LockTransaction two = begin(TransactionOptions.defaults().withAge(3));
        one.lock("o");
        two.lock("t");
        LockTransaction gate = begin();
        gate.lock("gate");
        victim.lockAsync(all("gate", "v"));
        waits(victim);
        one.lockAsync("v", LockMode.EXCLUSIVE);
        two.lockAsync("v", LockMode.EXCLUSIVE);
        waits(one);
        waits(two);
        victim.lockAsync(all("o", "t"));
        until(() -> one.status() == Status.HELD);
        assertThat(victim.deadlocks()).hasSize(1);
        assertThat(one.status()).isEqualTo(Status.HELD);
        one.close();
        holds(two);
        two.close();
        gate.close();
        holds(victim);
    }

    @Test
    void scenario28AClientThatEndsInACircleMakesWay() throws Exception {
        LockClient client = client();
        LockTransaction a = begin(client, TransactionOptions.defaults());
        LockTransaction b = begin(TransactionOptions.defaults().withAge(5));
        a.lock("x");
        b.lock("y");
        b.lockAsync("x", LockMode.EXCLUSIVE);
        a.lockAsync("y", LockMode.EXCLUSIVE);
        client.close();
        holds(b);
        assertThatThrownBy(() -> a.lock("z")).isInstanceOfAny(ClientClosedException.class, DeadlockException.class);
    }

    @Test
    void scenario29ACircleOutlastsARestartOfTheServer() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x");
        b.lock("y");
        world.restart();
        a.lockAsync("y", LockMode.EXCLUSIVE);
        b.lockAsync("x", LockMode.EXCLUSIVE);
        world.advanceUntil(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED, Duration.ofSeconds(60));
        LockTransaction other = a.status() == Status.ABORTED ? b : a;
        assertThat(other.status()).isEqualTo(Status.WAITING);
        (other == a ? b : a).close();
        world.advanceUntil(() -> other.status() == Status.HELD, Duration.ofSeconds(60));
    }

    @Test
    void aLockThatIsLostBeforeTheUserIsToldIsAskedForAgain() throws Exception {
        LockTransaction gate = begin();
        gate.lock("gate");
        LockTransaction a = begin();
        a.lockAsync(all("x", "gate"));
        waits(a);
        long token = clients.get(0)
                .admin()
                .show(LockKey.lock("x"))
                .orElseThrow()
                .holders()
                .get(0)
                .token()
                .orElseThrow();
        assertThat(clients.get(0).admin().breakLease(LockKey.lock("x"), token, "test"))
                .isTrue();
        waits(a);
        gate.close();
        holds(a);
        assertThat(a.token("x")).isGreaterThan(token);
    }

    @Test
    void aLockThatIsLostAfterwardsIsTold() throws Exception {
        LockTransaction a = begin();
        a.lock("x");
        List<LeaseLoss> told = new ArrayList<>();
        a.lost().thenAccept(told::add);
        clients.get(1).unwrap(MemoryWorld.class).cut(true);
        until(() -> !told.isEmpty());
        assertThat(a.status()).isEqualTo(Status.LOST);
        assertThatThrownBy(a::ensureHeld).isInstanceOf(io.keyway.lock.LeaseLostException.class);
        clients.get(1).unwrap(MemoryWorld.class).cut(false);
    }

    @Test
    void explainSaysWhoIsInTheWay() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x");
        b.lock("y");
        b.lockAsync("x", LockMode.SHARED);
        waits(b);
        assertThat(b.explain().text())
                .contains(b.id() + ": WAITING", "has y EXCLUSIVE, token ", "waits for x SHARED", "held by ");
        assertThat(b.explain().picture())
                .contains(">" + b.id() + "<", ">has EXCLUSIVE<", ">SHARED since ", ">holds since ");
        assertThat(b.explain().json())
                .startsWith("{\"transaction\":\"" + b.id() + "\",\"status\":\"WAITING\",\"held\":[{\"lock\":\"y\"")
                .contains("\"waits\":[{\"lock\":\"x\",\"mode\":\"SHARED\"", "\"holders\":[{\"client\":")
                .endsWith("\"deadlocks\":[]}");
    }

    @Test
    void askingTwiceForANameIsRefusedAndForWhatIsHeldIsNothing() throws Exception {
        LockTransaction a = begin();
        assertThatThrownBy(() -> a.lockAsync(all("x", "x"))).isInstanceOf(IllegalArgumentException.class);
        a.lockAll(all("x"));
        long token = a.token("x");
        a.lockAll(all("x"));
        assertThat(a.token("x")).isEqualTo(token);
        assertThatThrownBy(() -> a.token("y")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.unlock("y")).isInstanceOf(IllegalStateException.class);
        assertThat(a.cancel("y")).isFalse();
    }
}
