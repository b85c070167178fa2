// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Whether a task still has something to do now: virtual time must not move on before it has. */
class TaskTest {
    private final AtomicBoolean stop = new AtomicBoolean();
    private final CountDownLatch end = new CountDownLatch(1);

    @AfterEach
    void release() {
        stop.set(true);
        end.countDown();
    }

    private static Task<?> begun(Expectations.Act step) {
        Task<?> task = new Task<>(
                null,
                "step",
                () -> {
                    step.run();
                    return true;
                },
                false);
        task.begin();
        return task;
    }

    private void spin() {
        while (!stop.get()) {
            Thread.onSpinWait();
        }
    }

    private static void reaches(Thread.State state, Task<?> task) {
        await().until(() -> task.thread().getState() == state);
    }

    @Test
    void whoWaitsForALockOfSomebodyWhoRunsIsBusy() {
        ReentrantLock lock = new ReentrantLock();
        CompletableFuture<Void> held = new CompletableFuture<>();
        begun(() -> {
            lock.lock();
            try {
                held.complete(null);
                spin();
            } finally {
                lock.unlock();
            }
        });
        held.join();
        Task<?> waits = begun(lock::lock);
        reaches(Thread.State.WAITING, waits);
        assertThat(waits.busy()).isTrue();
    }

    @Test
    void whoWaitsForAMonitorOfSomebodyWhoRunsIsBusy() {
        Object monitor = new Object();
        CompletableFuture<Void> held = new CompletableFuture<>();
        begun(() -> {
            synchronized (monitor) {
                held.complete(null);
                spin();
            }
        });
        held.join();
        Task<?> waits = begun(() -> {
            synchronized (monitor) {
                stop.set(true);
            }
        });
        reaches(Thread.State.BLOCKED, waits);
        assertThat(waits.busy()).isTrue();
    }

    @Test
    void whoWaitsForALockOfSomebodyWhoWaitsIsNot() {
        ReentrantLock lock = new ReentrantLock();
        CompletableFuture<Void> held = new CompletableFuture<>();
        Task<?> holds = begun(() -> {
            lock.lock();
            try {
                held.complete(null);
                end.await();
            } finally {
                lock.unlock();
            }
        });
        held.join();
        Task<?> waits = begun(lock::lock);
        reaches(Thread.State.WAITING, holds);
        reaches(Thread.State.WAITING, waits);
        assertThat(waits.busy()).isFalse();
        assertThat(holds.busy()).as("it waits for a latch").isFalse();
    }
}
