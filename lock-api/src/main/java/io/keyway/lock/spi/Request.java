// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.WriterPolicy;
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
 * @param holdAtLeast how long after the grant the authority keeps others out at the least; zero for no such time, and
 *     always without {@link io.keyway.lock.Feature#HOLD_AT_LEAST}
 * @param perResource how many permits there are for one resource in the caller's view, whose multiple the capacity is;
 *     at least 1, and 1 for a lock
 * @param policy what it does to readers while it waits, if it asks for EXCLUSIVE; hard for all others, and always
 *     without {@link io.keyway.lock.Feature#DRAIN}
 */
public record Request(
        long id,
        LockKey key,
        LockMode mode,
        int permits,
        int capacity,
        Duration ttl,
        boolean queue,
        Owner owner,
        Duration holdAtLeast,
        int perResource,
        WriterPolicy policy) {
    /**
     * Checks that nothing is null, that no time is negative, that a resource has a permit, and that only writers yield.
     *
     * @param id see the record
     * @param key see the record
     * @param mode see the record
     * @param permits see the record
     * @param capacity see the record
     * @param ttl see the record
     * @param queue see the record
     * @param owner see the record
     * @param holdAtLeast see the record
     * @param perResource see the record
     * @param policy see the record
     */
    public Request {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(ttl, "ttl");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(policy, "policy");
        if (holdAtLeast.isNegative()) {
            throw new IllegalArgumentException("holdAtLeast " + holdAtLeast + " is negative");
        }
        if (perResource < 1) {
            throw new IllegalArgumentException("a resource has at least 1 permit, not " + perResource);
        }
        if (mode != LockMode.EXCLUSIVE && policy.isSoft()) {
            throw new IllegalArgumentException("a writer may be soft, and not a request for " + mode);
        }
    }

    /**
     * A request of a hard writer, of a reader, or for permits.
     *
     * @param id unique within the client; with the incarnation unique for ever
     * @param key which lock or semaphore
     * @param mode EXCLUSIVE or SHARED for a lock, PERMITS for a semaphore
     * @param permits how many; 1 for a lock
     * @param capacity the capacity in the caller's view; 1 for a lock
     * @param ttl how long the authority keeps the grant for a silent holder
     * @param queue whether to wait behind others; if not, one attempt
     * @param owner who asks
     * @param holdAtLeast as of the record
     * @param perResource as of the record
     */
    public Request(
            long id,
            LockKey key,
            LockMode mode,
            int permits,
            int capacity,
            Duration ttl,
            boolean queue,
            Owner owner,
            Duration holdAtLeast,
            int perResource) {
        this(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, perResource, WriterPolicy.hard());
    }

    /**
     * A request for permits of one resource, or for a lock.
     *
     * @param id unique within the client; with the incarnation unique for ever
     * @param key which lock or semaphore
     * @param mode EXCLUSIVE or SHARED for a lock, PERMITS for a semaphore
     * @param permits how many; 1 for a lock
     * @param capacity the capacity in the caller's view; 1 for a lock
     * @param ttl how long the authority keeps the grant for a silent holder
     * @param queue whether to wait behind others; if not, one attempt
     * @param owner who asks
     * @param holdAtLeast as of the record
     */
    public Request(
            long id,
            LockKey key,
            LockMode mode,
            int permits,
            int capacity,
            Duration ttl,
            boolean queue,
            Owner owner,
            Duration holdAtLeast) {
        this(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, Math.max(1, capacity));
    }

    /**
     * A request for permits of one resource, or for a lock, that is not held at least for any time.
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
    public Request(
            long id, LockKey key, LockMode mode, int permits, int capacity, Duration ttl, boolean queue, Owner owner) {
        this(id, key, mode, permits, capacity, ttl, queue, owner, Duration.ZERO);
    }

    /**
     * {@return the same request with another ttl}
     *
     * @param other how long the authority is to keep the grant for a silent holder
     */
    public Request withTtl(Duration other) {
        return new Request(id, key, mode, permits, capacity, other, queue, owner, holdAtLeast, perResource, policy);
    }

    /**
     * {@return the same request of a writer with another policy}
     *
     * @param other what it does to readers while it waits
     */
    public Request withPolicy(WriterPolicy other) {
        return new Request(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, perResource, other);
    }
}
