// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Turn;

/**
 * How quickly a client talks, by the smallest leases in use.
 *
 * @param held the smallest ttl that is held, or {@link Turn#NEVER}
 * @param waited the smallest ttl that is waited with, or {@link Turn#NEVER}
 */
record Keepalive(long held, long waited, long maxTtl, long roundTrip) {
    private static final long SHORTEST_SILENCE = 100_000_000L;
    /** What stands between the two ends may forget a connection on which nothing is said. */
    private static final long LONGEST_HEARTBEAT = 10_000_000_000L;

    private static final long LONGEST_SILENCE = 10_000_000_000L;

    /** This one if nothing has changed. */
    Keepalive of(long nowHeld, long nowWaited, long nowRoundTrip) {
        return nowHeld == held && nowWaited == waited && nowRoundTrip == roundTrip
                ? this
                : new Keepalive(nowHeld, nowWaited, maxTtl, nowRoundTrip);
    }

    /** True if a lost session would not be missed. */
    boolean idle() {
        return held == Turn.NEVER && waited == Turn.NEVER;
    }

    private long smallest() {
        return Math.min(maxTtl, Math.min(held, waited));
    }

    /** How often a stamp is sent: twice a lease while holding, four times while waiting, and every 10 s at least. */
    long heartbeat() {
        return Math.min(LONGEST_HEARTBEAT, idle() ? maxTtl / 4 : Math.min(held / 2, waited / 4));
    }

    /**
     * How long an answer may be missing: short enough to resume over another link before a belief that was renewed at
     * half of its lease ends, and long enough for a link that is slow but alive.
     */
    long silence() {
        long slow = Math.min(2 * roundTrip, maxTtl);
        return Math.max(Math.max(SHORTEST_SILENCE, slow), Math.min(LONGEST_SILENCE, smallest() / 6));
    }

    long retry() {
        return ResendTimer.base(smallest());
    }

    /** How long messages may wait to be acknowledged: the peer must not send them again. */
    long acknowledgement() {
        return retry() / 4;
    }
}
