// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

/** Why a request ended without a grant. The order is part of the wire format. */
public enum RefusalCause {
    /** The answer to a request that does not wait. */
    HELD("held by another"),
    /** The member restarted and grants nothing yet. */
    OPENING("the member restarted and grants nothing yet"),
    UNSUPPORTED("this lock is not granted in that mode"),
    /** More waiters than a name may have. */
    CROWDED("too many requests wait for this name"),
    /** A restarted member would not wait for the end of such a lease. */
    TOO_LONG("the ttl is longer than the cluster's maxTtl");

    private final String why;

    RefusalCause(String why) {
        this.why = why;
    }

    /** Half a sentence for people. */
    public String why() {
        return why;
    }
}
