// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock: a stateless view of a name with options. Nothing is registered anywhere until an acquire.
 *
 * <p>It is not re-entrant: whoever holds the lock and acquires it again waits for itself, also in the same thread.
 * {@link JavaLocks#reentrant(LockClient)} gives locks that are, by thread and name.
 *
 * <p>All methods throw {@link ClientClosedException} once the client is closed. A thread that was interrupted holds
 * nothing: the request is withdrawn, and a grant that is under way goes back. Rules LK-301 to LK-313 and LK-401 to
 * LK-412.
 */
public interface DistributedLock {

    /** Returns the name. */
    LockName name();

    /** Returns a view of the same lock with the fields that {@code options} sets laid over those of this one. */
    DistributedLock with(LockOptions options);

    /**
     * Waits for the lock, through outages of the store; throws only what retrying cannot cure. Without an end: a second
     * {@code acquire()} by whoever holds the lock waits for ever, since the lease is the ownership, not the thread.
     *
     * @throws InterruptedException if interrupted before or while waiting
     * @throws DeadlockException if this request was chosen to end a deadlock
     */
    Lease acquire() throws InterruptedException;

    /**
     * Makes one attempt, never queues, and takes at most {@code requestTimeout}.
     *
     * @return the lease, or empty if another holds the lock
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted
     */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Waits at most {@code wait} for the lock; with zero or less as {@link #tryAcquire()}.
     *
     * @return the lease, or empty if the store's last word was that another holds the lock
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted before or while waiting
     */
    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * As {@link #acquire()} without blocking. Completing the future otherwise, as by cancel or orTimeout, withdraws the
     * request. Dependents run on the event executor, where nobody may wait for another future of this client.
     */
    CompletableFuture<Lease> acquireAsync();

    /** As {@link #tryAcquire(Duration)} without blocking. Completing the future otherwise withdraws the request. */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait);

    /**
     * Acquires, does the work, releases.
     *
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting
     */
    default <T, X extends Exception> T callLocked(LockedFunction<T, X> work) throws X, InterruptedException {
        return LockedWork.call(acquire(), work);
    }

    /**
     * Acquires within {@code wait}, does the work, releases.
     *
     * @return whether the work was run
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting
     */
    default <X extends Exception> boolean tryRunLocked(Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return LockedWork.run(tryAcquire(wait), work);
    }
}
