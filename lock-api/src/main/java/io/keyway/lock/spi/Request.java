// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import java.time.Duration;
import java.util.Objects;

/**
 * A request for a grant.
 *
 * @param id unique within the client; with the incarnation unique for ever
 * @param key which lock or semaphore
 * @param mode EXCLUSIVE or SHARED for a lock, PERMITS for a semaphore
 * @param permits how many; 1 for a lock
 * @param capacity the capacity in the caller's view; 1 for a lock
 * @param ttl how long the authority keeps the grant for a silent holder
 * @param queue whether to wait behind others; if not, one attempt
 * @param owner who asks
 */
public record Request(
        long id, LockKey key, LockMode mode, int permits, int capacity, Duration ttl, boolean queue, Owner owner) {
    /** Checks that nothing is null. */
    public Request {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(ttl, "ttl");
        Objects.requireNonNull(owner, "owner");
    }
}
