// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** R15: when the faults are over, everybody is served within a bound, if holders release. */
final class Liveness {
    private final long within;

    Liveness(long within) {
        this.within = within;
    }

    /** @param waiting who still waits; empty if nobody does */
    void check(long sinceHealed, String waiting) {
        if (!waiting.isEmpty() && sinceHealed > within) {
            throw new Violation(
                    "R15", "faults ended " + Nanos.text(sinceHealed) + " ago, and still waiting: " + waiting);
        }
    }
}
