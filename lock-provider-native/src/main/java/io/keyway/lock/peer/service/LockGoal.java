// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of the lease service. */
public enum LockGoal implements CoverageGoal {
    TWO_WAITERS,
    GRANT_AFTER_EXPIRY,
    GRANT_AFTER_QUARANTINE,
    WAITER_PASSED_OVER,
    PASSED_OVER_HEARD_AGAIN,
    UNEXPECTED_GRANT_RETURNED,
    STALE_GRANT_CONFIRMED,
    STALE_GRANT_RETURNED,
    RECALL_ACCEPTED,
    RECALL_DENIED,
    NO_WAIT_THROUGH_IDLE_CACHE,
    LOCAL_HAND_OVER,
    CACHED_REACQUIRE,
    HAND_OVER_FORBIDDEN,
    WITHDRAWN_AFTER_GRANT,
    BELIEF_FROZEN,
    REASSERTED,
    REASSERTION_REFUSED,
    REASSERTIONS_IN_CONFLICT,
    BROKEN,
    BREAK_MOVED_PAST,
    PLACE_KEPT,
    GRANT_AFTER_KEPT_PLACE,
    KEPT_PLACE_BROKEN,
    IDLE_RETURN,
    CACHE_FULL,
    RANGE_USED_UP,
    COUNTER_USED_UP,
    WRONG_MEMBER
}
