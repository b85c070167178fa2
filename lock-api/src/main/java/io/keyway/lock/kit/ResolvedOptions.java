// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.Guarantees;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.Owner;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The options of one view, resolved: nothing is open any more, and the ttl lies within the provider's bounds. */
record ResolvedOptions(
        Duration ttl,
        @Nullable Duration maxHold,
        @Nullable Duration unlockTime,
        Renewal renewal,
        Owner owner,
        @Nullable Duration warnAfter,
        Duration holdAtLeast) {

    /** So many seconds have fewer milliseconds than a long holds. */
    private static final long AGES = Long.MAX_VALUE / 1_000_000;

    /**
     * Resolves {@code options}, of which only the ttl has a default from elsewhere.
     *
     * @param longestHoldAtLeast the provider's bound
     * @throws IllegalArgumentException if the ttl or holdAtLeast is outside the provider's bounds
     */
    static ResolvedOptions of(
            LockOptions options,
            Duration defaultTtl,
            String client,
            Guarantees guarantees,
            Duration longestHoldAtLeast) {
        Duration ttl = options.ttl().orElse(defaultTtl);
        Duration min = guarantees.minTtl();
        Duration max = guarantees.maxTtl();
        if (ttl.compareTo(min) < 0 || ttl.compareTo(max) > 0) {
            throw new IllegalArgumentException("ttl " + text(ttl) + " is outside what this provider grants: "
                    + text(min) + " to " + text(max) + (ttl.compareTo(max) > 0 ? longer(ttl) : ""));
        }
        Duration holdAtLeast = options.holdAtLeast().orElse(Duration.ZERO);
        if (holdAtLeast.compareTo(longestHoldAtLeast) > 0) {
            throw new IllegalArgumentException("holdAtLeast " + text(holdAtLeast)
                    + " is longer than this provider keeps " + "a lock for nobody: " + text(longestHoldAtLeast));
        }
        return new ResolvedOptions(
                ttl,
                options.maxHold().orElse(null),
                options.unlockTime().orElse(null),
                options.renewal().orElse(Renewal.AUTO),
                new Owner(client, options.metadata().orElse(Map.of())),
                options.warnAfter().orElse(null),
                holdAtLeast);
    }

    /** The same of another owner. */
    ResolvedOptions by(Owner other) {
        return other.equals(owner)
                ? this
                : new ResolvedOptions(ttl, maxHold, unlockTime, renewal, other, warnAfter, holdAtLeast);
    }

    /** Whether a lease ends at some time though it is renewed. */
    boolean limitsHold() {
        return maxHold != null || renewal == Renewal.NONE;
    }

    private static String longer(Duration ttl) {
        return ". Few need a longer one, since a lease is renewed while its client lives. Where the URL takes the"
                + " option maxTtl, as lock:native: does, maxTtl=" + text(ttl)
                + " allows it, the same for all clients and members";
    }

    /** A duration as URLs write it, in whole milliseconds (rounded up) and in the largest unit that divides it. */
    static String text(Duration duration) {
        if (duration.toSeconds() > AGES) {
            return duration.toString();
        }
        long millis = duration.plusNanos(999_999).toMillis();
        if (millis % 3_600_000 == 0 && millis != 0) {
            return millis / 3_600_000 + "h";
        }
        if (millis % 60_000 == 0 && millis != 0) {
            return millis / 60_000 + "m";
        }
        return millis % 1000 == 0 ? millis / 1000 + "s" : millis + "ms";
    }
}
