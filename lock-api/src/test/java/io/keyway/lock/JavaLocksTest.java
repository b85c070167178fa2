// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

@SuppressWarnings("LockNotBeforeTry") // each unlock is what a test is about
class JavaLocksTest {
    private final HeapLock heap = new HeapLock();
    private final LeasedLock lock = JavaLocks.reentrant(heap);

    @AfterEach
    void clearInterrupt() {
        Thread.interrupted();
    }

    @Test
    void isReentrantWithOneLease() throws Exception {
        lock.lock();
        Lease lease = lock.currentLease().orElseThrow();
        lock.lockInterruptibly();
        assertThat(lock.tryLock()).isTrue();
        assertThat(lock.tryLock(1, TimeUnit.SECONDS)).isTrue();

        assertThat(lock.holdCount()).isEqualTo(4);
        assertThat(lock.currentLease()).containsSame(lease);
        for (int i = 0; i < 3; i++) {
            lock.unlock();
            assertThat(heap.isHeld()).isTrue();
        }
        lock.unlock();
        assertThat(heap.isHeld()).isFalse();
        assertThat(lock.currentLease()).isEmpty();
        assertThat(lock.holdCount()).isZero();
    }

    @Test
    void foreignThreadCannotUnlock() {
        lock.lock();

        assertThatThrownBy(() -> CompletableFuture.runAsync(lock::unlock).join())
                .hasCauseInstanceOf(IllegalMonitorStateException.class);
        assertThat(heap.isHeld()).isTrue();
        lock.unlock();
        assertThatThrownBy(lock::unlock)
                .isInstanceOf(IllegalMonitorStateException.class)
                .hasMessageContaining("not held by the thread");
    }

    @Test
    void otherThreadIsExcluded() throws Exception {
        lock.lock();

        assertThat(CompletableFuture.supplyAsync(lock::tryLock).join()).isFalse();
        assertThat(JavaLocks.reentrant(heap).tryLock()).isFalse();
        lock.unlock();
        assertThat(CompletableFuture.supplyAsync(() -> {
                            boolean taken = lock.tryLock();
                            lock.unlock();
                            return taken;
                        })
                        .join())
                .isTrue();
    }

    @Test
    void lossIsSeenByTheLeaseAndByNestedLocksButNotThrownByUnlock() {
        lock.lock();
        heap.lose();

        assertThat(lock.currentLease().orElseThrow().state()).isEqualTo(Lease.State.LOST);
        assertThatThrownBy(lock::lock).isInstanceOf(LeaseLostException.class);
        assertThatThrownBy(lock::tryLock).isInstanceOf(LeaseLostException.class);
        assertThat(lock.holdCount()).isEqualTo(1);
        assertThatCode(lock::unlock).doesNotThrowAnyException();

        lock.lock();
        assertThat(lock.currentLease().orElseThrow().token()).isEqualTo(2);
        lock.unlock();
    }

    @Test
    void lostHolderUnlocksNothingOfTheNext() {
        lock.lock();
        heap.lose();
        LeasedLock next = JavaLocks.reentrant(heap);
        next.lock();

        lock.unlock();

        assertThat(next.currentLease().orElseThrow().isHeld()).isTrue();
        next.unlock();
    }

    @Test
    void lockIsNotEndedByAnInterruptAndKeepsItsPlace() throws Exception {
        Lease other = heap.acquire();
        AtomicBoolean flag = new AtomicBoolean();
        AtomicBoolean held = new AtomicBoolean();
        Thread thread = new Thread(() -> {
            lock.lock();
            held.set(heap.isHeld());
            flag.set(Thread.interrupted());
            lock.unlock();
        });
        thread.start();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> heap.waiting() == 1);
        thread.interrupt();
        Awaitility.await().atMost(Duration.ofSeconds(30)).until(() -> thread.getState() == Thread.State.WAITING);

        assertThat(heap.waiting()).isEqualTo(1);
        other.close();
        thread.join();
        assertThat(held).isTrue();
        assertThat(flag).isTrue();
    }

    @Test
    void lockInterruptiblyIsEndedByAnInterruptAndHoldsNothing() throws Exception {
        Lease other = heap.acquire();
        Thread.currentThread().interrupt();

        assertThatThrownBy(lock::lockInterruptibly).isInstanceOf(InterruptedException.class);
        assertThat(lock.holdCount()).isZero();
        assertThat(heap.waiting()).isZero();
        other.close();
        assertThat(heap.isHeld()).isFalse();
    }

    @Test
    void hasNoConditions() {
        assertThatThrownBy(lock::newCondition).isInstanceOf(UnsupportedOperationException.class);
    }
}
