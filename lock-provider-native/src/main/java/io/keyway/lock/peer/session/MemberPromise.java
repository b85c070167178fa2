// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Turn;

/**
 * What a member has promised and must not forget: after a start it waits until no lease can outlive its promise.
 *
 * @param epoch its epoch
 * @param horizon no lease ends later than this, and no place is kept for longer, on the cell's clock
 * @param keptUntil until when places may be kept that nobody has to believe in, on the cell's clock; {@link Turn#NEVER}
 *     if there was none
 */
public record MemberPromise(long epoch, long horizon, long keptUntil) implements DurableRecord {
    /** Of a member that keeps nothing beyond its leases. */
    public MemberPromise(long epoch, long horizon) {
        this(epoch, horizon, Turn.NEVER);
    }

    /** Whether it says that something is kept for longer than another record says. */
    public boolean keepsBeyond(long other) {
        return beyond(keptUntil, other);
    }

    /** Whether the first time is later; {@link Turn#NEVER} is earlier than all. */
    static boolean beyond(long until, long other) {
        return until != Turn.NEVER && (other == Turn.NEVER || until - other > 0);
    }
}
