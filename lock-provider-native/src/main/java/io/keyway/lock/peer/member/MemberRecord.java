// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.member;

import io.keyway.lock.peer.os.BootClock;

/**
 * What a member forces to disk before its promises go out.
 *
 * @param epoch reserved for this incarnation, 1 to 2^32 - 1
 * @param largestTtlNanos the longest lease that may be held of this incarnation, or of one before it
 * @param horizonNanos no grant ends later, on the boot clock; from {@link BootClock#horizon}
 * @param listOpened whether this member has opened under the member list of its settings
 * @param keptNanos for how much longer, when this is written, places may be kept in which nobody has to believe; 0 if
 *     none is
 */
public record MemberRecord(long epoch, long largestTtlNanos, long horizonNanos, boolean listOpened, long keptNanos) {
    public MemberRecord {
        if (epoch < 1 || epoch > Epoch.MAX) {
            throw new IllegalArgumentException("epoch " + epoch + " is not in 1 to " + Epoch.MAX);
        }
        if (largestTtlNanos < 0) {
            throw new IllegalArgumentException("largest ttl " + largestTtlNanos + " is negative");
        }
        if (keptNanos < 0) {
            throw new IllegalArgumentException("kept for " + keptNanos + " is negative");
        }
    }

    /** Of a member that keeps nothing beyond its leases. */
    public MemberRecord(long epoch, long largestTtlNanos, long horizonNanos, boolean listOpened) {
        this(epoch, largestTtlNanos, horizonNanos, listOpened, 0);
    }

    /** Of a member that is alone, and so has nobody to ask. */
    public MemberRecord(long epoch, long largestTtlNanos, long horizonNanos) {
        this(epoch, largestTtlNanos, horizonNanos, true);
    }
}
