// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

/** Why a request ended without a grant. The order is part of the wire format. */
public enum RefusalCause {
    /** Held by another; the answer to a request that does not wait. */
    HELD,
    /** The member restarted and grants nothing yet. */
    OPENING,
    /** The mode is not served. */
    UNSUPPORTED,
    /** More waiters than a name may have. */
    CROWDED
}
