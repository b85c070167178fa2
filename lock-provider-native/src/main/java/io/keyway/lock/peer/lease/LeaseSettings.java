// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

/**
 * What one side of the lease service is told once.
 *
 * @param cache whether a client keeps released locks
 * @param cacheFor nanoseconds after which an idle cached lock goes back
 * @param cacheSize how many grants of a client may stay cached
 * @param recallAtRenewal a member recalls only when the holder is next heard, as the source does without its recall message
 * @param maxWaiters how many requests may wait for one name
 * @param stopsBeforeRevoked a client confirms a break only when the user of the broken lease says that it has stopped, by releasing it; otherwise at once
 */
public record LeaseSettings(
        boolean cache,
        long cacheFor,
        int cacheSize,
        boolean recallAtRenewal,
        int maxWaiters,
        boolean stopsBeforeRevoked) {
    public static LeaseSettings defaults() {
        return new LeaseSettings(true, 30_000_000_000L, 1000, false, 100_000, false);
    }

    public LeaseSettings withoutCache() {
        return new LeaseSettings(false, cacheFor, cacheSize, recallAtRenewal, maxWaiters, stopsBeforeRevoked);
    }

    public LeaseSettings withCache(long forNanos, int size) {
        return new LeaseSettings(true, forNanos, size, recallAtRenewal, maxWaiters, stopsBeforeRevoked);
    }

    public LeaseSettings withRecallAtRenewal() {
        return new LeaseSettings(cache, cacheFor, cacheSize, true, maxWaiters, stopsBeforeRevoked);
    }

    public LeaseSettings withStopBeforeRevoked() {
        return new LeaseSettings(cache, cacheFor, cacheSize, recallAtRenewal, maxWaiters, true);
    }
}
