// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Who holds a lock or semaphore and who waits for it.
 *
 * @param key which one
 * @param holders in the order of their grants
 * @param waiters in the order of the queue, where the provider has one
 * @param buckets of a semaphore how many permits of each resource are out, the first resource first: all but the last
 *     are at the limit of {@link Capacity#perResource} that the latest grant was asked with; empty for a lock, while no
 *     permit is out, and where the provider does not tell: the native one tells up to 10,000 resources
 * @param softWriters who waits without a place in the queue ({@link WriterPolicy#soft}), in no order; of one that waits
 *     for a time without readers {@link Waiter#since} is how long there was none, since it asked
 */
public record LockStatus(
        LockKey key, List<Holder> holders, List<Waiter> waiters, List<Integer> buckets, List<Waiter> softWriters) {

    /**
     * Copies the lists.
     *
     * @param key see the record
     * @param holders see the record
     * @param waiters see the record
     * @param buckets see the record
     * @param softWriters see the record
     */
    public LockStatus {
        Objects.requireNonNull(key, "key");
        holders = List.copyOf(holders);
        waiters = List.copyOf(waiters);
        buckets = List.copyOf(buckets);
        softWriters = List.copyOf(softWriters);
    }

    /**
     * Of a lock, or of a semaphore without its buckets.
     *
     * @param key which one
     * @param holders in the order of their grants
     * @param waiters in the order of the queue, where the provider has one
     */
    public LockStatus(LockKey key, List<Holder> holders, List<Waiter> waiters) {
        this(key, holders, waiters, List.of(), List.of());
    }

    /**
     * Of a lock without soft writers, or of a semaphore.
     *
     * @param key which one
     * @param holders in the order of their grants
     * @param waiters in the order of the queue, where the provider has one
     * @param buckets see the record
     */
    public LockStatus(LockKey key, List<Holder> holders, List<Waiter> waiters, List<Integer> buckets) {
        this(key, holders, waiters, buckets, List.of());
    }

    /**
     * One grant in force, or one that has ended and whose place is kept for the rest of its
     * {@link LockOptions#withHoldAtLeast} time.
     *
     * @param client the name of the holder's client
     * @param mode its mode
     * @param permits its permits; 1 for a lock
     * @param token its fencing token
     * @param since how long it has been held, in whichever mode; with a store that notes no grants, as ZooKeeper, how
     *     long ago it was asked for
     * @param metadata what the holder said about itself
     * @param kept how much longer the place of a grant that has ended is kept; empty for a grant in force
     */
    public record Holder(
            String client,
            LockMode mode,
            int permits,
            OptionalLong token,
            Duration since,
            Map<String, String> metadata,
            Optional<Duration> kept) {
        /**
         * A grant in force.
         *
         * @param client the name of the holder's client
         * @param mode its mode
         * @param permits its permits; 1 for a lock
         * @param token its fencing token
         * @param since how long it has been held, in whichever mode
         * @param metadata what the holder said about itself
         */
        public Holder(
                String client,
                LockMode mode,
                int permits,
                OptionalLong token,
                Duration since,
                Map<String, String> metadata) {
            this(client, mode, permits, token, since, metadata, Optional.empty());
        }

        /**
         * Copies the metadata.
         *
         * @param client see the record
         * @param mode see the record
         * @param permits see the record
         * @param token see the record
         * @param since see the record
         * @param metadata see the record
         * @param kept see the record
         */
        public Holder {
            Objects.requireNonNull(client, "client");
            Objects.requireNonNull(mode, "mode");
            Objects.requireNonNull(token, "token");
            Objects.requireNonNull(since, "since");
            Objects.requireNonNull(kept, "kept");
            metadata = Map.copyOf(metadata);
        }
    }

    /**
     * One request that waits.
     *
     * @param client the name of the waiter's client
     * @param mode the mode it asks for
     * @param permits the permits it asks for; 1 for a lock
     * @param token empty, unless the provider knows the waiter's token before the grant
     * @param since how long it has waited
     * @param metadata what the waiter said about itself
     */
    public record Waiter(
            String client,
            LockMode mode,
            int permits,
            OptionalLong token,
            Duration since,
            Map<String, String> metadata) {
        /**
         * Copies the metadata.
         *
         * @param client see the record
         * @param mode see the record
         * @param permits see the record
         * @param token see the record
         * @param since see the record
         * @param metadata see the record
         */
        public Waiter {
            Objects.requireNonNull(client, "client");
            Objects.requireNonNull(mode, "mode");
            Objects.requireNonNull(token, "token");
            Objects.requireNonNull(since, "since");
            metadata = Map.copyOf(metadata);
        }
    }
}
