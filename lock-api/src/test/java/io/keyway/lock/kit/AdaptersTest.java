// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.keyway.lock.FenceGuard;
import io.keyway.lock.JavaLocks;
import io.keyway.lock.Lease;
import io.keyway.lock.LeaseLostException;
import io.keyway.lock.LeasedLock;
import io.keyway.lock.LockClient;
import io.keyway.lock.LockName;
import io.keyway.lock.LockOptions;
import io.keyway.lock.ReentrantLocks;
import io.keyway.lock.ReleaseOutcome;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The adapters of the API over a client of a store. */
@SuppressWarnings("LockNotBeforeTry") // each unlock is what a test is about
class AdaptersTest extends ReferenceClients {

    @Test
    void threadsOfTwoClientsExcludeEachOther() throws Exception {
        LockClient a = open("a");
        LockClient b = open("b");
        LeasedLock mine = JavaLocks.reentrant(a.lock("x"));
        LeasedLock theirs = JavaLocks.reentrant(b.lock("x"));

        mine.lock();
        mine.lock();
        assertThat(theirs.tryLock()).isFalse();
        mine.unlock();
        assertThat(theirs.tryLock()).isFalse();
        CompletableFuture<Long> waiting = CompletableFuture.supplyAsync(() -> {
            theirs.lock();
            long token = theirs.currentLease().orElseThrow().token();
            theirs.unlock();
            return token;
        });
        awaitWaiters(a, "x", 1);
        long token = mine.currentLease().orElseThrow().token();
        mine.unlock();

        assertThat(waiting.join()).isGreaterThan(token);
        assertThat(a.admin().show(key("x"))).isEmpty();
    }

    @Test
    void brokenHolderIsToldUnlocksQuietlyAndIsFencedOff() throws Exception {
        LockClient a = open("a");
        LeasedLock lock = JavaLocks.reentrant(a.lock("x"));
        FenceGuard guard = FenceGuard.inMemory();
        lock.lock();
        Lease old = lock.currentLease().orElseThrow();
        assertThat(guard.run(old, lease -> {})).isTrue();

        assertThat(open("admin").admin().breakLease(key("x"), old.token(), "the test"))
                .isTrue();
        await().atMost(PATIENCE).until(() -> old.state() == Lease.State.LOST);
        assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
        assertThatCode(lock::unlock).doesNotThrowAnyException();

        try (Lease next = a.lock("x").acquire()) {
            assertThat(guard.run(next, lease -> {})).isTrue();
            assertThat(guard.run(old, lease -> {
                        throw new AssertionError("an effect under an old token");
                    }))
                    .isFalse();
        }
    }

    @Test
    void reentrantLeasesEndOneByOneAndTheLastFreesTheLock() throws Exception {
        LockClient a = open("a");
        ReentrantLocks locks = JavaLocks.reentrant(a);
        LockName x = LockName.of("x");
        Lease outer = locks.lock("x").acquire();
        Lease inner = locks.lock("x").with(LockOptions.none()).tryAcquire().orElseThrow();
        assertThat(locks.holdCount(x)).isEqualTo(2);

        // Any thread may close one.
        assertThat(CompletableFuture.supplyAsync(outer::release).join()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(outer.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(outer.state()).isEqualTo(Lease.State.RELEASED);
        assertThat(outer.remaining()).isZero();
        assertThatThrownBy(outer::ensureHeld)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was released");
        inner.ensureHeld();
        assertThat(open("b").lock("x").tryAcquire()).isEmpty();
        assertThat(locks.lock("x").acquireAsync().join().token()).isEqualTo(inner.token());
        assertThat(locks.holdCount(x)).isEqualTo(2);
        CompletableFuture<Integer> elsewhere = CompletableFuture.supplyAsync(() -> locks.holdCount(x));
        assertThat(elsewhere.join()).isZero();
    }

    @Test
    void reentrantLeasesAreLostTogetherAndKeepTheirThreadFromGoingOn() throws Exception {
        LockClient a = open("a");
        ReentrantLocks locks = JavaLocks.reentrant(a);
        Lease outer = locks.lock("x").acquire();
        Lease released = locks.lock("x").acquire();
        Lease inner = locks.lock("x").acquire();
        released.close();
        AtomicInteger told = new AtomicInteger();
        for (Lease lease : List.of(outer, released, inner)) {
            lease.lost().thenAccept(loss -> told.incrementAndGet());
        }

        open("admin").admin().breakLease(key("x"), outer.token(), "the test");
        await().atMost(PATIENCE).until(() -> told.get() == 2);

        assertThat(released.state()).isEqualTo(Lease.State.RELEASED);
        assertThatThrownBy(inner::ensureHeld).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(() -> locks.lock("x").acquire()).isInstanceOf(LeaseLostException.class);
        assertThat(inner.release()).isEqualTo(ReleaseOutcome.ALREADY_LOST);
        assertThat(inner.state()).isEqualTo(Lease.State.LOST);
        assertThatThrownBy(() -> locks.lock("x").tryAcquire()).isInstanceOf(LeaseLostException.class);
        outer.close();
        try (Lease next = locks.lock("x").acquire()) {
            assertThat(next.token()).isGreaterThan(outer.token());
        }
        assertThat(told).hasValue(2);
    }

    @Test
    void aReentrantAcquireIsInterruptedAsAnyOther() {
        ReentrantLocks locks = JavaLocks.reentrant(open("a"));
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> locks.lock("x").acquire()).isInstanceOf(InterruptedException.class);
        assertThat(locks.holdCount(LockName.of("x"))).isZero();
    }
}
