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
    /** Does the work; {@code lease} is held when it starts. */
    T apply(Lease lease) throws X;
}
