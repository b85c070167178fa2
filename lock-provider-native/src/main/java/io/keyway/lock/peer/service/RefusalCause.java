// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.service;

import io.keyway.lock.peer.kernel.Key;

/** Why a request ended without a grant. The order is part of the wire format. */
public enum RefusalCause {
    /** The answer to a request that does not wait. */
    HELD("held by another"),
    /** The member was started, or has taken over, and grants nothing yet. */
    OPENING("the member was just started, or has taken over, and grants nothing yet"),
    UNSUPPORTED("this lock is not granted in that mode"),
    /** More waiters than a name may have. */
    CROWDED("too many requests wait for this name"),
    /** A restarted member would not wait for the end of such a lease. */
    TOO_LONG("the ttl is longer than the cluster's maxTtl"),
    /** Grants or requests of the other kind stand: flat ones where a tree's level was asked for, or the other way. */
    MIXED("the name is in use as a lock of the other kind: by client.tree, a transaction of trees or --tree a name is"
            + " a path that is locked with what is below it, by client.lock it is not; use one kind for all names below"
            + " one root"),
    /** Grants or requests of a lock over other nodes, or by another rule, stand. */
    NODES("this lock is in use over other nodes, or by another rule; the list and the rule belong to the lock, so all"
            + " have to state the same ones");

    private final String why;

    RefusalCause(String why) {
        this.why = why;
    }

    /** The same, and of which name where it is not about one request alone. */
    public String why(Key key) {
        return isLasting() ? LockKeys.named(key.id()) + ": " + why : why;
    }

    /** Whether nothing comes of asking again as it was asked. */
    public boolean isLasting() {
        return this == MIXED || this == NODES;
    }

    /** Half a sentence for people. */
    public String why() {
        return why;
    }
}
