// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** Rare situations that a campaign of simulations has to reach. */
enum ElectionGoal implements CoverageGoal {
    /** An election was held before its date, since all were there. */
    ALL_THERE,
    /** A leader that was lost got a successor. */
    LEADER_REPLACED,
    /** A member asked for votes that had been given to a later view. */
    DESISTED,
    /** A member gave up counting. */
    RETIRED,
    /** Who had voted and heard of no result asked for another election. */
    RERUN,
    /** A member suspected a leader that the others hear. */
    SUSPECTED_ALONE,
    /** A member that had lost its file learned what the others have promised. */
    LEARNED,
    /** A member of a cluster that has never run before had forgotten nothing. */
    FIRST_USE,
    /** A member heard of a view that had been elected without it. */
    LATE,
    /** A member that had voted for a later view did not confirm the present one. */
    NOT_CONFIRMED
}
