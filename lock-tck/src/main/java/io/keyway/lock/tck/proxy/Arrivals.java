// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.proxy;

/** What a {@link FaultProxy} does with new connections. */
public enum Arrivals {
    /** They are passed on to the server. */
    SERVED,
    /**
     * They are accepted, and nothing ever comes of them: neither an answer nor an end. A server that is stopped looks
     * like this.
     */
    MUTE,
    /** Nobody listens: the client gets "connection refused". */
    REFUSED
}
