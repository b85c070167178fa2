// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.Optional;

/**
 * A member that was started anew, or has taken over, and grants nothing yet, since leases of before may be held.
 *
 * @param server the member
 * @param left for how long, as far as it is known now; more than zero
 */
public record Opening(String server, Duration left) {
    /**
     * What {@code client.unwrap(Opening.Watch.class)} returns, for clients of members that may be in other processes.
     */
    public interface Watch {
        /**
         * Returns what a request for a lock of this name waits for although nobody holds it; empty if nothing is known
         * of that.
         */
        Optional<Opening> of(LockName name);
    }

    /** Half a sentence for people. */
    @Override
    public String toString() {
        return server + " was just started, or has taken over, and grants nothing for another "
                + left.plusMillis(999).toSeconds() + "s";
    }
}
