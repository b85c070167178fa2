// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

/** The verbs of a backend, as far as faults tell them apart. */
public enum Verb {
    /** Attempts, and changes of mode. */
    ATTEMPT,
    /** Renewals. */
    RENEW,
    /** Releases. */
    RELEASE,
    /** Withdrawals. */
    WITHDRAW,
    /** Listing, showing, counting and breaking. */
    ADMIN
}
