// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.kernel;

/**
 * The end of belief in all grants of one session and one ttl: the highest echoed stamp plus 3/4 ttl. Read by user
 * threads, written by the cell. It only moves forward, and freezes with its session.
 */
public final class Belief {
    private final long ttl;
    private volatile long deadline;

    public Belief(long ttl, long deadline) {
        this.ttl = ttl;
        this.deadline = deadline;
    }

    /** Nanoseconds. */
    public long ttl() {
        return ttl;
    }

    /** On the cell's clock; compare by difference. */
    public long deadline() {
        return deadline;
    }

    /** A stamp came back. Only the session that this belief belongs to calls this. */
    public void echoed(long stamp) {
        long until = stamp + ttl - ttl / 4;
        if (until - deadline > 0) {
            deadline = until;
        }
    }

    /** When five eighths of the ttl have passed since the highest stamp that came back: a renewal is overdue. */
    public long doubtful() {
        return deadline - ttl / 8;
    }

    public boolean holds(long now) {
        return now - deadline < 0;
    }
}
