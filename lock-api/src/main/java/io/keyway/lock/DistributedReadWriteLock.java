// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;

/** The two modes of one lock: {@code client.lock(n)} and {@code client.readWriteLock(n).write()} are the same. Rules LK-1201 to LK-1206. */
public interface DistributedReadWriteLock {

    /** Returns the name. */
    LockName name();

    /** Returns the lock in mode SHARED: readers stand beside each other, never beside a writer. */
    DistributedLock read();

    /** Returns the lock in mode EXCLUSIVE. */
    DistributedLock write();

    /**
     * Turns a read lease into a write lease without a gap, within {@code wait}. If it succeeds {@code read} is RELEASED
     * in the same step; if it does not, {@code read} is held as before. Of two readers that wait for this at once, at
     * most one succeeds.
     *
     * @throws UnsupportedFeatureException without UPGRADE, before anything is sent
     * @throws InterruptedException if interrupted while waiting; {@code read} is held as before
     */
    Optional<Lease> tryUpgrade(Lease read, Duration wait) throws InterruptedException;

    /** Turns a write lease into a read lease: {@code write} is RELEASED and the new lease begins in the same step. */
    Lease downgrade(Lease write);
}
