// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Optional;

/**
 * The two modes of one lock: {@code client.lock(n)} and {@code client.readWriteLock(n).write()} are the same. Rules
 * LK-1201 to LK-1206.
 */
public interface DistributedReadWriteLock {

    /** {@return the name} */
    LockName name();

    /** {@return the lock in mode SHARED: readers stand beside each other, never beside a writer} */
    DistributedLock read();

    /** {@return the lock in mode EXCLUSIVE} */
    DistributedLock write();

    /**
     * Turns a read lease into a write lease without a gap, within {@code wait}; zero or less asks once and does not
     * wait. If it succeeds {@code read} is RELEASED in the same step, and the new lease has its options and a higher
     * token; if it does not, {@code read} is held as before. Of two readers that want this at once the second gets an
     * empty answer at once, since each would wait for the other.
     *
     * @param read a SHARED lease of this lock and this client
     * @param wait how long to wait for the other readers; zero or less asks once
     * @return the write lease, or empty if {@code read} is held as before
     * @throws UnsupportedFeatureException without UPGRADE, before anything is sent
     * @throws LeaseLostException if {@code read} is lost
     * @throws IllegalStateException if {@code read} was released
     * @throws IllegalArgumentException if {@code read} is no such lease
     * @throws LockUnavailableException if the store gave no answer within {@code wait}; {@code read} is held as before
     * @throws InterruptedException if interrupted while waiting; {@code read} is held as before
     */
    Optional<Lease> tryUpgrade(Lease read, Duration wait) throws InterruptedException;

    /**
     * Turns a write lease into a read lease without a gap, within the request timeout. {@code write} is RELEASED as
     * soon as this is sent, since other readers may be granted before the answer is here; an interrupt is kept for
     * later.
     *
     * @param write an EXCLUSIVE lease of this lock and this client
     * @return the new lease, with the options of {@code write} and a higher token
     * @throws UnsupportedFeatureException without UPGRADE, before anything is sent
     * @throws LeaseLostException if {@code write} is lost
     * @throws IllegalStateException if {@code write} was released
     * @throws IllegalArgumentException if {@code write} is no such lease
     * @throws OutcomeUnknownException if the store gave no answer in time; the lock is given back in the background
     */
    Lease downgrade(Lease write);
}
