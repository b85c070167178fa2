// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.util.Optional;

/** Finds out whether a lease is lost. */
final class LeaseLosses {
    private LeaseLosses() {}

    /** Returns how it was lost, as whoever asks it is told; empty if it is held, or was released by its owner. */
    static Optional<LeaseLostException> of(Lease lease) {
        if (lease.state() != Lease.State.LOST) {
            return Optional.empty();
        }
        try {
            lease.ensureHeld();
            return Optional.empty();
        } catch (LeaseLostException e) {
            return Optional.of(e);
        }
    }
}
