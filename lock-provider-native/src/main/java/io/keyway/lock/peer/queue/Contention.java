// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;

/**
 * Clients have taken one lock from each other, a moment ago. As long as that is remembered, each grant of the lock is
 * wanted: it goes back at its release instead of lying in a cache from which it would be recalled at once, and no
 * client has the lock again and again while the others are on their way.
 */
final class Contention {
    /** For so long after a holder gave the lock to another client that waited for it, in nanoseconds. */
    private static final long CALM = 100_000_000;

    private final long since;

    /** A holder gives the lock to another client at that time. */
    Contention(long since) {
        this.since = since;
    }

    boolean isOver(Turn turn) {
        return turn.now() - since >= CALM;
    }

    void encode(StateEncoder out) {
        out.time(since);
    }
}
