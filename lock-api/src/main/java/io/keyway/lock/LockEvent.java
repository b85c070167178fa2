// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Something that happened to a lock of this client, or to its connection.
 *
 * @param type what happened
 * @param key which lock or semaphore; null for CONNECTED and DISCONNECTED, which concern all
 * @param token the grant, where there is one
 * @param server the server or peer, where it is known
 * @param after how long the wait (WAITING, GRANTED, WITHDRAWN), the hold (the others) or the connection had lasted
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
        /** A connection to a server or peer stands. */
        CONNECTED,
        /** A connection to a server or peer broke; no lease ends by this alone. */
        DISCONNECTED
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
