// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/**
 * Keeps servers from writing their logs until it is closed, each by the monitor that its log writes under: connections
 * stand, sessions go on, nothing is written, and then all of it is.
 */
final class StalledLog implements AutoCloseable {
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final List<Thread> threads = new ArrayList<>();

    StalledLog(List<Object> logs) throws InterruptedException {
        CountDownLatch stalled = new CountDownLatch(logs.size());
        for (Object log : logs) {
            Thread thread = new Thread(
                    () -> {
                        synchronized (log) {
                            stalled.countDown();
                            try {
                                goOn.await();
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                            }
                        }
                    },
                    "stalled-log");
            thread.start();
            threads.add(thread);
        }
        stalled.await();
    }

    @Override
    public void close() throws InterruptedException {
        goOn.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }
}
