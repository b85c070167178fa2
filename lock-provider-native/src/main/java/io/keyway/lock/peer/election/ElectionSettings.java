// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.Key;
import java.util.List;

/**
 * What an election is configured with.
 *
 * @param key of the machine at each member
 * @param users the machines of the same cell that hear of views, by {@link ElectionCall}
 * @param leaders how many a view has; all members where there are fewer. The same at all members
 * @param priority of this member: 1 to 14, the smallest first, or {@link Identifier#OFF}
 * @param lease for how long a view counts that a majority has confirmed, in nanoseconds; as long as the longest grant
 *     where that is less
 * @param patience for how long a leader is suspected before another one is elected, in nanoseconds; a lease where that
 *     is less
 * @param bounds what leaders have recorded
 */
public record ElectionSettings(
        Key key, List<Key> users, int leaders, int priority, long lease, long patience, Bounds bounds) {
    /** As the source has it. */
    public static final int LEADERS = 3;

    /** @throws IllegalArgumentException if the number of leaders is not 1, 3 or 5, or the priority not 1 to 15 */
    public ElectionSettings {
        users = List.copyOf(users);
        if (leaders != 1 && leaders != 3 && leaders != 5) {
            throw new IllegalArgumentException("leaders: " + leaders + " is none of 1, 3 and 5");
        }
        if (priority < 1 || priority > Identifier.OFF) {
            throw new IllegalArgumentException("priority: " + priority + " is not within 1 to " + Identifier.OFF);
        }
    }

    /**
     * With leases of a view that are as long as the longest grant, and plain numbers. A member that ends in good order
     * and starts again within five seconds keeps its seat, which it can use at once.
     */
    public ElectionSettings(Key key, List<Key> users, int leaders, int priority) {
        this(key, users, leaders, priority, Long.MAX_VALUE, 5_000_000_000L, Bounds.NUMBERS);
    }

    /** The length of a lease where no grant is longer than that, in nanoseconds. */
    public long lease(long maxTtl) {
        return Math.min(lease, maxTtl);
    }
}
