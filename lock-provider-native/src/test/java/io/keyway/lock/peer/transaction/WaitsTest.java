// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.transaction;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.keyway.lock.ClientOptions;
import io.keyway.lock.DistributedReadWriteLock;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockOptions;
import io.keyway.lock.LockRequest;
import io.keyway.lock.LockTransaction;
import io.keyway.lock.LockTransaction.Status;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.TransactionOptions;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who waits for what in a transaction, with several threads, and what becomes of requests that end otherwise. */
class WaitsTest extends InOneWorld {
    private final List<LockTransaction> transactions = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void end() throws InterruptedException {
        transactions.forEach(LockTransaction::close);
        for (Thread thread : threads) {
            thread.join(Duration.ofSeconds(60).toMillis());
            assertThat(thread.isAlive()).as("%s", thread).isFalse();
        }
    }

    private LockTransaction begin() {
        LockTransaction transaction = client().transaction();
        transactions.add(transaction);
        return transaction;
    }

    /** Has that done by a thread of its own, which has asked and waits, or is done, when this returns. */
    private <T> CompletableFuture<T> inThread(Callable<T> task) {
        CompletableFuture<T> outcome = new CompletableFuture<>();
        Thread thread = new Thread(() -> {
            try {
                outcome.complete(task.call());
            } catch (Throwable e) {
                outcome.completeExceptionally(e);
            }
        });
        threads.add(thread);
        thread.start();
        // Before time moves: a thread that a busy machine starts late would be asked for what is over.
        Signals.until("it waits", () -> outcome.isDone() || isParked(thread));
        return outcome;
    }

    private static boolean isParked(Thread thread) {
        return thread.getState() == Thread.State.TIMED_WAITING;
    }

    private CompletableFuture<Boolean> locks(LockTransaction transaction, String name) throws InterruptedException {
        return inThread(() -> {
            transaction.lock(name);
            return true;
        });
    }

    private <T> T outcome(CompletableFuture<T> of) throws InterruptedException {
        until(of::isDone);
        return of.join();
    }

    private void failsWith(CompletableFuture<?> of, Class<? extends Throwable> type) throws InterruptedException {
        until(of::isDone);
        assertThatThrownBy(of::join)
                .satisfiesAnyOf(
                        e -> assertThat(e).isInstanceOf(type),
                        e -> assertThat(e)
                                .isInstanceOf(CompletionException.class)
                                .hasCauseInstanceOf(type));
    }

    private Lease tree(String name) throws InterruptedException {
        return client().tree(name).write().acquire();
    }

    @Test
    void aRequestThatIsCancelledEndsTheCallsThatWaitForIt() throws Exception {
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        CompletableFuture<Boolean> one = locks(a, "b");
        CompletableFuture<Boolean> two = inThread(() -> {
            a.lockAll(List.of(LockRequest.exclusive("b"), LockRequest.exclusive("c")));
            return true;
        });
        assertThat(a.cancel("b")).isTrue();
        failsWith(one, CancellationException.class);
        failsWith(two, CancellationException.class);
        assertThat(other.isHeld()).isTrue();
        assertThat(a.status()).isEqualTo(Status.HELD);
        assertThat(a.token("c")).isPositive();
    }

    @Test
    void aFailureIsToldToWhoWaitsForThatLockAlone() throws Exception {
        tree("t");
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        CompletableFuture<Boolean> waits = locks(a, "b");
        CompletableFuture<Boolean> fails = locks(a, "t");
        failsWith(fails, LockUnavailableException.class);
        assertThat(waits).isNotDone();
        other.release();
        assertThat(outcome(waits)).isTrue();
        a.ensureHeld();
    }

