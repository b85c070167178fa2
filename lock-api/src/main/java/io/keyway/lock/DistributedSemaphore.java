// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * A semaphore: the verbs of {@link DistributedLock}, with permits. Each grant is checked against the capacity that its
 * own caller states at that time; a lower capacity revokes nothing. Rules LK-1301 to LK-1306.
 */
public interface DistributedSemaphore {

    /** Returns the name. */
    LockName name();

    /** Returns a view of the same semaphore with the fields that {@code options} sets laid over those of this one. */
    DistributedSemaphore with(LockOptions options);

    /**
     * As {@link DistributedLock#acquire()}, for some permits at once.
     *
     * @throws IllegalArgumentException if permits is less than 1 or more than the capacity
     */
    Lease acquire(int permits) throws InterruptedException;

    /** As {@link DistributedLock#tryAcquire()}, for some permits at once. */
    Optional<Lease> tryAcquire(int permits) throws InterruptedException;

    /** As {@link DistributedLock#tryAcquire(Duration)}, for some permits at once. */
    Optional<Lease> tryAcquire(int permits, Duration wait) throws InterruptedException;

    /** As {@link DistributedLock#acquireAsync()}, for some permits at once. */
    CompletableFuture<Lease> acquireAsync(int permits);

    /** As {@link DistributedLock#tryAcquireAsync(Duration)}, for some permits at once. */
    CompletableFuture<Optional<Lease>> tryAcquireAsync(int permits, Duration wait);

    /** Returns an estimate of the permits left by this caller's capacity; never negative. */
    int availablePermits() throws InterruptedException;

    /** As {@link DistributedLock#callLocked(LockedFunction)}, for some permits at once. */
    default <T, X extends Exception> T callLocked(int permits, LockedFunction<T, X> work)
            throws X, InterruptedException {
        return LockedWork.call(acquire(permits), work);
    }

    /** As {@link DistributedLock#tryRunLocked(Duration, LockedAction)}, for some permits at once. */
    default <X extends Exception> boolean tryRunLocked(int permits, Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return LockedWork.run(tryAcquire(permits, wait), work);
    }

    /** Acquires one permit. */
    default Lease acquire() throws InterruptedException {
        return acquire(1);
    }

    /** Makes one attempt for one permit. */
    default Optional<Lease> tryAcquire() throws InterruptedException {
        return tryAcquire(1);
    }

    /** Waits at most {@code wait} for one permit. */
    default Optional<Lease> tryAcquire(Duration wait) throws InterruptedException {
        return tryAcquire(1, wait);
    }

    /** Acquires one permit without blocking. */
    default CompletableFuture<Lease> acquireAsync() {
        return acquireAsync(1);
    }

    /** Waits at most {@code wait} for one permit, without blocking. */
    default CompletableFuture<Optional<Lease>> tryAcquireAsync(Duration wait) {
        return tryAcquireAsync(1, wait);
    }

    /** Does work under one permit. */
    default <T, X extends Exception> T callLocked(LockedFunction<T, X> work) throws X, InterruptedException {
        return callLocked(1, work);
    }

    /** Does work under one permit, if it is granted within {@code wait}. */
    default <X extends Exception> boolean tryRunLocked(Duration wait, LockedAction<X> work)
            throws X, InterruptedException {
        return tryRunLocked(1, wait, work);
    }
}
