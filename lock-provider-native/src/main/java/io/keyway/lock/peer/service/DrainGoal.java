// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.peer.kernel.CoverageGoal;

/** The rare situations of soft writers, which wait until nobody else wants a lock. */
public enum DrainGoal implements CoverageGoal {
    DRAINED_AT_ONCE,
    DRAINED_AFTER_WAITING,
    /** A time without readers has passed since the soft writer came, or since the last reader. */
    DRAINED_AFTER_ITS_TIME,
    /** A reader was granted, or may have been, while a soft writer waited. */
    TIME_BEGUN_ANEW,
    /** A reader may have been served from a cache while the recall for a soft writer was on its way. */
    READ_FROM_THE_CACHE,
    /** Nobody held the lock, and a soft writer that was ready waited since others queued. */
    BEHIND_THOSE_THAT_QUEUE
}
