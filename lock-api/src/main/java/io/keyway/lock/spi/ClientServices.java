// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockStatus;
import io.keyway.lock.Subscription;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What a client has, beside its locks, for those who build something over it that waits and tells: its clock, its
 * event executor, and questions that block nobody. {@link io.keyway.lock.LockClient#unwrap} gives it.
 */
public interface ClientServices {

    /** {@return the clock of the client's leases, and its timers, which end with the client} */
    TimeSource time();

    /**
     * {@return a future for users of the client to wait for; on a clock that a test moves, their waiting is that of a
     * call that blocks, see {@link TimeSource#await}}
     *
     * @param <T> the type of its value
     */
    <T> CompletableFuture<T> future();

    /**
     * Runs a task on the client's event executor, where listeners and dependents of futures run; on this thread if that
     * executor has ended.
     *
     * @param task what completes a future, or calls a listener; it is never dropped
     */
    void tell(Runnable task);

    /**
     * {@return whether this thread runs such a task, or a listener, at the moment} What is said meanwhile may have to
     * wait until that has returned, so that it must not wait for what is said.
     */
    boolean tellsHere();

    /**
     * Runs a task once, when the client begins to close; at once if it has begun.
     *
     * @param task what ends what would wait forever otherwise; it must be short
     * @return how to drop it
     */
    Subscription onClose(Runnable task);

    /**
     * Asks who holds a lock or semaphore and who waits for it, without waiting for the answer.
     *
     * @param key which one
     * @return the answer, within about {@code requestTimeout}; the stage fails with a
     *     {@link io.keyway.lock.LockException}. Dependents run on a thread of the client that must not be blocked.
     */
    CompletionStage<Optional<LockStatus>> show(LockKey key);

    /**
     * Waits until a lock or semaphore is not as it was, without blocking anybody; as {@link LockEngine#change}.
     *
     * @param key which one
     * @param known the version of before; 0 if none is known
     * @param limit how long to wait
     * @return empty if the engine cannot tell
     */
    default Optional<CompletionStage<Long>> change(LockKey key, long known, Duration limit) {
        return Optional.empty();
    }
}
