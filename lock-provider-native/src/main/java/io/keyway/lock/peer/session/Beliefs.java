// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView.Certain;
import io.keyway.lock.peer.kernel.ClientView.Doubted;
import io.keyway.lock.peer.kernel.ClientView.Lapsed;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * What a client believes of one session: one {@link Belief} for each ttl, and the keys that hold by it. A belief that
 * lapsed under a holder is never moved again; who asks later gets another object, so that a user thread that still
 * looks at the old one can't see it come back.
 */
final class Beliefs {
    private static final class TtlClass {
        final Belief belief;
        final Set<Key> holders = new LinkedHashSet<>();
        /** The holders were told that a renewal is overdue. */
        boolean doubted;

        TtlClass(Belief belief) {
            this.belief = belief;
        }

        void tell(Call call, Turn turn) {
            for (Key key : holders) {
                turn.call(key, call);
            }
        }

        /** The next time at which the holders are told something. */
        long next() {
            return holders.isEmpty() ? Turn.NEVER : doubted ? belief.deadline() : belief.doubtful();
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

    /** A stamp came back; true if it is higher than all before. Who was in doubt hears when that is over. */
    boolean echoed(long stamp, Turn turn) {
        if (echoed && stamp - echo <= 0) {
            return false;
        }
        echo = stamp;
        echoed = true;
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            of.belief.echoed(stamp);
            if (of.doubted && of.belief.doubtful() - turn.now() > 0) {
                of.doubted = false;
                of.tell(new Certain(entry.getKey()), turn);
            }
        }
        return true;
    }

    /** {@link Turn#NEVER} before the first. */
    long highestEcho() {
        return echoed ? echo : Turn.NEVER;
    }

    boolean covers(long stamp) {
        return echoed && echo - stamp >= 0;
    }

    /** Tells the holders of each class whose belief is overdue or over, and forgets the class if it is over. */
    void lapse(Turn turn) {
        if (!Turn.due(next(), turn.now())) {
            return;
        }
        List<Long> over = new ArrayList<>();
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            if (of.holders.isEmpty()) {
                continue;
            }
            if (!of.belief.holds(turn.now())) {
                over.add(entry.getKey());
                turn.goal(SessionGoal.LAPSED);
                of.tell(new Lapsed(entry.getKey()), turn);
            } else if (!of.doubted && Turn.due(of.belief.doubtful(), turn.now())) {
                of.doubted = true;
                turn.goal(SessionGoal.DOUBTED);
                of.tell(new Doubted(entry.getKey()), turn);
            }
        }
        for (Long ttl : over) {
            classes.remove(ttl);
        }
    }

    /** When the first belief that somebody holds by is overdue, or ends. */
    long next() {
        long next = Turn.NEVER;
        for (TtlClass of : classes.values()) {
            next = Turn.earlier(next, of.next());
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
            of.doubted = entry.getValue().doubted;
            copy.classes.put(entry.getKey(), of);
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(echoed).time(echo).put(classes.size());
        for (Map.Entry<Long, TtlClass> entry : classes.entrySet()) {
            TtlClass of = entry.getValue();
            out.put(entry.getKey()).time(of.belief.deadline()).put(of.doubted).put(of.holders.size());
            for (Key key : of.holders) {
                out.put(key);
            }
        }
    }
}
