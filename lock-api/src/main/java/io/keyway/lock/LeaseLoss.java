// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a lease ended other than by its release.
 *
 * @param cause why
 * @param heldFor from the grant to the end of belief, on the client's monotonic clock
 * @param server the server or peer, where it is known
 * @param detail a sentence for people
 */
public record LeaseLoss(Cause cause, Duration heldFor, Optional<String> server, String detail) {

    /** Why a lease was lost. */
    public enum Cause {
        /** It was not renewed in time. */
        EXPIRED,
        /** The authority answered that this grant is not, or no longer, in force. */
        DENIED,
        /** An operator broke it. */
        BROKEN,
        /** It reached {@code maxHold}. */
        MAX_HOLD,
        /** It was given up to end a deadlock. */
        DEADLOCK,
        /** Its client was closed. */
        CLIENT_CLOSED
    }

    /**
     * Checks that nothing is null.
     *
     * @param cause see the record
     * @param heldFor see the record
     * @param server see the record
     * @param detail see the record
     */
    public LeaseLoss {
        Objects.requireNonNull(cause, "cause");
        Objects.requireNonNull(heldFor, "heldFor");
        Objects.requireNonNull(server, "server");
        Objects.requireNonNull(detail, "detail");
    }
}
