// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore: the verbs of {@link DistributedLock}, with permits. Each grant is checked against the capacity that its
 * own caller states at that time; a lower capacity revokes nothing. Thread-safe.
 *
 * <pre>{@code
 * // At most two exports run at once, on whichever machines.
 * DistributedSemaphore exports = client.semaphore("exports", Capacity.of(2));
 * try (Lease permit = exports.acquire()) {
 *     export();
 * }
 * }</pre>
 *
 * <p>The permits of one request are granted all at once or not at all, and come back together when its lease ends. What
 * {@link DistributedLock} says of exceptions holds here too. Rules LK-1301 to LK-1306.
 */
public interface DistributedSemaphore {

    /** {@return the name of the semaphore; a lock of the same name is another thing} */
    LockName name();

    /**
     * {@return a view of the same semaphore with the fields that {@code options} sets laid over those of this one}
     *
     * @param options what to change; a field that it leaves open stays as it is
     * @throws IllegalArgumentException if the ttl, or the time of {@code holdAtLeast}, is outside the provider's bounds
     * @throws UnsupportedFeatureException if it asks for {@code holdAtLeast} and the provider lacks
     *     {@link Feature#HOLD_AT_LEAST}
     */
    DistributedSemaphore with(LockOptions options);

    /**
     * Waits for permits as {@link DistributedLock#acquire()}. While there are no resources (a capacity of zero) it
     * waits for one.
     *
     * @param permits how many, at least 1 and at most the capacity
     * @return the lease of all of them
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    Lease acquire(int permits) throws InterruptedException;

    /**
     * Makes one attempt for permits as {@link DistributedLock#tryAcquire()}.
     *
     * @param permits how many, at least 1 and at most the capacity
     * @return the lease of all of them, or empty if that many are not left
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     * @throws LockUnavailableException if the store gave no answer
     * @throws InterruptedException if interrupted; nothing is held then
     */
    Optional<Lease> tryAcquire(int permits) throws InterruptedException;

    /**
     * Waits at most {@code wait} for permits, as {@link DistributedLock#tryAcquire(Duration)}.
     *
     * @param permits how many, at least 1 and at most the capacity
     * @param wait how long; zero or less makes one attempt
     * @return the lease of all of them, or empty if the store's last word was that not enough are left
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException;

    /**
     * Waits for permits as {@link #acquire(int)}, without blocking, as {@link DistributedLock#acquireAsync()}.
     *
     * @param permits how many, at least 1 and at most the capacity
     * @return the lease to come; whoever else completes it withdraws the request
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     */
    CompletableFuture<Lease> acquireAsync(int permits);

    /**
     * Waits for permits as {@link #tryAcquire(int, Duration)}, without blocking.
     *
     * @param permits how many, at least 1 and at most the capacity
     * @param wait how long; zero or less makes one attempt
     * @return the lease to come, or empty; whoever else completes it withdraws the request
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait);

    /**
     * {@return an estimate of the permits left by this caller's capacity; never negative} Others may take them before
     * the answer is used, so it is for display, not for decisions.
     *
     * @throws LockUnavailableException if the store gave no answer within {@code requestTimeout}
     * @throws InterruptedException if interrupted
     */
    int availablePermits() throws InterruptedException;

    /**
     * Acquires permits as {@link #acquire(int)}, does the work, and releases them, as
     * {@link DistributedLock#callLocked(LockedFunction)}.
     *
     * @param <T> the type of the work's result
     * @param <X> what the work may throw
     * @param permits how many, at least 1 and at most the capacity
     * @param work what to do while the permits are held
     * @return what the work returned
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <T, X extends Exception> T callLocked(int permits, LockedFunction<T, X> work)
            throws X, InterruptedException {
        return LockedWork.call(acquire(permits), work);
    }

    /**
     * Acquires permits as {@link #tryAcquire(int, Duration)}, does the work, and releases them.
     *
     * @param <X> what the work may throw
     * @param permits how many, at least 1 and at most the capacity
     * @param wait how long to wait; zero or less makes one attempt
     * @param work what to do while the permits are held
     * @return whether the work was done; false if not enough permits were left
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <X extends Exception> boolean tryRunLocked(int permits, Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return LockedWork.run(tryAcquire(permits, wait), work);
    }

    /**
     * Acquires one permit as {@link #acquire(int)}.
     *
     * @return its lease
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    default Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    /**
     * Makes one attempt for one permit as {@link #tryAcquire(int)}.
     *
     * @return its lease, or empty if none is left
     * @throws InterruptedException if interrupted; nothing is held then
     */
    default Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(1);
    }

    /**
     * Waits at most {@code wait} for one permit as {@link #tryAcquire(int, Duration)}.
     *
     * @param wait how long; zero or less makes one attempt
     * @return its lease, or empty if the store's last word was that none is left
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    default Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(1, wait);
    }

    /**
     * Waits for one permit without blocking, as {@link #acquireAsync(int)}.
     *
     * @return the lease to come
     */
    default CompletableFuture<Lease> acquireAsync() {
        return acquireAsync(1);
    }

    /**
     * Waits at most {@code wait} for one permit without blocking, as {@link #tryAcquireAsync(int, Duration)}.
     *
     * @param wait how long; zero or less makes one attempt
     * @return the lease to come, or empty
     */
    default CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return tryAcquireAsync(1, wait);
    }

    /**
     * Does work under one permit, as {@link #callLocked(int, LockedFunction)}.
     *
     * @param <T> the type of the work's result
     * @param <X> what the work may throw
     * @param work what to do while the permit is held
     * @return what the work returned
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <T, X extends Exception> T callLocked(LockedFunction<T, X> work) throws X, InterruptedException {
        return callLocked(1, work);
    }

    /**
     * Does work under one permit, if it is granted within {@code wait}, as
     * {@link #tryRunLocked(int, Duration, LockedAction)}.
     *
     * @param <X> what the work may throw
     * @param wait how long to wait; zero or less makes one attempt
     * @param work what to do while the permit is held
     * @return whether the work was done
     * @throws X what the work throws; a loss of the lease is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but the lease had been lost by then
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <X extends Exception> boolean tryRunLocked(Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return tryRunLocked(1, wait, work);
    }
}
