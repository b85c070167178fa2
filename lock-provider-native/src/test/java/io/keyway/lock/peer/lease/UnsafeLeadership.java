// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.kernel.Machine;

/** A leader that leaves one rule out. */
public enum UnsafeLeadership {
    /** A leader that takes over grants at once. */
    NOT_SILENT,
    /** A leader that takes over takes claims at once. */
    NOT_CLOSED,
    /** A leader serves for as long as it has not heard of another one. */
    WITHOUT_LEASE,
    /** A leader that takes over grants with its own epoch. */
    OWN_EPOCH,
    /** A majority records a shorter time although a lease needs the longer one. */
    TOO_SHORT,
    /** A client hears of a lease before a majority knows that it can hold something. */
    UNNOTED,
    /** A member that has lost its notes counts as if it had them. */
    LOSS_COUNTED,
    /** A leader that takes over waits for no client that was noted. */
    NOT_AWAITED,
    /** Any member may have the list changed, whether or not a majority has the notes of its leader. */
    UNSETTLED;

    /** One that is at rest. */
    public Machine machine() {
        return new Leaving(this);
    }

    private static final class Leaving extends Leadership {
        private final UnsafeLeadership variant;

        Leaving(UnsafeLeadership variant) {
            this.variant = variant;
        }

        @Override
        boolean isSilentAtFirst() {
            return variant != NOT_SILENT;
        }

        @Override
        boolean isClosedAtFirst() {
            return variant != NOT_CLOSED;
        }

        @Override
        boolean heedsLease() {
            return variant != WITHOUT_LEASE;
        }

        @Override
        boolean raisesEpoch() {
            return variant != OWN_EPOCH;
        }

        @Override
        boolean heedsLeases() {
            return variant != TOO_SHORT;
        }

        @Override
        boolean awaitsNotes() {
            return variant != UNNOTED;
        }

        @Override
        boolean heedsLoss() {
            return variant != LOSS_COUNTED;
        }

        @Override
        boolean waitsForNoted() {
            return variant != NOT_AWAITED;
        }

        @Override
        boolean settlesLists() {
            return variant != UNSETTLED;
        }

        @Override
        Leadership fresh() {
            return new Leaving(variant);
        }
    }
}
