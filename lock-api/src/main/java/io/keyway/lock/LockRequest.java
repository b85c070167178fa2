// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;

/**
 * One lock that a {@link LockTransaction} asks for.
 *
 * @param name which lock
 * @param mode EXCLUSIVE or SHARED
 */
public record LockRequest(LockName name, LockMode mode) {
    /**
     * Checks the mode.
     *
     * @param name see the record
     * @param mode see the record
     * @throws IllegalArgumentException if the mode is PERMITS
     */
    public LockRequest {
        Objects.requireNonNull(name, "name");
        if (Objects.requireNonNull(mode, "mode") == LockMode.PERMITS) {
            throw new IllegalArgumentException("a transaction takes locks, EXCLUSIVE or SHARED, and no permits of "
                    + name + "; use client.semaphore(name, capacity) for these");
        }
    }

    /**
     * {@return a request for that lock alone}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockRequest exclusive(String name) {
        return new LockRequest(LockName.of(name), LockMode.EXCLUSIVE);
    }

    /**
     * {@return a request for that lock beside other readers}
     *
     * @param name the name of the lock
     * @throws IllegalArgumentException if it is not a name, see {@link LockName#of(String)}
     */
    public static LockRequest shared(String name) {
        return new LockRequest(LockName.of(name), LockMode.SHARED);
    }
}
