// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Something that happened in an election, to the candidate that is told or to the leader that an observer sees.
 *
 * @param type what happened
 * @param election the name of the election
 * @param leader the name of the candidate that it is about
 * @param token the fencing token of its leadership; empty only for an observer whose provider shows none
 * @param loss of SURRENDERED, how the leadership was lost; empty if it was given up, and for observers
 */
public record ElectionEvent(Type type, LockName election, String leader, OptionalLong token, Optional<LeaseLoss> loss) {

    /** The kinds of events. */
    public enum Type {
        /** It leads. */
        ELECTED,
        /** It leads still, but its lease is overdue for renewal, or doubted: {@link Lease.State#DOUBTFUL}. */
        UNCERTAIN,
        /** The doubt is over. */
        CERTAIN,
        /** It leads no more: it lost the leadership or gave it up. */
        SURRENDERED
    }

    /**
     * Checks that nothing is null.
     *
     * @param type see the record
     * @param election see the record
     * @param leader see the record
     * @param token see the record
     * @param loss see the record
     */
    public ElectionEvent {
        Objects.requireNonNull(type, "type");
        Objects.requireNonNull(election, "election");
        Objects.requireNonNull(leader, "leader");
        Objects.requireNonNull(token, "token");
        Objects.requireNonNull(loss, "loss");
    }
}
