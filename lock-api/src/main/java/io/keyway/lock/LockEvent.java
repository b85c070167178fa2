// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lock of this client, to its connection, or to the cluster behind it.
 *
 * <p>Of a cluster it is told where members must agree, in the native provider's bakery and Lamport's queue, what the
 * member sees that serves this client, from the client's first request on.
 *
 * @param type what happened
 * @param key which lock or semaphore; null for CONNECTED, DISCONNECTED and what is told of the cluster, which concern
 *     all
 * @param token the grant, where there is one
 * @param server the server or peer, where it is known
 * @param after how long the wait (WAITING, GRANTED, WITHDRAWN), the hold (the others) or the connection had lasted, or
 *     the state of the cluster that is over
 */
public record LockEvent(Type type, @Nullable LockKey key, OptionalLong token, Optional<String> server, Duration after) {

    /** The kinds of events. */
    public enum Type {
        /** A request is queued behind others. */
        WAITING,
        /** A lease began. */
        GRANTED,
        /** A lease is overdue for renewal, or the store doubts it; it is still held. */
        DOUBTFUL,
        /** The doubt is over. */
        RECOVERED,
        /** A lease ended other than by its release. */
        LOST,
        /** A lease was released. */
        RELEASED,
        /** A request ended without a lease: time ran out, interrupted, cancelled or closed. */
        WITHDRAWN,
        /** A lease is held longer than {@code warnAfter}. */
        HELD_LONG,
        /** A lease is about to end by its {@code maxHold}: its holder is to stop and release it. */
        UNLOCKING,
        /** A connection to a server or peer stands. */
        CONNECTED,
        /** A connection to a server or peer broke; no lease ends by this alone. */
        DISCONNECTED,
        /** As many members of the cluster as have to answer the one that serves this client. */
        CLUSTER_UP,
        /** They do not. In the bakery leases are DOUBTFUL, and end at their deadlines unless it is up again. */
        CLUSTER_DOWN,
        /** The members that decide are there: locks can be granted. */
        LOCK_READY,
        /** They are not there, or not elected: requests wait. */
        NO_LOCK
    }

    /**
     * Checks that nothing but the key is null.
     *
     * @param type see the record
     * @param key see the record
     * @param token see the record
     * @param server see the record
     * @param after see the record
     */
    public LockEvent {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(after, "after");
    }
}
