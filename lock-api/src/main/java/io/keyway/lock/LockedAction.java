// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * Work that is done under a lock and has no result.
 *
 * @param <X> what the work may throw
 */
@FunctionalInterface
public interface LockedAction<X extends Exception> {
    /**
     * Does the work; {@code lease} is held when it starts.
     *
     * @param lease the lease, held when the work starts
     * @throws X what the work throws
     */
    void run(Lease lease) throws X;
}
