// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/** Why a grant ended without being released. The order is part of the wire format. */
public enum EndCause {
    /** The lease ran out, or its session is over. */
    EXPIRED,
    /** An administrator broke it. */
    BROKEN,
    /** A restarted member refused its re-assertion. */
    DENIED
}
