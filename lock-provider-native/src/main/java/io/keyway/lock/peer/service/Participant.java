// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Owner;

/**
 * One holder or waiter in an answer.
 *
 * @param token the token in use; 0 for a waiter
 * @param nanos for how long it has held or waited
 * @param kept for how much longer the place of a grant that has ended is kept, in nanoseconds; 0 for all others
 */
public record Participant(Owner owner, LockMode mode, int permits, long token, long nanos, long kept) {
    /** A holder or a waiter. */
    public Participant(Owner owner, LockMode mode, int permits, long token, long nanos) {
        this(owner, mode, permits, token, nanos, 0);
    }
}
