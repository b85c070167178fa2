// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import java.time.Duration;
import java.util.Objects;

/**
 * A grant of a backend.
 *
 * @param id the id of the request that it answers
 * @param key which lock or semaphore
 * @param token the fencing token
 * @param ttl as granted
 * @param cookie the backend's own, as a node path; may be empty
 */
public record Grant(long id, LockKey key, long token, Duration ttl, String cookie) {
    /**
     * Checks that nothing is null.
     *
     * @param id see the record
     * @param key see the record
     * @param token see the record
     * @param ttl see the record
     * @param cookie see the record
     */
    public Grant {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(ttl, "ttl");
        Objects.requireNonNull(cookie, "cookie");
    }

    /**
     * A grant of a backend that needs no cookie.
     *
     * @param id see the record
     * @param key see the record
     * @param token see the record
     * @param ttl see the record
     */
    public Grant(long id, LockKey key, long token, Duration ttl) {
        this(id, key, token, ttl, "");
    }
}
