// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/** The ways in which the source's lease service is unsafe, one switch each. */
public enum Unsafe {
    /** A grant is believed for 3/4 ttl from its receipt, however old its echo is. */
    DEADLINE_FROM_RECEIPT,
    /** Whatever a client sends about a grant ends the grant it has now. */
    RELEASE_WITHOUT_TOKEN,
    /** A member that restarts with an empty memory grants at once. */
    NO_QUARANTINE,
    /** A client that accepted a recall goes on using its cached lock. */
    CACHE_DURING_OFFER,
    /** A late answer to a former request is taken for the grant of the present one. */
    LATE_ANSWER_IS_A_GRANT,
    /**
     * A waiter that gives up tells nobody, and a grant to it goes nowhere. Not two believers, but a lock that lies
     * idle.
     */
    WAITER_STAYS,
    /** A lock that is to be held at least for some time is free at its release. */
    KEEPS_NOTHING,
    /** A member that starts anew waits for leases only, and not for what is kept beyond them. */
    PROMISES_LEASES_ONLY
}
