// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

/**
 * A grant as its authority made it, and as the oracles follow it. Times of the authority are on its own clock.
 *
 * @param member the node that grants
 * @param memberLife that node's incarnation
 * @param client the node that holds it
 * @param life that node's incarnation
 * @param token the first token
 * @param hi the last one that may be handed out
 * @param ttl nanoseconds
 * @param atLeast for how long it keeps others out at the least; 0 for no such time
 */
record Grant(
        String name,
        int member,
        int memberLife,
        long session,
        int client,
        int life,
        long request,
        long token,
        long hi,
        long ttl,
        long atLeast) {
    /** How a grant ends at the authority. */
    enum End {
        /** The holder's word: released, accepted, withdrawn. */
        GIVEN_BACK,
        /** Broken, and the holder confirmed it. */
        BROKEN,
        /** The session was not heard for the ttl. */
        EXPIRED,
        /** The session ended by silence. */
        SESSION_SILENT,
        /** The session ended by its client's word, or its process is dead. */
        SESSION_ENDED,
        /** A conflict, or a start after a clean end. */
        OTHER,
        /** The authority itself ended and forgot it. */
        FORGOTTEN
    }

    boolean covers(long asked) {
        return asked >= token && asked <= hi;
    }
}
