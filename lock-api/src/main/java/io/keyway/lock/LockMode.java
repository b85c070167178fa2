// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

/** How a grant shares its lock with others. */
public enum LockMode {
    /** Alone: no other grant of the lock stands beside it. */
    EXCLUSIVE,
    /** Beside other shared grants, never beside an exclusive one. */
    SHARED,
    /** Some permits of a semaphore. */
    PERMITS
}
