// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;

/** When to send again what was not acknowledged: after a share of the smallest lease, then at growing distances. */
final class ResendTimer {
    private static final long SHORTEST = 20_000_000L;
    private static final long LONGEST = 1_000_000_000L;

    private long at = Turn.NEVER;
    private long delay;

    /** The first distance for leases of that ttl. */
    static long base(long ttl) {
        return Math.min(LONGEST, Math.max(SHORTEST, ttl / 8));
    }

    long at() {
        return at;
    }

    boolean due(long now) {
        return at != Turn.NEVER && now - at >= 0;
    }

    /** Something was sent that wants an acknowledgement. */
    void sent(long now, long base) {
        if (at == Turn.NEVER) {
            delay = base;
            at = now + base;
        }
    }

    void again(long now) {
        delay = Math.min(LONGEST, delay * 2);
        at = now + delay;
    }

    /** Something was acknowledged. */
    void progress(long now, long base, boolean more) {
        delay = base;
        at = more ? now + base : Turn.NEVER;
    }

    void stop() {
        at = Turn.NEVER;
    }

    ResendTimer copy() {
        ResendTimer copy = new ResendTimer();
        copy.at = at;
        copy.delay = delay;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(at).put(at == Turn.NEVER ? 0 : delay);
    }
}
