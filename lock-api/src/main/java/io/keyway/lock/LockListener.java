// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * Is told what happens to the locks of one client; on the event executor, one event at a time, in order. Rules LK-901
 * to LK-906.
 */
@FunctionalInterface
public interface LockListener {
    /**
     * Handles one event. What it throws is logged, and the next event is delivered all the same.
     *
     * <p>A listener that is slow holds up the other listeners and the dependents of futures of its client, and no lock:
     * events wait in a bounded queue, and what does not fit is counted and dropped. Never wait here for a future of the
     * same client ({@code join}, {@code get}) or in {@link JavaLocks#reentrant} for a lock: on the client's own event
     * thread, which would have to complete it, that waits forever. {@link DistributedLock#acquire()} and
     * {@link Lease#release()} need no event thread.
     *
     * @param event what happened
     */
    void onEvent(LockEvent event);
}
