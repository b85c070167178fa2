// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.Feature;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockStatus;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.ReleaseOutcome;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.UnsupportedFeatureException;
import io.keyway.lock.peer.MemoryWorld;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Locks of trees, alone and in transactions; in virtual time. Scenario numbers are those of the source's tests. */
class TreeTest extends InOneWorld {
    private static final TransactionOptions TREE = TransactionOptions.defaults().withTree(true);

    private LockTransaction begin() {
        return client().transaction(TREE);
    }

    private static String path(int depth) {
        StringBuilder path = new StringBuilder("a");
        for (int i = 1; i < depth; i++) {
            path.append("/").append((char) ('a' + i));
        }
        return path.toString();
    }

    /** Flaw H2 of the source: from five segments on, a lock of an ancestor kept nobody out. */
    @Test
    void eachDepthExcludesEachOtherInEveryOrderAndMode() throws Exception {
        LockClient one = client();
        LockClient two = client();
        for (int first = 1; first <= 16; first++) {
            for (int second = 1; second <= 16; second++) {
                for (int modes = 0; modes < 4; modes++) {
                    boolean firstWrites = (modes & 1) != 0;
                    boolean secondWrites = (modes & 2) != 0;
                    try (Lease held = firstWrites
                            ? one.tree(path(first)).write().acquire()
                            : one.tree(path(first)).read().acquire()) {
                        Optional<Lease> other = secondWrites
                                ? two.tree(path(second)).write().tryAcquire()
                                : two.tree(path(second)).read().tryAcquire();
                        assertThat(other.isEmpty())
                                .as("%s at %d, then %s at %d", firstWrites, first, secondWrites, second)
                                .isEqualTo(firstWrites || secondWrites);
                        other.ifPresent(Lease::close);
                        assertThat(held.isHeld()).isTrue();
                    }
                }
            }
        }
        assertThat(one.admin().show(LockKey.lock(path(16)))).isEmpty();
    }

    @Test
    void siblingsDoNotBlockEachOther() throws Exception {
        try (Lease one = client().tree("a/b").write().acquire();
                Lease two = client().tree("a/c").write().acquire();
                Lease three = client().tree("a/d/e").read().acquire();
                Lease four = client().tree("a/bb").write().acquire()) {
            assertThat(List.of(one, two, three, four)).allMatch(Lease::isHeld);
            assertThat(client().tree("a").read().tryAcquire()).isEmpty();
        }
        try (Lease root = client().tree("a").write().acquire()) {
            assertThat(root.isHeld()).isTrue();
        }
    }

    /** Flaw H7: two writers of siblings that waited for a reader above went on one after the other. */
    @Test
    void siblingsThatWaitedForAnAncestorGoOnTogether() throws Exception {
        LockTransaction reader = begin();
        reader.lock("p", LockMode.SHARED);
        LockTransaction one = begin();
        LockTransaction two = begin();
        one.lockAsync("p/1", LockMode.EXCLUSIVE);
        waits(one);
        two.lockAsync("p/2", LockMode.EXCLUSIVE);
        waits(two);
        reader.close();
        holds(one);
        holds(two);
    }

    /** A request is no stronger than what is still wanted. */
    @Test
    void aTransactionThatGivesUpTheLockAboveWaitsForTheOneBelowAlone() throws Exception {
        LockTransaction reader = begin();
        reader.lock("p/1", LockMode.SHARED);
        LockTransaction both = begin();
        both.lockAsync("p", LockMode.EXCLUSIVE);
        both.lockAsync("p/2", LockMode.SHARED);
        waits(both);
        assertThat(both.cancel("p")).isTrue();
        holds(both);
    }

    /** Whoever waits is passed by those whom it does not hinder, and by nobody else. */
    @Test
    void whoWaitsIsPassedOnlyByWhomItDoesNotHinder() throws Exception {
        LockTransaction writer = begin();
        writer.lock("p/1");
        LockTransaction reader = begin();
        reader.lockAsync("p", LockMode.SHARED);
        waits(reader);
        LockTransaction below = begin();
        below.lock("p/2", LockMode.SHARED);
        LockTransaction second = begin();
        second.lockAsync("p/3", LockMode.EXCLUSIVE);
        waits(second);
        writer.close();
        holds(reader);
        waits(second);
        reader.close();
        holds(second);
        assertThat(below.status()).isEqualTo(Status.HELD);
    }

