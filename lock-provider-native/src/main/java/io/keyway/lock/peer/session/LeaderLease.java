// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import org.jspecify.annotations.Nullable;

/**
 * Until when a member serves clients, where the members elect one that leads. No connection of a client outlives it: a
 * frame that is read later would extend what the client believes beyond what the next leader waits for. For the same
 * reason nobody is told of a lease that is longer than what a majority of the members knows of.
 */
final class LeaderLease {
    private long until = Turn.NEVER;
    /** Until when it is certain that this member leads, whether or not it lets clients in yet. */
    private long leadsUntil = Turn.NEVER;
    /** When it does. */
    private long letsInAt = Turn.NEVER;

    private long lastEpoch;
    /** For how long a lease may bind others. */
    private long longest;
    /** For how long something may be kept, as a majority has noted. */
    private long keptNoted;
    /** Until when something is kept, whoever asked for it; {@link Turn#NEVER} if nothing is. */
    private long keptUntil = Turn.NEVER;
    /** Who is told of a lease that is longer; null before this member has led. */
    private @Nullable Key leader;
    /** A client has a connection, or may have. */
    private boolean serving;
    /** It has lapsed, and clients may come back to what they had. */
    private boolean lapsed;

    /** Another member leads, or none. */
    void follow() {
        until = Turn.NEVER;
        leadsUntil = Turn.NEVER;
        letsInAt = Turn.NEVER;
        lapsed = false;
    }

    /** Whether nothing may be granted until this member knows whether it leads: its former clients wait to hear. */
    boolean isLapsed() {
        return lapsed;
    }

    /** This member is to lead, as that key decides. */
    void takeOver(Key key) {
        leader = key;
    }

    /** This one leads, until that time, and lets clients in at that one. */
    void expect(long certainUntil, long letIn) {
        leadsUntil = certainUntil;
        letsInAt = letIn;
    }

    /** Whether a client may wait for its welcome: no other member serves it meanwhile. */
    boolean expects(long now) {
        return leadsUntil != Turn.NEVER && now - leadsUntil < 0;
    }

    /** After at most so many nanoseconds this member lets clients in. */
    long left(long now) {
        return letsInAt == Turn.NEVER ? 0 : Math.max(0, letsInAt - now);
    }

    /** When no client may wait any more; {@link Turn#NEVER} if none may. */
    long leadsUntil() {
        return leadsUntil;
    }

    /** This one leads, until that time, with no epoch above that one, and with no longer lease than that. */
    void serve(long until, long lastEpoch, long longest, long keptNoted) {
        this.until = until;
        leadsUntil = until;
        letsInAt = Turn.NEVER;
        this.lastEpoch = lastEpoch;
        this.longest = longest;
        this.keptNoted = keptNoted;
    }

    /** A client has such a lease, of which it does not hear before that is recorded and the client is noted. */
    void granted(MemberSession session, long ttl, Turn turn) {
        if (ttl > longest && leader != null) {
            turn.call(leader, new MemberView.Longer());
        }
        if (ttl > session.holding && leader != null) {
            session.holding = ttl;
            turn.call(leader, new Holding(session.peer, session.client, ttl));
        }
    }

    /** A client has said all that it holds. */
    void spoken(Incarnation client, Turn turn) {
        if (leader != null) {
            turn.call(leader, new Spoken(client));
        }
    }

    /** The session of a client that could hold something is over. */
    void ended(Peer peer, Turn turn) {
        if (leader != null) {
            turn.call(leader, new MemberView.SessionEnded(peer));
        }
    }

    /** Others are kept out until then, of which nobody is told before it is covered. */
    void keep(long kept, Turn turn) {
        keptUntil = MemberPromise.beyond(kept, keptUntil) ? kept : keptUntil;
        if (kept(turn.now()) > Math.min(longest, keptNoted) && leader != null) {
            turn.call(leader, new MemberView.Longer());
        }
    }

    /** Another member has led, or may have: nothing is kept any more. */
    void keepNothing() {
        keptUntil = Turn.NEVER;
    }

    /** What is left of what is kept. */
    long kept(long now) {
        return keptUntil == Turn.NEVER ? 0 : Math.max(0, keptUntil - now);
    }

    /** Who has a lease is told nothing unless it is as short as that. */
    long longest(long now) {
        return kept(now) > Math.min(longest, keptNoted) ? 0 : longest;
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
        lapsed = until != Turn.NEVER;
        return true;
    }

    /** True once, when it leads again after it had lapsed. */
    boolean renewed(long now, long epoch) {
        boolean renewed = lapsed && holds(now, epoch);
        lapsed &= !renewed;
        return renewed;
    }

    /** When it lapses at the latest; {@link Turn#NEVER} if nobody is served. */
    long next() {
        return serving ? until : Turn.NEVER;
    }

    LeaderLease copy() {
        LeaderLease copy = new LeaderLease();
        copy.until = until;
        copy.leadsUntil = leadsUntil;
        copy.letsInAt = letsInAt;
        copy.lastEpoch = lastEpoch;
        copy.longest = longest;
        copy.keptNoted = keptNoted;
        copy.keptUntil = keptUntil;
        copy.leader = leader;
        copy.serving = serving;
        copy.lapsed = lapsed;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(until)
                .time(leadsUntil)
                .time(letsInAt)
                .put(lastEpoch)
                .put(serving)
                .put(lapsed);
        out.put(longest).put(keptNoted).time(keptUntil).put(leader != null);
    }
}
