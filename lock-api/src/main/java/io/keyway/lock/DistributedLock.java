// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A lock: a stateless view of a name with options. Nothing is registered anywhere until an acquire. Thread-safe.
 *
 * <pre>{@code
 * DistributedLock nightly = client.lock("jobs/nightly");
 *
 * try (Lease lease = nightly.acquire()) { // waits for its turn
 *     run(lease);
 * }
 *
 * nightly.tryAcquire().ifPresent(lease -> { // only if it is free
 *     try (lease) {
 *         run(lease);
 *     }
 * });
 * }</pre>
 *
 * <p>It is not re-entrant: whoever holds the lock and acquires it again waits for itself, also in the same thread.
 * {@link JavaLocks#reentrant(LockClient)} gives locks that are, by thread and name.
 *
 * <p>All methods but {@link #name()} throw {@link ClientClosedException} once the client is closed; the asynchronous
 * ones fail their future with it. Besides what each of them says, an acquire fails with a {@link LockException} that is
 * not {@linkplain LockException#retryable() retryable} if the store refuses this client for good. A thread that was
 * interrupted holds nothing: the request is withdrawn, and a grant that is under way goes back. No argument may be
 * null. Rules LK-301 to LK-314 and LK-401 to LK-412.
 */
public interface DistributedLock {

    /** {@return the name of the lock} */
    LockName name();

    /**
     * {@return a view of the same lock with the fields that {@code options} sets laid over those of this one}
     *
     * @param options what to change; a field that it leaves open stays as it is
     * @throws IllegalArgumentException if the ttl, or the time of {@code holdAtLeast}, is outside the provider's
     *     bounds; the message names both
     * @throws UnsupportedFeatureException if it asks for {@code holdAtLeast} and the provider lacks
     *     {@link Feature#HOLD_AT_LEAST}
     */
    DistributedLock with(LockOptions options);

    /**
     * Waits for the lock, through outages of the store; throws only what retrying cannot cure. Without an end: a second
     * {@code acquire()} by whoever holds the lock waits forever, since the lease is the ownership, not the thread.
     *
     * @return the lease, held and already being renewed
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     * @throws DeadlockException if this request was chosen to end a deadlock
     */
    Lease acquire() throws InterruptedException;

    /**
     * Makes one attempt, never queues, and takes at most {@code requestTimeout}. A lock that another client merely
     * keeps in its cache counts as free.
     *
     * @return the lease, or empty if another holds the lock
     * @throws LockUnavailableException if the store gave no answer; it may be free or not
     * @throws InterruptedException if interrupted; nothing is held then
     */
    Optional<Lease> tryAcquire() throws InterruptedException;

    /**
     * Waits at most {@code wait} for the lock.
     *
     * @param wait how long; zero or less makes one attempt, as {@link #tryAcquire()}
     * @return the lease, or empty if the store's last word was that another holds the lock
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    Optional<Lease> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * Waits for the lock as {@link #acquire()}, without blocking. Nothing but a refused argument is thrown: what goes
     * wrong fails the future. Completing the future otherwise, as by {@code cancel} or {@code orTimeout}, withdraws the
     * request.
     *
     * @return the lease to come; dependents run on the event executor, where nobody may wait for another future of this
     *     client, or on the caller's thread if it is complete already
     */
    CompletableFuture<Lease> acquireAsync();

    /**
     * Waits for the lock as {@link #tryAcquire(Duration)}, without blocking; otherwise as {@link #acquireAsync()}.
     *
     * @param wait how long; zero or less makes one attempt
     * @return the lease to come, or empty if the store's last word was that another holds the lock
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait);

    /**
     * Acquires the lock as {@link #acquire()}, does the work, and releases it. A lease that the work itself released is
     * no loss.
     *
     * @param <T> the type of the work's result
     * @param <X> what the work may throw
     * @param work what to do while the lock is held
     * @return what the work returned
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then: it may have overlapped with
     *     another holder's
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <T, X extends Exception> T callLocked(LockedFunction<T, X> work) throws X, InterruptedException {
        return LockedWork.call(acquire(), work);
    }

    /**
     * Acquires the lock as {@link #tryAcquire(Duration)}, does the work, and releases it.
     *
     * @param <X> what the work may throw
     * @param wait how long to wait for the lock; zero or less makes one attempt
     * @param work what to do while the lock is held
     * @return whether the work was done; false if another held the lock
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <X extends Exception> boolean tryRunLocked(Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return LockedWork.run(tryAcquire(wait), work);
    }
}
