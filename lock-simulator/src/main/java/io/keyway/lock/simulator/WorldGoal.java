// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What a campaign must have done to its worlds, besides every {@link Fault.Kind}. */
enum WorldGoal implements CoverageGoal {
    MEMBER_RESTARTED,
    CLIENT_RESTARTED,
    /** Clocks of a member and of a client ran as far apart as they may: one 1 % too fast, the other 1 % too slow. */
    RATES_AT_THE_LIMIT,
    /** A member that started anew waited for the horizon on its disk. */
    STARTED_BY_HORIZON,
    /** An oracle looked for what is left of a process that had ended. */
    LOOKED_FOR_THE_DEAD,
    /** A process was stopped in the middle of what it said. */
    STOPPED_WITHIN_A_STEP
}
