// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of Lamport's queue. */
enum LamportGoal implements CoverageGoal {
    /** Two members asked for one lock at the same logical time. */
    EQUAL_STAMPS,
    /** All have answered, and the lock was still with somebody else. */
    WAITED_FOR_A_RELEASE,
    /** A release was lost with a session, and the next list of requests told of it. */
    LOST_RELEASE_TOLD,
    /** A request was lost with a session, and the next list of requests told of it. */
    LOST_REQUEST_TOLD,
    /** Another member has started anew. */
    OTHER_RESTARTED,
    /** A client asked a member that had not heard of all others yet. */
    ASKED_BEFORE_JOINED,
    /** A restarted member took over what its client holds. */
    CLAIM_ADOPTED,
    CLAIM_REFUSED,
    /** The clock went on into the next block. */
    CLOCK_RESERVED,
    /** A client's process had heard of a later time, from another member, than the one that it asked. */
    CLOCK_OF_CLIENT,
    /** An administrator broke what the client of another member held. */
    BROKEN_ELSEWHERE
}
