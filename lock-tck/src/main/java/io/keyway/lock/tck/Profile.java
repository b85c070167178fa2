// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck;

import java.time.Duration;

/** How much of the TCK is run. Each profile has the checks of those before it. */
public enum Profile {
    /** The core of every chapter; for each build. */
    SMOKE(Duration.ofSeconds(25)),
    /** Every rule, with few repetitions. */
    QUICK(Duration.ofMinutes(2)),
    /** Every rule, with faults in every place and random users for minutes. */
    FULL(Duration.ofMinutes(8));

    private final Duration budget;

    Profile(Duration budget) {
        this.budget = budget;
    }

    /** How long it should take at most, on two cores and a time factor of 1. */
    public Duration budget() {
        return budget;
    }

    /** Whether a run of this profile includes what belongs to the other. */
    public boolean includes(Profile other) {
        return other.compareTo(this) <= 0;
    }
}
