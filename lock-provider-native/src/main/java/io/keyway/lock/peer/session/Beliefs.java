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
import java.util.Set;

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

        long ttl() {
            return belief.ttl();
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

    /** The smallest ttl first. Most clients use one. */
    private final List<TtlClass> classes = new ArrayList<>(1);
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
        int place = 0;
        while (place < classes.size() && classes.get(place).ttl() < ttl) {
            place++;
        }
        if (place < classes.size() && classes.get(place).ttl() == ttl) {
            return classes.get(place);
        }
        TtlClass fresh = new TtlClass(new Belief(ttl, start(ttl)));
        classes.add(place, fresh);
        return fresh;
    }

    private long start(long ttl) {
        return echoed ? echo + ttl - ttl / 4 : echo;
    }

    void hold(Key key, long ttl) {
        of(ttl).holders.add(key);
    }

    void unhold(Key key, long ttl) {
        for (int i = 0; i < classes.size(); i++) {
            if (classes.get(i).ttl() == ttl) {
                classes.get(i).holders.remove(key);
            }
        }
    }

    /** A stamp came back; true if it is higher than all before. Who was in doubt hears when that is over. */
    boolean echoed(long stamp, Turn turn) {
        if (echoed && stamp - echo <= 0) {
            return false;
        }
        echo = stamp;
        echoed = true;
        for (int i = 0; i < classes.size(); i++) {
            TtlClass of = classes.get(i);
            of.belief.echoed(stamp);
            if (of.doubted && of.belief.doubtful() - turn.now() > 0) {
                of.doubted = false;
                of.tell(new Certain(of.ttl()), turn);
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
        List<TtlClass> over = new ArrayList<>();
        for (TtlClass of : classes) {
            if (of.holders.isEmpty()) {
                continue;
            }
            if (!of.belief.holds(turn.now())) {
                over.add(of);
                turn.goal(SessionGoal.LAPSED);
                of.tell(new Lapsed(of.ttl()), turn);
            } else if (!of.doubted && Turn.due(of.belief.doubtful(), turn.now())) {
                of.doubted = true;
                turn.goal(SessionGoal.DOUBTED);
                of.tell(new Doubted(of.ttl()), turn);
            }
        }
        classes.removeAll(over);
    }

    /** When the first belief that somebody holds by is overdue, or ends. */
    long next() {
        long next = Turn.NEVER;
        for (int i = 0; i < classes.size(); i++) {
            next = Turn.earlier(next, classes.get(i).next());
        }
        return next;
    }

    /** When the last of them ends. */
    long lastLapse() {
        long last = Turn.NEVER;
        for (TtlClass of : classes) {
            if (!of.holders.isEmpty() && (last == Turn.NEVER || of.belief.deadline() - last > 0)) {
                last = of.belief.deadline();
            }
        }
        return last;
    }

    /** The smallest ttl that is held; {@link Turn#NEVER} if none is. */
    long smallest() {
        for (int i = 0; i < classes.size(); i++) {
            if (!classes.get(i).holders.isEmpty()) {
                return classes.get(i).ttl();
            }
        }
        return Turn.NEVER;
    }

    void holders(Set<Key> into) {
        for (TtlClass of : classes) {
            into.addAll(of.holders);
        }
    }

    Beliefs copy() {
        Beliefs copy = new Beliefs(echo);
        copy.echoed = echoed;
        for (TtlClass of : classes) {
            TtlClass twin = new TtlClass(new Belief(of.ttl(), of.belief.deadline()));
            twin.holders.addAll(of.holders);
            twin.doubted = of.doubted;
            copy.classes.add(twin);
        }
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(echoed).time(echo).put(classes.size());
        for (TtlClass of : classes) {
            out.put(of.ttl()).time(of.belief.deadline()).put(of.doubted).put(of.holders.size());
            for (Key key : of.holders) {
                out.put(key);
            }
        }
    }
}
