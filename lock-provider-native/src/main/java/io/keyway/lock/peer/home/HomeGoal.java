// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.home;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of clients that are attached to one member. */
enum HomeGoal implements CoverageGoal {
    /** Somebody waited for a member that did not answer. */
    SILENCE_TOLD,
    /** A request that does not wait ended since others do not answer. */
    REFUSED_FOR_SILENCE,
    /** A request that does not wait ended since another one was before it. */
    REFUSED_BEHIND,
    /** The turn of a client came that had not been heard lately. */
    TURN_OF_THE_SILENT,
    /** A client claims what cannot be taken over. */
    CLAIM_REFUSED,
    /** A request was withdrawn when it had been granted. */
    WITHDRAWN_AFTER_GRANT,
    /** A grant ended since its client was not heard. */
    GRANT_AFTER_EXPIRY
}
