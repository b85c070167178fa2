// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** R16: when nobody uses anything, nothing of it is left, and nothing at all of clients that are gone. */
final class NoLeak {
    private final long within;

    NoLeak(long within) {
        this.within = within;
    }

    /** @param left what is still there; empty if nothing is */
    void check(long sinceFinished, String left) {
        if (!left.isEmpty() && sinceFinished > within) {
            throw new Violation(
                    "R16", "all users finished " + Nanos.text(sinceFinished) + " ago, and still there: " + left);
        }
    }
}
