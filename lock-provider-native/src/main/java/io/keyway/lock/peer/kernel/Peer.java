// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * The other end of a session: at a member the session of one client, at a client the session with its member.
 *
 * @param session the session's number, unique within one incarnation of the member; never 0
 */
public record Peer(long session) {
    @Override
    public boolean equals(Object other) {
        return other instanceof Peer peer && peer.session == session;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(session);
    }
}
