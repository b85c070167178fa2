// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;

/**
 * Until when a member serves clients, where the members elect one that leads. No connection of a client outlives it: a
 * frame that is read later would extend what the client believes beyond what the next leader waits for.
 */
final class LeaderLease {
    private long until = Turn.NEVER;
    private long lastEpoch;
    /** A client has a connection, or may have. */
    private boolean serving;

    /** Another member leads, or none. */
    void follow() {
        until = Turn.NEVER;
    }

    /** This one leads, until that time and with no epoch above that one. */
    void serve(long until, long lastEpoch) {
        this.until = until;
        this.lastEpoch = lastEpoch;
    }

    private boolean holds(long now, long epoch) {
        return until != Turn.NEVER && now - until < 0 && epoch <= lastEpoch;
    }

    /** Whether a client may be let in. */
    boolean admits(long now, long epoch) {
        serving |= holds(now, epoch);
        return holds(now, epoch);
    }

    /** True once, when clients were let in and may be heard no more. */
    boolean lapsed(long now, long epoch) {
        if (!serving || holds(now, epoch)) {
            return false;
        }
        serving = false;
        return true;
    }

    /** When it lapses at the latest; {@link Turn#NEVER} if nobody is served. */
    long next() {
        return serving ? until : Turn.NEVER;
    }

    LeaderLease copy() {
        LeaderLease copy = new LeaderLease();
        copy.until = until;
        copy.lastEpoch = lastEpoch;
        copy.serving = serving;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(until).put(lastEpoch).put(serving);
    }
}
