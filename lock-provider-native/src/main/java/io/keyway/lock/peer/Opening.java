// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer;

import io.keyway.lock.LockName;
import java.time.Duration;
import java.util.Optional;

/**
 * A member that was started anew, or has taken over, and grants nothing yet, since leases of before may be held.
 *
 * @param server the member
 * @param left for how long at most, as far as it is known now; more than zero
 * @param firstUse its cluster runs for the first time, as its operator has said: it grants as soon as all members have
 *     answered it, and said the same
 */
public record Opening(String server, Duration left, boolean firstUse) {
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
        return server + why() + (firstUse ? "" : ", and grants nothing for another " + seconds() + "s");
    }

    /** The part of {@link #toString} that follows the member and stays the same while time passes. */
    public String why() {
        return firstUse
                ? " runs for the first time, and waits until all members of its list have answered"
                : " was just started, or has taken over";
    }

    private long seconds() {
        return left.plusMillis(999).toSeconds();
    }
}
