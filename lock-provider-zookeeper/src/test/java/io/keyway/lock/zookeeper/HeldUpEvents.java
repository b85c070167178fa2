// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.util.concurrent.CountDownLatch;
import org.apache.zookeeper.ZooKeeper;

/** Holds up all that a handle tells on the thread of its events until it is closed: other answers overtake that. */
final class HeldUpEvents implements AutoCloseable {
    private final CountDownLatch goOn = new CountDownLatch(1);

    HeldUpEvents(ZooKeeper handle) throws InterruptedException {
        CountDownLatch stopped = new CountDownLatch(1);
        handle.exists(
                "/",
                false,
                (rc, path, context, stat) -> {
                    stopped.countDown();
                    try {
                        goOn.await();
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    }
                },
                null);
        stopped.await();
    }

    @Override
    public void close() {
        goOn.countDown();
    }
}
