// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** Adapters to {@code java.util.concurrent.locks}, and locks that are re-entrant as those are. */
public final class JavaLocks {
    private JavaLocks() {}

    /**
     * {@return a {@code Lock} that is bound to the thread and re-entrant, while leases are neither}
     *
     * <ul>
     *   <li>A thread that locks again shares its first lease and token; the lease is released with the last unlock.
     *   <li>Unlock by a thread that does not hold it throws {@code IllegalMonitorStateException}.
     *   <li>If the lease is lost, {@code currentLease().state()} says so, a nested lock or tryLock throws
     *       {@link LeaseLostException}, and unlock returns normally, so that an exception under way is not hidden:
     *       check {@code ensureHeld()} before an effect, or before the last unlock.
     *   <li>{@code lock()} is not ended by an interrupt and keeps its place in the queue.
     *   <li>{@code lock()} waits for a future of the client, so that it must not be called where the client completes
     *       its futures: in a {@link LockListener}, in a dependent of a future, or elsewhere on the event executor, if
     *       that has no other thread. It would wait forever.
     *   <li>{@code newCondition()} throws {@code UnsupportedOperationException}.
     * </ul>
     *
     * @param lock the lock to adapt; two adapters of one lock exclude each other, also in one thread
     */
    public static LeasedLock reentrant(DistributedLock lock) {
        return new ReentrantLeasedLock(lock);
    }

    /**
     * {@return the locks of that client, re-entrant by thread and name, which give leases}
     *
     * <ul>
     *   <li>A thread that acquires a name again gets another lease of the same grant at once, with the same token and
     *       the options of the first.
     *   <li>Each lease is released once, by any thread; the last one gives the lock back, in whatever order they are
     *       closed. {@link Lease#release()} of another says RELEASED, or ALREADY_LOST if the grant was lost by then.
     *   <li>While a thread has a lease that was lost and not closed, its next acquire of that name throws
     *       {@link LeaseLostException}: the outer work has to stop first.
     *   <li>{@code acquireAsync} and {@code tryAcquireAsync} give another lease of the grant if the calling thread has
     *       one; what else they give belongs to no thread, so that a later acquire of that thread waits for it.
     * </ul>
     *
     * @param client the client to adapt; two adapters of one client know nothing of each other, so keep one
     */
    public static ReentrantLocks reentrant(LockClient client) {
        return new ReentrantLeases(client);
    }
}