    @Test
    void ofSeveralFailuresThatNobodyWaitedForEachIsTold() throws Exception {
        tree("t1");
        tree("t2");
        LockTransaction a = begin();
        a.lockAsync(List.of(LockRequest.exclusive("a"), LockRequest.exclusive("t1"), LockRequest.exclusive("t2")));
        until(() -> a.status() != Status.WAITING);
        assertThat(a.status()).isEqualTo(Status.FAILED);
        assertThatThrownBy(a::ensureHeld).isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(a::awaitAll)
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("t1")
                .satisfies(e -> assertThat(e.getSuppressed())
                        .singleElement()
                        .satisfies(second -> assertThat(second).hasMessageContaining("t2")));
        assertThat(a.status()).isEqualTo(Status.HELD);
        a.ensureHeld();
    }

    /** Its user knows of nothing that is held: the status was never HELD, and no call has returned. */
    @Test
    void whatIsGrantedBesideAFailureThatNobodyHasHeardGoesBackWhenItIsCancelled() throws Exception {
        tree("t");
        LockTransaction a = begin();
        a.lockAsync(List.of(LockRequest.shared("a"), LockRequest.exclusive("t")));
        until(() -> a.status() == Status.FAILED);
        world.advance(SHORT);
        assertThatThrownBy(() -> a.token("a")).isInstanceOf(IllegalStateException.class);
        assertThat(a.cancel("a")).isTrue();
        world.advance(SHORT);
        assertThat(client().lock("a").tryAcquire()).isPresent();
        assertThatThrownBy(a::awaitAll).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aFailureIsKeptForAWaitThatBeganAfterTheRequest() throws Exception {
        tree("t");
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        a.lockAsync("b", LockMode.EXCLUSIVE);
        CompletableFuture<Boolean> early = inThread(() -> a.awaitAll(Duration.ofHours(1)));
        a.lockAsync("t", LockMode.EXCLUSIVE);
        failsWith(early, LockUnavailableException.class);
        assertThat(a.status()).isEqualTo(Status.FAILED);
        assertThatThrownBy(a::awaitAll).isInstanceOf(LockUnavailableException.class);
        waits(a);
        other.release();
        a.awaitAll();
    }

    @Test
    void aLockThatIsAskedForOnceMoreHasNotFailed() throws Exception {
        Lease other = tree("t");
        LockTransaction a = begin();
        a.lockAsync("t", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.FAILED);
        other.release();
        world.advance(Duration.ofMinutes(2)); // out of that client's cache
        a.lock("t");
        a.ensureHeld();
    }

    /** Another thread may have tried, and the one that asked still has to hear of its failure. */
    @Test
    void aTryThatGetsNothingForgetsNoFailure() throws Exception {
        Lease other = tree("t");
        LockTransaction a = begin();
        a.lockAsync("t", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.FAILED);
        other.release();
        world.advance(Duration.ofMinutes(2)); // out of that client's cache
        Lease flat = client().lock("t").acquire();
        assertThat(a.tryLock("t", LockMode.EXCLUSIVE, SHORT)).isFalse();
        assertThat(a.status()).isEqualTo(Status.FAILED);
        flat.release();
        assertThat(a.tryLock("t", LockMode.EXCLUSIVE, SHORT)).isTrue();
        assertThat(a.status()).isEqualTo(Status.HELD);
        a.unlock("t");
        world.advance(Duration.ofMinutes(2));
        tree("t");
        a.lockAsync("t", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.FAILED);
        assertThatThrownBy(() -> a.tryLock("t", LockMode.EXCLUSIVE, SHORT))
                .isInstanceOf(LockUnavailableException.class);
        assertThatThrownBy(a::awaitAll).isInstanceOf(LockUnavailableException.class);
        assertThat(a.status()).isEqualTo(Status.NO_LOCKS);
    }

    @Test
    void whoWaitsForItsOwnLockDoesNotWaitForOthers() throws Exception {
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        CompletableFuture<Boolean> waits = locks(a, "b");
        a.lock("c");
        assertThat(waits).isNotDone();
        a.ensureHeld("c");
        assertThat(a.token("c")).isPositive();
        assertThatThrownBy(() -> a.ensureHeld("b")).isInstanceOf(IllegalStateException.class);
        assertThat(a.status()).isEqualTo(Status.WAITING);
        assertThat(client().lock("c").tryAcquire()).isEmpty();
        other.release();
        assertThat(outcome(waits)).isTrue();
        a.ensureHeld();
    }

    @Test
    void aTryThatDoesNotWaitDoesNotWaitForOthers() throws Exception {
        client().lock("b").acquire();
        client().lock("c").acquire();
        LockTransaction a = begin();
        a.lockAsync("b", LockMode.EXCLUSIVE);
        CompletableFuture<Boolean> tried = inThread(() -> a.tryLock("c", LockMode.EXCLUSIVE, Duration.ZERO));
        world.advance(Duration.ofMillis(1));
        assertThat(outcome(tried)).isFalse();
        assertThat(a.tryLock("d", LockMode.EXCLUSIVE, Duration.ZERO)).isTrue();
        assertThat(a.status()).isEqualTo(Status.WAITING);
        a.ensureHeld("d");
    }

    @Test
    void aTryThatIsTooLateGivesBackWhatItGot() throws Exception {
        DistributedReadWriteLock beside = client().readWriteLock("a");
        client().lock("b").acquire();
        LockTransaction a = begin();
        a.lock("a", LockMode.SHARED);
        a.lockAsync("b", LockMode.EXCLUSIVE);
        // That is granted at once, and is its own whatever else is waited for.
        assertThat(a.tryLock("a", LockMode.EXCLUSIVE, SHORT)).isTrue();
        assertThat(beside.read().tryAcquire()).isEmpty();
        a.unlock("a");
        a.lock("a", LockMode.SHARED);
        Lease reader = beside.read().tryAcquire().orElseThrow();
        assertThat(a.tryLock("a", LockMode.EXCLUSIVE, SHORT)).isFalse();
        a.ensureHeld("a");
        reader.release();
        assertThat(beside.read().tryAcquire()).isPresent();
    }

    /** The second one asks for nothing new, so that it left behind what the first had asked for. */
    @Test
    void triesOfOneLockByTwoThreadsLeaveNothing() throws Exception {
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        CompletableFuture<Boolean> first = inThread(() -> a.tryLock("b", LockMode.EXCLUSIVE, SHORT));
        CompletableFuture<Boolean> second = inThread(() -> a.tryLock("b", LockMode.EXCLUSIVE, SHORT.multipliedBy(2)));
        world.advance(SHORT);
        // The clock stands until the thread has gone on, so that the time of the other one is not over too.
        assertThat(first.get(Patience.seconds(60), TimeUnit.SECONDS)).isFalse();
        assertThat(second).isNotDone();
        assertThat(outcome(second)).isFalse();
        assertThat(a.status()).isEqualTo(Status.NO_LOCKS);
        other.release();
        assertThat(client().lock("b").tryAcquire()).isPresent();
    }

    @Test
    void aLockThatATryHasBroughtIsWantedAgainAfterItsSurrender() throws Exception {
        LockTransaction a = begin();
        assertThat(a.tryLock("x", LockMode.EXCLUSIVE, SHORT)).isTrue();
        CompletableFuture<Lease> next = client().lock("x").acquireAsync();
        world.advance(SHORT);
        a.surrender("x");
        Lease other = outcome(next);
        assertThat(a.tryLock("x", LockMode.EXCLUSIVE, SHORT)).isFalse();
        waits(a);
        other.release();
        a.awaitAll();
        a.ensureHeld("x");
    }

    /** No call has returned that one, since the call waited for another one too. */
    @Test
    void anUpgradeThatIsGivenUpAfterItsGrantIsAReaderAgain() throws Exception {
        DistributedReadWriteLock beside = client().readWriteLock("a");
        client().lock("b").acquire();
        LockTransaction a = begin();
        a.lock("a", LockMode.SHARED);
        long token = a.token("a");
        a.lockAsync(List.of(LockRequest.exclusive("a"), LockRequest.exclusive("b")));
        waits(a);
        assertThat(beside.read().tryAcquire()).isEmpty();
        assertThat(a.cancel("a")).isTrue();
        until(() -> a.token("a") > token + 1);
        assertThat(beside.read().tryAcquire()).isPresent();
        a.ensureHeld("a");
        assertThat(a.lost().toCompletableFuture()).isNotDone();
    }

    @Test
    void anUpgradeIsNotForgottenWhereTheReadLockIsLostUnreported() throws Exception {
        Lease other = client().lock("b").acquire();
        Lease reader = client().readWriteLock("a").read().acquire();
        LockTransaction a = begin();
        a.lockAsync(List.of(LockRequest.shared("a"), LockRequest.exclusive("b")));
        waits(a);
        CompletableFuture<Boolean> upgrade = locks(a, "a");
        waits(a);
        long own = a.explain().held().get(0).token();
        clients.get(0).admin().breakLease(LockKey.lock("a"), own, "test");
        other.release();
        world.advance(Duration.ofSeconds(1));
        assertThat(upgrade).isNotDone();
        assertThat(reader.isHeld()).isTrue();
        reader.release();
        assertThat(outcome(upgrade)).isTrue();
        a.awaitAll();
        assertThat(client().readWriteLock("a").read().tryAcquire()).isEmpty();
    }

    @Test
    void afterADeadlockEachLockSaysWhetherItIsHeld() throws Exception {
        LockTransaction a = begin();
        LockTransaction b = begin();
        a.lock("x");
        b.lock("y");
        a.lockAsync("y", LockMode.EXCLUSIVE);
        b.lockAsync("x", LockMode.EXCLUSIVE);
        until(() -> a.status() == Status.ABORTED || b.status() == Status.ABORTED);
        LockTransaction victim = a.status() == Status.ABORTED ? a : b;
        String has = victim == a ? "x" : "y";
        victim.ensureHeld(has);
        assertThat(victim.token(has)).isPositive();
        clients.get(0).admin().breakLease(LockKey.lock(has), victim.token(has), "test");
        world.advance(SHORT);
        assertThatThrownBy(() -> victim.ensureHeld(has)).isInstanceOf(LeaseLostException.class);
    }

    @Test
    void locksThatAreTakenTogetherAreNotKeptForNobody() {
        TransactionOptions keeps = TransactionOptions.defaults()
                .withLockOptions(LockOptions.none().withHoldAtLeast(Duration.ofSeconds(1)));
        assertThatThrownBy(() -> client().transaction(keeps))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("holdAtLeast");
        LockTransaction a = begin();
        assertThatThrownBy(() -> a.change(options -> keeps)).isInstanceOf(IllegalArgumentException.class);
        LockClient byDefault = Locks.open(url, ClientOptions.defaults().withDefaults(keeps.lockOptions()));
        clients.add(byDefault);
        assertThatThrownBy(byDefault::transaction).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> byDefault.locks("a", "b")).isInstanceOf(IllegalArgumentException.class);
    }

    /** The thread of all cells of the client waits for the transaction's lock when a grant comes. */
    @Test
    void aChangeOfOptionsRunsTheUsersFunctionUnderNoLock() throws Exception {
        Lease other = client().lock("b").acquire();
        LockTransaction a = begin();
        a.lockAsync("b", LockMode.EXCLUSIVE);
        CompletableFuture<Boolean> seen = new CompletableFuture<>();
        a.change(options -> {
            Thread asks = new Thread(() -> seen.complete(a.status() == Status.WAITING));
            asks.start();
            assertThat(seen.join()).isTrue();
            return options.withPriority(3);
        });
        assertThat(a.options().priority()).isEqualTo(3);
        other.release();
        holds(a);
    }
}
