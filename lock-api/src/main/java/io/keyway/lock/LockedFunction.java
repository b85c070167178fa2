// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/**
 * Work that is done under a lock and has a result.
 *
 * @param <T> the result
 * @param <X> what the work may throw
 */
@FunctionalInterface
public interface LockedFunction<T, X extends Exception> {
    /**
     * Does the work; {@code lease} is held when it starts.
     *
     * @param lease the lease, held when the work starts
     * @return the result
     * @throws X what the work throws
     */
    T apply(Lease lease) throws X;
}
