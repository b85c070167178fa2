// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Several locks that are held all together or not at all: a stateless view of their names with options, made by
 * {@link LockClient#locks(String...)}. Thread-safe.
 *
 * <pre>{@code
 * try (LeaseSet both = client.locks("accounts/7", "accounts/9").acquire()) {
 *     transfer(both.token("accounts/7"), both.token("accounts/9"));
 * }
 * }</pre>
 *
 * <p>The locks are asked for one after the other, always in the order of their names ({@link LockName#compareTo}),
 * whatever the order in which they were given. So those who take all their locks by one set wait for nobody who waits
 * for them: there is no deadlock among them. Who holds a lock already and then waits for another, by a second set or by
 * {@link DistributedLock#acquire()}, can still make one.
 *
 * <p>While it waits for one lock, a set holds those before it. If one of these is lost meanwhile, that one and what was
 * asked for after it are asked for again: what is handed out is held, all of it. A set that is given up (by the end of
 * its wait, an interrupt, the completion of its future by somebody else, a failure) gives back at once what it holds;
 * what nobody knows the outcome of is cleaned up in the background, as with a single lock.
 *
 * <p>Each lock is the one that {@link LockClient#lock(String)} gives: it excludes whoever takes it alone, and it is not
 * re-entrant. No argument may be null. Rules LK-1701 to LK-1709.
 */
public interface LockSet {
    /** The most names in a set. */
    int MAX_NAMES = 64;

    /** {@return the names, in the order in which the locks are asked for; unmodifiable} */
    List<LockName> names();

    /**
     * {@return the same locks with the fields that {@code options} sets laid over those of this view} They are the
     * options of each lock; {@code maxHold} counts from the grant of each.
     *
     * @param options what to change; a field that it leaves open stays as it is
     * @throws IllegalArgumentException if a time is outside the provider's bounds, or if it asks for
     *     {@code holdAtLeast}: a lock that has to be given back before all are held could not be
     */
    LockSet with(LockOptions options);

    /**
     * Waits for all of them, through outages of the store, as {@link DistributedLock#acquire()}.
     *
     * @return the leases, all held and already being renewed
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    LeaseSet acquire() throws InterruptedException;

    /**
     * Makes one attempt for each lock, up to the first that another holds, and never queues. It takes at most
     * {@code requestTimeout} for each attempt, and the same again for what it has to give back.
     *
     * @return the leases, or empty if another holds one of the locks
     * @throws LockUnavailableException if the store gave no answer; nothing is held then
     * @throws InterruptedException if interrupted; nothing is held then
     */
    Optional<LeaseSet> tryAcquire() throws InterruptedException;

    /**
     * Waits at most {@code wait} for all of them together.
     *
     * @param wait how long; zero or less makes one attempt for each, as {@link #tryAcquire()}
     * @return the leases, or empty if the time ran out and the store's last word was that another holds one of them, or
     *     was a grant that left no time for the next
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted before or while waiting; nothing is held then
     */
    Optional<LeaseSet> tryAcquire(Duration wait) throws InterruptedException;

    /**
     * Waits for all of them as {@link #acquire()}, without blocking; otherwise as
     * {@link DistributedLock#acquireAsync()}: what goes wrong fails the future, and completing it otherwise withdraws
     * the request and gives back what is held.
     *
     * @return the leases to come
     */
    CompletableFuture<LeaseSet> acquireAsync();

    /**
     * Waits for all of them as {@link #tryAcquire(Duration)}, without blocking; otherwise as {@link #acquireAsync()}.
     *
     * @param wait how long; zero or less makes one attempt for each
     * @return the leases to come, or empty
     */
    CompletableFuture<Optional<LeaseSet>> tryAcquireAsync(Duration wait);

    /**
     * Acquires all as {@link #acquire()}, does the work, and releases them.
     *
     * @param <T> the type of the work's result
     * @param <X> what the work may throw
     * @param work what to do while the locks are held
     * @return what the work returned
     * @throws X what the work throws; a loss of the leases is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but one of the leases had been lost by then
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <T, X extends Exception> T callLocked(Work<T, X> work) throws X, InterruptedException {
        return LockedWork.call(acquire(), work);
    }

    /**
     * Acquires all as {@link #tryAcquire(Duration)}, does the work, and releases them.
     *
     * @param <X> what the work may throw
     * @param wait how long to wait for the locks; zero or less makes one attempt for each
     * @param work what to do while the locks are held
     * @return whether the work was done; false if the locks were not acquired
     * @throws X what the work throws; a loss of the leases is then among its suppressed exceptions
     * @throws LeaseLostException if the work returned but one of the leases had been lost by then
     * @throws LockUnavailableException if the time ran out and the store's last word was none
     * @throws InterruptedException if interrupted while waiting; the work is not done then
     */
    default <X extends Exception> boolean tryRunLocked(Duration wait, Action<X> work) throws X, InterruptedException {
        Optional<LeaseSet> leases = tryAcquire(wait);
        if (leases.isEmpty()) {
            return false;
        }
        return LockedWork.call(leases.get(), held -> {
            work.run(held);
            return true;
        });
    }

    /**
     * What is done while several locks are held, with a result.
     *
     * @param <T> the type of the result
     * @param <X> what it may throw
     */
    @FunctionalInterface
    interface Work<T, X extends Exception> {
        /**
         * Does it.
         *
         * @param leases held when this is called
         * @return the result
         * @throws X whatever goes wrong
         */
        T apply(LeaseSet leases) throws X;
    }

    /**
     * What is done while several locks are held.
     *
     * @param <X> what it may throw
     */
    @FunctionalInterface
    interface Action<X extends Exception> {
        /**
         * Does it.
         *
         * @param leases held when this is called
         * @throws X whatever goes wrong
         */
        void run(LeaseSet leases) throws X;
    }
}
