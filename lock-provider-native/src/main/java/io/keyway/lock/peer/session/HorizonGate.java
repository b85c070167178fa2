// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.Map;
import java.util.TreeMap;

/**
 * Keeps a member's {@link Horizon}: no frame leaves that makes a lease end, or a place be kept, later than what is on
 * disk.
 */
final class HorizonGate {
    private final Horizon horizon;
    /** By ticket. */
    private final TreeMap<Long, MemberPromise> asked = new TreeMap<>();

    /** Until when something is kept, as far as was asked for, as is on disk, and as is to be; NEVER if nothing is. */
    private long keptAsked = Turn.NEVER;

    private long keptForced = Turn.NEVER;
    private long kept = Turn.NEVER;
    private long forcedUntil;
    private long askedUntil;
    private long lastTicket;
    /** What {@link #promises} goes by; it changes with what is asked for, on disk, or kept. */
    private final boolean forgetful;

    private boolean quiet = true;
    private long quietUntil;

    HorizonGate(Horizon horizon) {
        this.horizon = horizon;
        forcedUntil = horizon.forcedUntil();
        askedUntil = forcedUntil;
        forgetful = !horizon.kept();
        changed();
    }

    /** What a record of now says. */
    long horizon() {
        return askedUntil;
    }

    /** Until when something may be kept, for a record of now. */
    long kept() {
        return kept;
    }

    /** Something is kept until then: the next frames wait for a promise of that. */
    void keep(long until) {
        if (horizon.kept() && MemberPromise.beyond(until, kept)) {
            kept = until;
            changed();
        }
    }

    /** Whether something is kept of which the disk does not know. */
    private boolean keepsMore() {
        return MemberPromise.beyond(kept, keptForced);
    }

    /**
     * Records of now promise at least that: leases that somebody else granted may last so long. The caller forces one.
     */
    void reach(long until) {
        if (horizon.kept() && until - askedUntil > 0) {
            askedUntil = until;
            changed();
        }
    }

    /**
     * True if there is nothing to ask or wait for before frames behind which leases end as late as that,
     * {@link Turn#NEVER} for none: what is on disk reaches far enough, and beyond.
     */
    boolean promises(long until) {
        return quiet && (until == Turn.NEVER || forgetful || until - quietUntil <= 0);
    }

    private void changed() {
        quiet = !keepsMore();
        long soon = askedUntil - horizon.ahead() / 2;
        quietUntil = asked.isEmpty() && soon - forcedUntil < 0 ? soon : forcedUntil;
    }

    /**
     * Before frames behind which leases end as late as that, {@link Turn#NEVER} for none: they wait for the disk if
     * they must.
     */
    void need(long until, long epoch, SessionTurn turn) {
        if (!horizon.kept()) {
            return;
        }
        boolean leases = until != Turn.NEVER;
        if ((leases && until - askedUntil > 0) || MemberPromise.beyond(kept, keptAsked)) {
            ask(until, epoch, turn);
        }
        if ((leases && until - forcedUntil > 0) || keepsMore()) {
            turn.awaitForced(lastTicket);
        }
    }

    /** After them: asks for the next promise while the last one still serves. */
    void ahead(long until, long epoch, SessionTurn turn) {
        if (horizon.kept() && asked.isEmpty() && askedUntil - until < horizon.ahead() / 2) {
            ask(until, epoch, turn);
        }
    }

    /** Leases are extended again and again, what is kept is not: only the promise for leases reaches beyond need. */
    private void ask(long until, long epoch, SessionTurn turn) {
        if (until != Turn.NEVER) {
            reach(until + horizon.ahead());
        }
        if (kept != Turn.NEVER) {
            reach(kept);
        }
        keptAsked = kept;
        MemberPromise record = new MemberPromise(epoch, askedUntil, kept);
        lastTicket = turn.persist(record);
        asked.put(lastTicket, record);
        changed();
    }

    void forced(long ticket) {
        while (!asked.isEmpty() && asked.firstKey() <= ticket) {
            MemberPromise first = asked.pollFirstEntry().getValue();
            forcedUntil = first.horizon();
            keptForced = first.keptUntil();
        }
        changed();
    }

    HorizonGate copy() {
        HorizonGate copy = new HorizonGate(horizon);
        copy.asked.putAll(asked);
        copy.forcedUntil = forcedUntil;
        copy.askedUntil = askedUntil;
        copy.lastTicket = lastTicket;
        copy.kept = kept;
        copy.keptAsked = keptAsked;
        copy.keptForced = keptForced;
        copy.changed();
        return copy;
    }

    void encode(StateEncoder out) {
        if (horizon.kept()) {
            out.time(forcedUntil).time(askedUntil).time(kept).time(keptAsked).time(keptForced);
            out.put(asked.size());
            for (Map.Entry<Long, MemberPromise> entry : asked.entrySet()) {
                MemberPromise record = entry.getValue();
                out.put(lastTicket - entry.getKey()).time(record.horizon()).time(record.keptUntil());
            }
        } else {
            out.time(Turn.NEVER);
        }
    }
}
