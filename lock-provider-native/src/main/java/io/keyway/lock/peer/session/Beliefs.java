// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.ClientView.Lapsed;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a client believes of one session: one {@link Belief} for each ttl, and the keys that hold by it. A belief that lapsed under a holder is never moved again; who asks later gets another object, so that a
 * user thread that still looks at the old one can't see it come back.
 */
final class Beliefs {
    private static final class TtlClass {
        final Belief belief;
        final Set<Key> holders = new LinkedHashSet<>();

        TtlClass(Belief belief) {
            this.belief = belief;
        }
    }

    private final TreeMap<Long, TtlClass> classes = new TreeMap<>();
    /** The highest stamp that came back; before the first one, the time at which the session was opened. */
    private long echo;

    private boolean echoed;

    Beliefs(long openedAt) {
        echo = openedAt;
    }

    Belief belief(long ttl) {
        return of(ttl).belief;
    }

    private TtlClass of(long ttl) {
        return classes.computeIfAbsent(ttl, fresh -> new TtlClass(new Belief(ttl, start(fresh))));
    }

    private long start(long ttl) {
        return echoed ? echo + ttl - ttl / 4 : echo;
    }

    void hold(Key key, long ttl) {
        of(ttl).holders.add(key);
    }

    void unhold(Key key, long ttl) {
        TtlClass of = classes.get(ttl);
        if (of != null) {
            of.holders.remove(key);
        }
    }

    /** A stamp came back; true if it is higher than all before. */
    boolean echoed(long stamp) {
        if (echoed && stamp - echo <= 0) {
            return false;
        }
        echo = stamp;
        echoed = true;
        for (TtlClass of : classes.values()) {
            of.belief.echoed(stamp);
        }
        return true;
    }

    boolean covers(long stamp) {
        return echoed && echo - stamp >= 0;
    }

    /** Tells the holders of each class whose belief is over, and forgets that class. */
    void lapse(Turn turn) {
        if (!Clocks.due(nextLapse(), turn.now())) {
            return;
        }
        List<Long> over = new ArrayList<>();
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            if (!of.holders.isEmpty() && !of.belief.holds(turn.now())) {
                over.add(entry.getKey());
                turn.goal(SessionGoal.LAPSED);
                for (Key key : of.holders) {
                    turn.call(key, new Lapsed(entry.getKey()));
                }
            }
        }
        for (Long ttl : over) {
            classes.remove(ttl);
        }
    }

    /** When the first belief that somebody holds by ends. */
    long nextLapse() {
        long next = Turn.NEVER;
        for (TtlClass of : classes.values()) {
            if (!of.holders.isEmpty()) {
                next = Clocks.earlier(next, of.belief.deadline());
            }
        }
        return next;
    }

    /** When the last of them ends. */
    long lastLapse() {
        long last = Turn.NEVER;
        for (TtlClass of : classes.values()) {
            if (!of.holders.isEmpty() && (last == Turn.NEVER || of.belief.deadline() - last > 0)) {
                last = of.belief.deadline();
            }
        }
        return last;
    }

    /** The smallest ttl that is held; {@link Turn#NEVER} if none is. */
    long smallest() {
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            if (!entry.getValue().holders.isEmpty()) {
                return entry.getKey();
            }
        }
        return Turn.NEVER;
    }

    void holders(Set<Key> into) {
        for (TtlClass of : classes.values()) {
            into.addAll(of.holders);
        }
    }

    Beliefs copy() {
        Beliefs copy = new Beliefs(echo);
        copy.echoed = echoed;
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            Belief belief = entry.getValue().belief;
            TtlClass of = new TtlClass(new Belief(belief.ttl(), belief.deadline()));
            of.holders.addAll(entry.getValue().holders);
            copy.classes.put(entry.getKey(), of);
        }
        return copy;
    }

    void encode(Canon out) {
        out.put(echoed).time(echo).put(classes.size());
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            out.put(entry.getKey()).time(of.belief.deadline()).put(of.holders.size());
            for (Key key : of.holders) {
                out.put(key);
            }
        }
    }
}
