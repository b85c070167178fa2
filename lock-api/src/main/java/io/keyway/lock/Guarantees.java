// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;

/**
 * What a provider promises, as opened.
 *
 * @param exclusion the authority never has two conflicting grants at once
 * @param belief two clients never believe to hold conflicting leases at once
 * @param tokens tokens are unique per grant and rise strictly per name
 * @param failover after the loss of one server another takes over, and exclusion outlasts that
 * @param minTtl the shortest ttl it grants
 * @param maxTtl the longest ttl it grants
 */
public record Guarantees(
        Guarantee exclusion, Guarantee belief, Guarantee tokens, Guarantee failover, Duration minTtl, Duration maxTtl) {
    /**
     * Checks that nothing is null and that the bounds of the ttl are in order.
     *
     * @param exclusion see the record
     * @param belief see the record
     * @param tokens see the record
     * @param failover see the record
     * @param minTtl see the record
     * @param maxTtl see the record
     */
    public Guarantees {
        Objects.requireNonNull(exclusion, "exclusion");
        Objects.requireNonNull(belief, "belief");
        Objects.requireNonNull(tokens, "tokens");
        Objects.requireNonNull(failover, "failover");
        if (minTtl.compareTo(maxTtl) > 0) {
            throw new IllegalArgumentException("minTtl " + minTtl + " is longer than maxTtl " + maxTtl);
        }
    }
}
