// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of locks and semaphores that several hold together. */
public enum SharedGoal implements CoverageGoal {
    /** A grant was made beside another one, and nobody waited. */
    JOINED,
    /** A waiter had several caches recalled. */
    SEVERAL_RECALLED,
    /** A request that does not wait was refused when some of those who were asked had said that they use it. */
    ENOUGH_DENIED,
    /** A request that does not wait was behind another one. */
    NO_WAIT_BEHIND_NO_WAIT,
    UPGRADED_AT_ONCE,
    UPGRADED_AFTER_WAITING,
    SECOND_UPGRADE_REFUSED,
    /** The read grant that was to be upgraded ended before. */
    UPGRADE_ENDED_WITH_ITS_GRANT,
    /** The client did not take it, and goes on with the read grant, or ended that. */
    UPGRADE_TAKEN_BACK,
    UPGRADE_OF_THE_SILENT,
    UPGRADE_DURING_A_BREAK,
    DOWNGRADED,
    /** A larger view waited until those with a smaller one could take no permit from their caches. */
    NARROW_CACHES_ASKED,
    /** Somebody with a larger view of the capacity went past one that its own view refuses. */
    PASSED_BY_A_LARGER_VIEW
}
