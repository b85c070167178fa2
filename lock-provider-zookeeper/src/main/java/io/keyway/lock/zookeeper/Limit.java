// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** The time that a verb may take in all; what it waits for, it waits for through this. */
final class Limit {
    private final long end;

    private Limit(long end) {
        this.end = end;
    }

    static Limit of(Duration limit) {
        return new Limit(System.nanoTime() + limit.toNanos());
    }

    long leftNanos() {
        return Math.max(0, end - System.nanoTime());
    }

    /**
     * Waits for an answer. What was sent stays on its way if this fails.
     *
     * @throws KeeperException what the ensemble said, or that the connection was lost
     */
    <T> T await(CompletableFuture<T> answer) throws KeeperException, TimeoutException, InterruptedException {
        try {
            return answer.get(leftNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            TimeoutException late = new TimeoutException("the ensemble did not answer in time");
            late.initCause(e);
            throw late;
        } catch (ExecutionException e) {
            if (e.getCause() instanceof KeeperException known) {
                throw known;
            }
            throw new IllegalStateException(e.getCause());
        }
    }
}
