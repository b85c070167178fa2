// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * How a run is made.
 *
 * @param profile how much of the TCK
 * @param seed every random choice comes from it
 * @param timeFactor stretches ttls and patience, for slow machines; 1 to 100
 * @param parallel how many checks run at once on the real clock; 1 to 64
 * @param only ids of rules or checks, or prefixes of them; empty: all
 * @param excluded the reason for each excluded rule or check, by id
 * @param checkLimit the real time after which a check is given up as hanging, before the time factor
 */
public record TckConfig(
        Profile profile,
        long seed,
        double timeFactor,
        int parallel,
        List<String> only,
        Map<String, String> excluded,
        Duration checkLimit) {
    public TckConfig {
        Objects.requireNonNull(profile, "profile");
        if (!(timeFactor >= 1 && timeFactor <= 100)) {
            throw new IllegalArgumentException("timeFactor " + timeFactor + " is not from 1 to 100");
        }
        if (parallel < 1 || parallel > 64) {
            throw new IllegalArgumentException("parallel " + parallel + " is not from 1 to 64");
        }
        only = List.copyOf(only);
        excluded = Map.copyOf(excluded);
        Objects.requireNonNull(checkLimit, "checkLimit");
    }

    /** The profile, seed 1, time factor 1, eight checks at once, everything, 60 s a check. */
    public static TckConfig of(Profile profile) {
        return new TckConfig(profile, 1, 1, 8, List.of(), Map.of(), Duration.ofSeconds(60));
    }

    public TckConfig withProfile(Profile other) {
        return new TckConfig(other, seed, timeFactor, parallel, only, excluded, checkLimit);
    }

    public TckConfig withSeed(long other) {
        return new TckConfig(profile, other, timeFactor, parallel, only, excluded, checkLimit);
    }

    public TckConfig withTimeFactor(double other) {
        return new TckConfig(profile, seed, other, parallel, only, excluded, checkLimit);
    }

    public TckConfig withParallel(int other) {
        return new TckConfig(profile, seed, timeFactor, other, only, excluded, checkLimit);
    }

    public TckConfig withOnly(List<String> other) {
        return new TckConfig(profile, seed, timeFactor, parallel, other, excluded, checkLimit);
    }

    public TckConfig withExcluded(Map<String, String> other) {
        return new TckConfig(profile, seed, timeFactor, parallel, only, other, checkLimit);
    }

    public TckConfig withCheckLimit(Duration other) {
        return new TckConfig(profile, seed, timeFactor, parallel, only, excluded, other);
    }

    /** The excluded ids. */
    public Set<String> excludedIds() {
        return excluded.keySet();
    }
}
