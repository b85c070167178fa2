// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Turn;

/**
 * How far ahead a member promises the end of its leases on disk. A frame that would make a lease end later waits for a
 * later promise.
 *
 * @param forcedUntil what is on disk at the start, on the cell's clock
 * @param ahead nanoseconds that a promise reaches beyond need; a new one is made when half of it is used up
 */
public record Horizon(long forcedUntil, long ahead) {
    /** For members that forget: each of their starts waits a whole quarantine. */
    public static final Horizon NONE = new Horizon(Turn.NEVER, 0);

    public Horizon {
        if (ahead < 0) {
            throw new IllegalArgumentException("ahead: " + ahead);
        }
    }

    boolean kept() {
        return forcedUntil != Turn.NEVER;
    }
}
