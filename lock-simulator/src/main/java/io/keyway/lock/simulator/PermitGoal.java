// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** What only a semaphore of several views of its capacity can meet. */
enum PermitGoal implements CoverageGoal {
    /** More permits were out than somebody who asks says there are. */
    CAPACITY_SHRUNK,
    /** A waiter whose own capacity refuses it was passed over by one with a larger one. */
    SMALLER_VIEW_PASSED_OVER,
    /** A cached permit served without its member. */
    CACHED_PERMIT
}
