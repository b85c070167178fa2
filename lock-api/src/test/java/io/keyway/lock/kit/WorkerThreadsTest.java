// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class WorkerThreadsTest {
    private static final long PATIENCE = 20;

    @Test
    void whatRenewsOrEndsAGrantFindsAThreadHoweverManyAskForLocks() throws Exception {
        WorkerThreads workers = new WorkerThreads("test");
        CountDownLatch hanging = new CountDownLatch(WorkerThreads.THREADS - 2);
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch ran = new CountDownLatch(2);
        try {
            for (int i = 0; i < WorkerThreads.THREADS * 2; i++) {
                workers.urgent(() -> hang(hanging, over));
                workers.routine(() -> hang(hanging, over));
            }
            assertThat(hanging.await(PATIENCE, TimeUnit.SECONDS)).isTrue();

            workers.ending(ran::countDown);
            workers.first(ran::countDown);

            assertThat(ran.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        } finally {
            over.countDown();
            workers.close(Duration.ofSeconds(PATIENCE));
        }
    }

    @Test
    void whatRenewsAGrantFindsAThreadHoweverManyAreEnded() throws Exception {
        WorkerThreads workers = new WorkerThreads("test");
        CountDownLatch hanging = new CountDownLatch(WorkerThreads.THREADS - 1);
        CountDownLatch over = new CountDownLatch(1);
        CountDownLatch ran = new CountDownLatch(2);
        try {
            for (int i = 0; i < WorkerThreads.THREADS * 2; i++) {
                workers.ending(() -> hang(hanging, over));
                workers.urgent(() -> hang(hanging, over));
            }
            assertThat(hanging.await(PATIENCE, TimeUnit.SECONDS)).isTrue();

            workers.first(ran::countDown);
            workers.first(ran::countDown);

            assertThat(ran.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        } finally {
            over.countDown();
            workers.close(Duration.ofSeconds(PATIENCE));
        }
    }

    @Test
    void allIsRunInTheEnd() throws Exception {
        WorkerThreads workers = new WorkerThreads("test");
        int each = 1000;
        CountDownLatch ran = new CountDownLatch(4 * each);
        for (int i = 0; i < each; i++) {
            workers.first(ran::countDown);
            workers.ending(ran::countDown);
            workers.urgent(ran::countDown);
            workers.routine(ran::countDown);
        }
        assertThat(ran.await(PATIENCE, TimeUnit.SECONDS)).isTrue();
        workers.close(Duration.ofSeconds(PATIENCE));
    }

    private static void hang(CountDownLatch hanging, CountDownLatch over) {
        hanging.countDown();
        try {
            over.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
