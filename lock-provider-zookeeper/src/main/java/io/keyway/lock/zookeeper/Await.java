// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.spi.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.zookeeper.KeeperException;

/** What a verb waits for of the ensemble, it waits for through this, and no longer than it may take in all. */
record Await(Deadline end) {

    static Await of(Duration limit) {
        return new Await(Deadline.after(limit));
    }

    /** As this one, but no longer than that. */
    Await most(Duration duration) {
        return new Await(end.orSooner(duration));
    }

    /** So much of what is left, so that there is time to say why nothing came. */
    Await part(int parts, int of) {
        return new Await(
                Deadline.after(Duration.ofNanos(end.nanos()).multipliedBy(parts).dividedBy(of)));
    }

    /**
     * Waits for an answer. What was sent stays on its way if this fails.
     *
     * @throws KeeperException what the ensemble said, or that the connection was lost
     */
    <T> T await(CompletableFuture<T> answer) throws KeeperException, TimeoutException, InterruptedException {
        try {
            return answer.isDone() ? answer.get() : answer.get(end.nanos(), TimeUnit.NANOSECONDS);
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
