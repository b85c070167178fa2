// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.Turn;
import java.util.Map;
import java.util.TreeMap;

/** Keeps a member's {@link Horizon}: no frame leaves that makes a lease end later than what is on disk. */
final class Promises {
    private final Horizon horizon;
    private final TreeMap<Long, Long> asked = new TreeMap<>();
    private long forcedUntil;
    private long askedUntil;
    private long lastTicket;

    Promises(Horizon horizon) {
        this.horizon = horizon;
        forcedUntil = horizon.forcedUntil();
        askedUntil = forcedUntil;
    }

    /** What a record of now says. */
    long horizon() {
        return askedUntil;
    }

    /** Records of now promise at least that: leases that somebody else granted may last so long. The caller forces one. */
    void reach(long until) {
        if (horizon.kept() && until - askedUntil > 0) {
            askedUntil = until;
        }
    }

    /** Before frames that make leases end as late as that: they wait for the disk if they must. */
    void need(long until, long epoch, SessionTurn turn) {
        if (!horizon.kept()) {
            return;
        }
        if (until - askedUntil > 0) {
            ask(until, epoch, turn);
        }
        if (until - forcedUntil > 0) {
            turn.awaitForced(lastTicket);
        }
    }

    /** After them: asks for the next promise while the last one still serves. */
    void ahead(long until, long epoch, SessionTurn turn) {
        if (horizon.kept() && asked.isEmpty() && askedUntil - until < horizon.ahead() / 2) {
            ask(until, epoch, turn);
        }
    }

    private void ask(long until, long epoch, SessionTurn turn) {
        askedUntil = until + horizon.ahead();
        lastTicket = turn.persist(new MemberRecord(epoch, askedUntil));
        asked.put(lastTicket, askedUntil);
    }

    void forced(long ticket) {
        while (!asked.isEmpty() && asked.firstKey() <= ticket) {
            Map.Entry<Long, Long> first = asked.pollFirstEntry();
            forcedUntil = first.getValue();
        }
    }

    Promises copy() {
        Promises copy = new Promises(horizon);
        copy.asked.putAll(asked);
        copy.forcedUntil = forcedUntil;
        copy.askedUntil = askedUntil;
        copy.lastTicket = lastTicket;
        return copy;
    }

    void encode(Canon out) {
        if (horizon.kept()) {
            out.time(forcedUntil).time(askedUntil).put(asked.size());
            for (Map.Entry<Long, Long> entry : asked.entrySet()) {
                out.put(lastTicket - entry.getKey()).time(entry.getValue());
            }
        } else {
            out.time(Turn.NEVER);
        }
    }
}
