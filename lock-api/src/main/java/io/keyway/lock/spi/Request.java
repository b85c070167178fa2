// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.WriterPolicy;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * A request for a grant.
 *
 * @param id unique within the client; with the incarnation unique forever
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
 * @param quiet of a soft writer ({@link WriterPolicy#soft}): for how long no reader may have been granted, zero if that
 *     does not matter. Empty for all others, and always without {@link io.keyway.lock.Feature#DRAIN}
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
        Optional<Duration> quiet) {
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
     * @param quiet see the record
     */
    public Request {
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(mode, "mode");
        Objects.requireNonNull(ttl, "ttl");
        Objects.requireNonNull(owner, "owner");
        Objects.requireNonNull(quiet, "quiet");
        if (holdAtLeast.isNegative()) {
            throw new IllegalArgumentException("holdAtLeast " + holdAtLeast + " is negative");
        }
        if (perResource < 1) {
            throw new IllegalArgumentException("a resource has at least 1 permit, not " + perResource);
        }
        if (mode != LockMode.EXCLUSIVE && quiet.isPresent()) {
            throw new IllegalArgumentException("a writer may be soft, and not a request for " + mode);
        }
        if (quiet.isPresent() && quiet.get().isNegative()) {
            throw new IllegalArgumentException("a time without readers is not negative: " + quiet.get());
        }
    }

    /**
     * A request of a hard writer, of a reader, or for permits.
     *
     * @param id unique within the client; with the incarnation unique forever
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
        this(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, perResource, Optional.empty());
    }

    /**
     * A request for permits of one resource, or for a lock.
     *
     * @param id unique within the client; with the incarnation unique forever
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
     * @param id unique within the client; with the incarnation unique forever
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
        return new Request(id, key, mode, permits, capacity, other, queue, owner, holdAtLeast, perResource, quiet);
    }

    /**
     * {@return the same request of a writer, soft or not}
     *
     * @param other as of the record
     */
    public Request withQuiet(Optional<Duration> other) {
        return new Request(id, key, mode, permits, capacity, ttl, queue, owner, holdAtLeast, perResource, other);
    }

    /** {@return whether it is a writer that keeps nobody waiting, and has no place in the queue} */
    public boolean isSoft() {
        return quiet.isPresent();
    }
}