    @Test
    void scenario5OwnChildrenMergeIntoTheirParent() throws Exception {
        LockTransaction a = begin();
        a.lock("x/1", LockMode.SHARED);
        a.lock("x/2");
        a.lock("x");
        assertThat(List.of(a.token("x"), a.token("x/1"), a.token("x/2"))).allMatch(token -> token > 0);
        assertThat(client().tree("x/3").read().tryAcquire()).isEmpty();
        a.close();
        assertThat(client().tree("x/3").read().tryAcquire()).isPresent();
    }

    @Test
    void scenario6TheSoleReaderBecomesTheWriterAtOnce() throws Exception {
        LockTransaction a = begin();
        a.lock("x", LockMode.SHARED);
        a.lock("x");
        LockTransaction b = begin();
        b.lockAsync("x/1", LockMode.SHARED);
        waits(b);
        a.close();
        holds(b);
    }

    @Test
    void scenario7AnUpgradeAboveAReaderWaitsForItAlone() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x", LockMode.SHARED);
        b.lock("x/1", LockMode.SHARED);
        a.lockAsync("x", LockMode.EXCLUSIVE);
        waits(a);
        b.close();
        holds(a);
        assertThat(a.deadlocks()).isEmpty();
    }

    @Test
    void scenario8OfTwoReadersWhoUpgradeOneIsAborted() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x", LockMode.SHARED);
        b.lock("x", LockMode.SHARED);
        a.lockAsync("x", LockMode.EXCLUSIVE);
        b.lockAsync("x", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED);
        LockTransaction victim = a.status() == Status.ABORTED ? a : b;
        LockTransaction other = victim == a ? b : a;
        waits(other);
        victim.close();
        holds(other);
    }

    @Test
    void scenario9TwoWritersOfChildrenAndOneReadsTheParent() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x/1");
        b.lock("x/2");
        a.lockAsync("x", LockMode.SHARED);
        waits(a);
        b.close();
        holds(a);
        assertThat(a.deadlocks()).isEmpty();
    }

    @Test
    void scenario10And13BothWantTheParentAndOneGivesWay() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x/1");
        b.lock("x/2");
        a.lockAsync("x", LockMode.SHARED);
        b.lockAsync("x", LockMode.SHARED);
        until(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED);
        LockTransaction victim = a.status() == Status.ABORTED ? a : b;
        LockTransaction other = victim == a ? b : a;
        assertThat(victim.deadlocks()).hasSize(1);
        victim.close();
        holds(other);
    }

    @Test
    void scenario17NoTransactionConflictsWithItself() throws Exception {
        LockTransaction a = begin();
        a.lock("x/1");
        a.lock("x/1/2", LockMode.SHARED);
        a.lock("x", LockMode.SHARED);
        a.lock("y/1/2", LockMode.SHARED);
        a.lock("y/1/2/3");
        a.lock("y", LockMode.SHARED);
        assertThat(a.status()).isEqualTo(Status.HELD);
        assertThat(a.explain().text()).contains("x TREE_SHARED_INTENT_EXCLUSIVE");
        assertThat(client().tree("x/5").read().tryAcquire()).isPresent();
        assertThat(client().tree("x/5").write().tryAcquire()).isEmpty();
    }

    @Test
    void aCircleOverTwoTreesAskedForAtOnceIsSurrendered() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        LockTransaction keeper = begin();
        keeper.lock("p/2/3");
        a.lock("p/1");
        a.unlock("p/1");
        for (int round = 0; round < 5; round++) {
            LockTransaction one = begin();
            LockTransaction two = begin();
            one.lockAsync(List.of(LockRequest.exclusive("q/1"), LockRequest.exclusive("p")));
            two.lockAsync(List.of(LockRequest.exclusive("p/1"), LockRequest.exclusive("q")));
            keeper.close();
            until(() -> one.status() == Status.HELD || two.status() == Status.HELD);
            LockTransaction winner = one.status() == Status.HELD ? one : two;
            LockTransaction second = winner == one ? two : one;
            waits(second);
            winner.close();
            holds(second);
            second.close();
        }
        a.close();
        b.close();
    }

    @Test
    void aLeaseIsLostWithEachOfItsLevels() throws Exception {
        for (String level : List.of("a", "a/b", "a/b/c")) {
            LockClient owner = client();
            Lease lease = owner.tree("a/b/c").write().acquire();
            long token = client().admin()
                    .show(LockKey.lock(level))
                    .orElseThrow()
                    .holders()
                    .get(0)
                    .token()
                    .orElseThrow();
            CompletableFuture<Boolean> broken = CompletableFuture.supplyAsync(() -> {
                try {
                    return client().admin().breakLease(LockKey.lock(level), token, "a test");
                } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                }
            });
            until(() -> broken.isDone() && !lease.isHeld());
            assertThat(lease.state()).isEqualTo(Lease.State.LOST);
            assertThatThrownBy(lease::ensureHeld).isInstanceOfSatisfying(LeaseLostException.class, e -> {
                assertThat(e.name().orElseThrow().value()).isEqualTo("a/b/c");
                assertThat(e.token()).isEqualTo(lease.token());
                assertThat(e.loss().detail()).startsWith("the lease of " + level + ": ");
            });
            assertThat(world.advanceUntil(lease.lost(), SOON).cause()).isEqualTo(LeaseLoss.Cause.BROKEN);
            assertThat(lease.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
            try (Lease next = client().tree("a").write().acquire()) {
                assertThat(next.isHeld()).isTrue();
            }
        }
    }

    @Test
    void aTokenRisesOverTheGrantsOfItsName() throws Exception {
        long last = 0;
        for (int i = 0; i < 20; i++) {
            LockClient each = i % 3 == 0 ? client() : clients.get(i % 2);
            try (Lease lease = each.tree("a/b").write().acquire()) {
                assertThat(lease.token()).isGreaterThan(last);
                last = lease.token();
            }
            client().tree(i % 2 == 0 ? "a" : "a/c").write().acquire().close();
        }
    }

    @Test
    void aRestartKeepsAllLevels() throws Exception {
        Lease lease = client().tree("a/b").write().acquire();
        LockTransaction reader = begin();
        reader.lock("c", LockMode.SHARED);
        reader.lock("c/d");
        world.restart();
        CompletableFuture<Lease> above = client().tree("a").write().acquireAsync();
        CompletableFuture<Lease> beside = client().tree("a/c").write().acquireAsync();
        CompletableFuture<Lease> below = client().tree("c/e").write().acquireAsync();
        world.advance(Duration.ofSeconds(40));
        assertThat(lease.isHeld()).isTrue();
        assertThat(reader.status()).isEqualTo(Status.HELD);
        assertThat(above).isNotDone();
        assertThat(below).isNotDone();
        assertThat(beside).isNotDone(); // behind the writer above, which came before
        lease.close();
        assertThat(world.advanceUntil(above, SOON).isHeld()).isTrue();
        above.join().close();
        assertThat(world.advanceUntil(beside, SOON).isHeld()).isTrue();
        reader.close();
        assertThat(world.advanceUntil(below, SOON).isHeld()).isTrue();
    }

    @Test
    void aNameIsFlatOrOfATree() throws Exception {
        LockClient one = client();
        LockClient two = client();
        Lease tree = one.tree("a/b").write().acquire();
        for (String level : List.of("a", "a/b")) {
            assertThatThrownBy(() -> two.lock(level).tryAcquire())
                    .isInstanceOfSatisfying(LockUnavailableException.class, e -> {
                        assertThat(e.retryable()).isFalse();
                        assertThat(e).hasMessageContaining("lock " + level + ": the name is in use");
                    });
            assertThatThrownBy(() -> one.lock(level).tryAcquire()).isInstanceOf(LockUnavailableException.class);
        }
        tree.close();
        try (Lease flat = one.lock("f/g").acquire()) {
            assertThatThrownBy(() -> two.tree("f/g").read().acquire()).isInstanceOf(LockUnavailableException.class);
            assertThatThrownBy(() -> two.tree("f/g/h").read().acquire()).isInstanceOf(LockUnavailableException.class);
            LockTransaction transaction = begin();
            assertThatThrownBy(() -> transaction.lock("f/g/h")).isInstanceOf(LockUnavailableException.class);
            transaction.lock("f/i");
            assertThat(transaction.status()).isEqualTo(Status.HELD);
            assertThat(flat.isHeld()).isTrue();
        }
        assertThat(two.admin()
                        .show(LockKey.lock("f/g"))
                        .filter(status -> status.holders().stream()
                                .anyMatch(holder -> holder.mode().isTree())))
                .isEmpty();
    }

    /** What a client has used it may use again, also in the other kind. */
    @Test
    void aNameMayChangeItsKindWhenNothingOfItIsLeft() throws Exception {
        LockClient one = client();
        one.tree("a/b").write().acquire().close();
        one.lock("a/b").acquire().close();
        one.lock("a").acquire().close();
        one.tree("a/b").write().acquire().close();
    }

    @Test
    void theSecondLockUnderAParentIsTakenFromTheCacheOfIntentions() throws Exception {
        LockClient one = client();
        one.tree("a/b/c").write().acquire().close();
        world.cut(true);
        try (Lease again = one.tree("a/b/c").write().acquire()) {
            assertThat(again.isHeld()).isTrue();
        } finally {
            world.cut(false);
        }
        LockStatus root = client().admin().show(LockKey.lock("a")).orElse(null);
        assertThat(root == null ? List.of() : root.holders()).isEmpty();
    }

    @Test
    void aSurrenderOfALockLetsOthersInAndBringsItBack() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x/1");
        long before = a.token("x/1");
        b.lockAsync("x/1", LockMode.SHARED);
        waits(b);
        a.surrender("x/1");
        holds(b);
        assertThat(a.status()).isEqualTo(Status.WAITING);
        b.close();
        holds(a);
        assertThat(a.token("x/1")).isGreaterThan(before);
        a.lock("x", LockMode.SHARED);
        assertThatThrownBy(() -> a.surrender("x")).hasMessageContaining("x/1");
        assertThatThrownBy(() -> a.surrender("y")).hasMessageContaining("neither held nor waited for");
        assertThatThrownBy(() -> a.change(options -> options.withTree(false)))
                .isInstanceOf(IllegalArgumentException.class);
        LockTransaction c = begin();
        c.lockAsync("x/2", LockMode.EXCLUSIVE);
        waits(c);
        c.surrender("x/2");
        waits(c);
        assertThat(c.cancel("x/2")).isTrue();
        a.surrender("x/1");
        holds(a);
        assertThat(a.cancel("x/1")).isFalse();
        a.close();
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
    }

    @Test
    void whatIsUnlockedIsGivenBackWithItsLevels() throws Exception {
        LockTransaction a = begin();
        a.lock("x/1/2");
        a.lock("x/3", LockMode.SHARED);
        assertThatThrownBy(() -> a.token("x")).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> a.unlock("x/1")).isInstanceOf(IllegalStateException.class);
        a.unlock("x/1/2");
        try (Lease other = client().tree("x/1").write().acquire()) {
            assertThat(other.isHeld()).isTrue();
            assertThat(client().tree("x").write().tryAcquire()).isEmpty();
        }
        a.lock("x/3/4");
        assertThatThrownBy(() -> a.unlock("x/3")).hasMessageContaining("x/3/4");
        a.unlock("x/3/4");
        assertThat(a.unlock("x/3")).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(a.status()).isEqualTo(Status.NO_LOCKS);
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
    }

    @Test
    void aLevelKeepsNoStrongerModeThanIsNeeded() throws Exception {
        LockTransaction a = begin();
        a.lock("x/1");
        a.lock("x/2", LockMode.SHARED);
        a.lock("y", LockMode.SHARED);
        a.lock("y/1/2");
        assertThat(a.unlock("x/1")).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(a.unlock("y/1/2")).isEqualTo(ReleaseOutcome.RELEASED);
        a.ensureHeld();
        Lease x = client().tree("x").read().acquire();
        Lease y = client().tree("y").read().acquire();
        assertThat(a.status()).isEqualTo(Status.HELD);
        a.ensureHeld();
        assertThat(a.explain().text()).contains("x INTENT_SHARED", "y TREE_SHARED,");
        assertThat(client().tree("x").write().tryAcquire()).isEmpty();
        assertThat(client().tree("y/7").write().tryAcquire()).isEmpty();
        world.restart();
        world.advance(Duration.ofSeconds(10));
        assertThat(List.of(x, y)).allMatch(Lease::isHeld);
        assertThat(a.status()).isEqualTo(Status.HELD);
        a.lockAsync(List.of(LockRequest.exclusive("x/3"), LockRequest.exclusive("y/3")));
        waits(a);
        x.close();
        waits(a);
        y.close();
        holds(a);
        assertThat(a.explain().text()).contains("x INTENT_EXCLUSIVE", "y TREE_SHARED_INTENT_EXCLUSIVE");
        assertThat(client().tree("x").read().tryAcquire()).isEmpty();
        a.close();
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
        assertThat(client().tree("y").write().tryAcquire()).isPresent();
    }

    @Test
    void whatIsNeededAgainWhileItIsWeakenedWaitsForThat() throws Exception {
        LockTransaction a = begin();
        a.lock("x", LockMode.SHARED);
        a.lock("x/1");
        for (int i = 0; i < 20; i++) {
            a.unlock("x/1");
            a.lockAsync(List.of(LockRequest.exclusive("x/1")));
            holds(a);
            a.ensureHeld();
            assertThat(client().tree("x").read().tryAcquire()).isEmpty();
        }
        a.unlock("x/1");
        a.surrender("x");
        holds(a);
        try (Lease other = client().tree("x").read().acquire()) {
            assertThat(other.isHeld()).isTrue();
            a.close();
        }
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
    }

    /** The member has not answered yet: a change of mode to a weaker one is no request in whose queue a lock is. */
    @Test
    void aSurrenderBelowALevelThatIsBeingWeakenedDoesNotGiveBackThatLevel() throws Exception {
        LockClient own = client();
        LockTransaction a = own.transaction(TREE);
        a.lock("x/2", LockMode.SHARED);
        a.lock("x/3", LockMode.SHARED);
        Lease reader = client().tree("x/1").read().acquire();
        a.lockAsync("x/1", LockMode.EXCLUSIVE);
        waits(a);
        assertThat(a.explain().text()).contains("has x INTENT_EXCLUSIVE");
        LockTransaction b = begin();
        b.lockAsync("x", LockMode.EXCLUSIVE);
        waits(b);
        own.unwrap(MemoryWorld.class).cut(true);
        assertThat(a.cancel("x/1")).isTrue();
        a.surrender("x/2");
        own.unwrap(MemoryWorld.class).cut(false);
        reader.close();
        world.advance(Duration.ofSeconds(1));
        a.ensureHeld("x/3");
        assertThat(b.status()).as("x, while another has x/3").isEqualTo(Status.WAITING);
        assertThat(a.explain().text()).contains("has x INTENT_SHARED");
        holds(a);
        a.close();
        holds(b);
    }

    @Test
    void aLockWhoseLevelIsBeingWeakenedIsInNoQueueThatItCouldLeave() throws Exception {
        LockClient own = client();
        LockTransaction a = own.transaction(TREE);
        a.lock("x/2", LockMode.SHARED);
        Lease reader = client().tree("x/1").read().acquire();
        a.lockAsync("x/1", LockMode.EXCLUSIVE);
        waits(a);
        own.unwrap(MemoryWorld.class).cut(true);
        assertThat(a.cancel("x/1")).isTrue();
        a.lockAsync("x/1", LockMode.EXCLUSIVE);
        a.surrender("x/1");
        own.unwrap(MemoryWorld.class).cut(false);
        reader.close();
        holds(a);
        a.ensureHeld("x/1");
    }

    /** The level's old lease has given way by then, and the transaction does not know the new one yet. */
    @ParameterizedTest
    @EnumSource(
            value = LockEvent.Type.class,
            names = {"RELEASED", "GRANTED"})
    void aLevelIsGivenBackWhoseNewLeaseIsJustBeginning(LockEvent.Type then) throws Exception {
        LockClient inline = Locks.open(url, ClientOptions.defaults().withEventExecutor(Runnable::run));
        clients.add(inline);
        LockTransaction a = inline.transaction(TREE);
        a.lock("x", LockMode.SHARED);
        a.lock("x/1");
        AtomicBoolean told = new AtomicBoolean();
        inline.addListener(event -> {
            if (event.type() == then && event.key().name().equals(LockName.of("x")) && !told.getAndSet(true)) {
                a.close();
            }
        });
        a.unlock("x/1");
        until(told::get);
        world.advance(SHORT);
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
    }

    @Test
    void whatIsCancelledLeavesNoLevel() throws Exception {
        Lease held = client().tree("x/1").write().acquire();
        LockTransaction a = begin();
        a.lock("x/2", LockMode.SHARED);
        assertThat(a.tryLock("x/1/1", LockMode.SHARED, Duration.ZERO)).isFalse();
        assertThat(a.tryLock("x/1/1", LockMode.SHARED, SHORT)).isFalse();
        a.lockAsync("x/1", LockMode.EXCLUSIVE);
        waits(a);
        assertThat(a.cancel("x/1")).isTrue();
        assertThat(a.status()).isEqualTo(Status.HELD);
        a.lockAsync("x/2", LockMode.EXCLUSIVE);
        holds(a);
        held.close();
        try (Lease free = client().tree("x/1").write().tryAcquire().orElseThrow()) {
            assertThat(free.isHeld()).isTrue();
        }
        a.close();
        world.advance(SHORT);
        assertThat(client().tree("x").write().tryAcquire()).isPresent();
    }

    @Test
    void aRequestThatIsNotGrantedLeavesNothing() throws Exception {
        Lease held = client().tree("x/1/2").write().acquire();
        LockClient other = client();
        assertThat(other.tree("x/1").write().tryAcquire()).isEmpty();
        assertThat(other.tree("x/1").write().tryAcquire(SHORT)).isEmpty();
        CompletableFuture<Optional<Lease>> limited = other.tree("x/1").write().tryAcquireAsync(SHORT);
        assertThat(world.advanceUntil(limited, SOON)).isEmpty();
        CompletableFuture<Lease> dropped = other.tree("x/1").read().acquireAsync();
        dropped.cancel(true);
        held.close();
        world.advance(SHORT);
        try (Lease root = client().tree("x").write().acquire()) {
            assertThat(root.isHeld()).isTrue();
        }
    }

    @Test
    void showSaysWhoPassesThrough() throws Exception {
        try (Lease lease = client().tree("a/b").write().acquire()) {
            LockStatus root = client().admin().show(LockKey.lock("a")).orElseThrow();
            assertThat(root.holders()).hasSize(1);
            assertThat(root.holders().get(0).mode()).isEqualTo(LockMode.INTENT_EXCLUSIVE);
            assertThat(client().admin()
                            .show(LockKey.lock("a/b"))
                            .orElseThrow()
                            .holders()
                            .get(0)
                            .mode())
                    .isEqualTo(LockMode.TREE_EXCLUSIVE);
            assertThat(lease.mode()).isEqualTo(LockMode.EXCLUSIVE);
        }
    }

    @Test
    void whatALockOfATreeCannotDoIsRefused() throws Exception {
        LockClient client = client();
        assertThat(client.features()).contains(Feature.TREE);
        try (Lease lease = client.tree("a").read().acquire()) {
            assertThatThrownBy(() -> client.tree("a").tryUpgrade(lease, SHORT))
                    .isInstanceOf(UnsupportedFeatureException.class);
            assertThatThrownBy(() -> client.tree("a").downgrade(lease)).isInstanceOf(UnsupportedFeatureException.class);
        }
        LockOptions kept = LockOptions.none().withHoldAtLeast(SOON);
        assertThatThrownBy(() -> client.tree("a").write().with(kept)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.transaction(TREE.withLockOptions(kept)))
                .isInstanceOf(IllegalArgumentException.class);
    }
}
