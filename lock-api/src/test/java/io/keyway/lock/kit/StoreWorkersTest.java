// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class StoreWorkersTest {

    private final WorkerThreads workers = new WorkerThreads("workers");
    private final CountDownLatch gate = new CountDownLatch(1);

    @AfterEach
    void close() {
        gate.countDown();
        workers.close(Duration.ofSeconds(20));
    }

    @Test
    void urgentCallsRunThoughRoutineOnesHang() throws Exception {
        for (int i = 0; i < 1000; i++) {
            workers.routine(this::hang);
        }
        CountDownLatch ran = new CountDownLatch(50);
        for (int i = 0; i < 50; i++) {
            workers.urgent(ran::countDown);
        }
        assertThat(ran.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(ReferenceClients.threadsOf("workers")).hasSizeLessThanOrEqualTo(WorkerThreads.THREADS);
    }

    @Test
    void allRunAndNoMoreThreadsThanAllowed() throws Exception {
        AtomicInteger running = new AtomicInteger();
        AtomicInteger most = new AtomicInteger();
        CountDownLatch ran = new CountDownLatch(2000);
        for (int i = 0; i < 2000; i++) {
            Runnable call = () -> {
                most.accumulateAndGet(running.incrementAndGet(), Math::max);
                running.decrementAndGet();
                ran.countDown();
            };
            if (i % 2 == 0) {
                workers.urgent(call);
            } else {
                workers.routine(call);
            }
        }
        assertThat(ran.await(2, TimeUnit.MINUTES)).isTrue();
        assertThat(most.get()).isBetween(1, WorkerThreads.THREADS);
    }

    @Test
    void aCallThatFailsHarmsNoOther() throws Exception {
        CountDownLatch ran = new CountDownLatch(1);
        for (int i = 0; i < 2 * WorkerThreads.THREADS; i++) {
            workers.urgent(() -> {
                throw new IllegalStateException("on purpose");
            });
        }
        workers.urgent(ran::countDown);
        assertThat(ran.await(2, TimeUnit.MINUTES)).isTrue();
    }

    @Test
    void closeInterruptsJoinsAndDrops() {
        AtomicInteger ran = new AtomicInteger();
        for (int i = 0; i < 100; i++) {
            workers.urgent(() -> {
                ran.incrementAndGet();
                hang();
            });
        }
        workers.close(Duration.ofSeconds(20));
        assertThat(ReferenceClients.threadsOf("workers")).isEmpty();
        assertThat(ran.get()).isLessThanOrEqualTo(WorkerThreads.THREADS);
        workers.urgent(() -> ran.set(1000));
        assertThat(ran.get()).isLessThan(1000);
    }

    private void hang() {
        try {
            gate.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
