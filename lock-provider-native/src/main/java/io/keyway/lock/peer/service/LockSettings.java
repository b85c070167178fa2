// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/**
 * What one side of the lease service is told once.
 *
 * @param cache whether a client keeps released locks
 * @param cacheFor nanoseconds after which an idle cached lock goes back
 * @param cacheSize how many grants of a client may stay cached
 * @param recallAtRenewal a member recalls only when the holder is next heard, as the source does without its recall
 *     message
 * @param maxWaiters how many requests may wait for one name
 * @param stopsBeforeRevoked a client confirms a break only when the user of the broken lease says that it has stopped,
 *     by releasing it; otherwise at once
 */
public record LockSettings(
        boolean cache,
        long cacheFor,
        int cacheSize,
        boolean recallAtRenewal,
        int maxWaiters,
        boolean stopsBeforeRevoked) {
    public static LockSettings defaults() {
        return new LockSettings(true, 30_000_000_000L, 1000, false, 100_000, false);
    }

    public LockSettings withoutCache() {
        return new LockSettings(false, cacheFor, cacheSize, recallAtRenewal, maxWaiters, stopsBeforeRevoked);
    }

    public LockSettings withCache(long forNanos, int size) {
        return new LockSettings(true, forNanos, size, recallAtRenewal, maxWaiters, stopsBeforeRevoked);
    }

    public LockSettings withRecallAtRenewal() {
        return new LockSettings(cache, cacheFor, cacheSize, true, maxWaiters, stopsBeforeRevoked);
    }

    public LockSettings withStopBeforeRevoked() {
        return new LockSettings(cache, cacheFor, cacheSize, recallAtRenewal, maxWaiters, true);
    }
}
