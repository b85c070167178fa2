// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What only users of shared locks can meet, and the last two those of permits too. */
enum ModeGoal implements CoverageGoal {
    /** Two readers or more gave their cached locks back for one writer. */
    READERS_RECALLED,
    /** A cached lock of a reader served without its member. */
    CACHED_READER,
    UPGRADED,
    /** It went on reading. */
    UPGRADE_REFUSED,
    UPGRADE_WITHDRAWN,
    RELEASED_WHILE_UPGRADING,
    /** What it read ended while it waited to write. */
    ENDED_WHILE_UPGRADING,
    DOWNGRADED,
    DOWNGRADE_GIVEN_UP,
    RELEASED_TWICE,
    /** A client claimed what the member had taken over from one that ended in good order. */
    TAKEN_OVER
}
