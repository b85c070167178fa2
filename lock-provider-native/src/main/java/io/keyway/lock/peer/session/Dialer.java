// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.SessionLayer.SessionTurn;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.Hello;
import org.jspecify.annotations.Nullable;

/**
 * The one link of a client: dialled again, at growing and random distances, for as long as it is wanted. Links are
 * numbered by attempt.
 */
final class Dialer {
    private static final long FIRST = 10_000_000L;
    private static final long LONGEST = 1_000_000_000L;
    private static final long SHORTEST_PATIENCE = 500_000_000L;

    enum Phase {
        /** No link; the next attempt is not before its time. */
        DOWN,
        /** Asked for; not open. */
        DIALING,
        /** The hello is sent. */
        GREETED,
        /** The proof is sent. */
        PROVED,
        /** Welcomed. */
        UP
    }

    private Phase phase = Phase.DOWN;
    private long link;
    private long next = Turn.NEVER;
    private int failures;
    private @Nullable Hello hello;
    private @Nullable Incarnation member;
    private long provedAt;
    private long upSince;
    private long roundTrip;

    Phase phase() {
        return phase;
    }

    boolean up() {
        return phase == Phase.UP;
    }

    boolean opening() {
        return phase != Phase.UP && phase != Phase.DOWN;
    }

    /** The number of the current link, which is also that of the attempt. */
    long link() {
        return link;
    }

    boolean is(long other) {
        return phase != Phase.DOWN && link == other;
    }

    Hello hello() {
        if (hello == null) {
            throw new IllegalStateException("no hello was said on link " + link);
        }
        return hello;
    }

    /** When to give up what goes on, or to dial again. {@link Turn#NEVER} when there is no such time. */
    long next() {
        return next;
    }

    boolean mayDial(long now) {
        return phase == Phase.DOWN && (next == Turn.NEVER || now - next >= 0);
    }

    /**
     * Waits for the welcome for {@code patience} at first, and twice as long after each failure: a slow link is not a
     * dead one.
     */
    void dial(long patience, long longest, SessionTurn turn) {
        phase = Phase.DIALING;
        link++;
        next = turn.now() + Math.min(longest, Math.min(patience, SHORTEST_PATIENCE) << Math.min(failures, 8));
        turn.dial(link);
    }

    void greeted(Hello said) {
        phase = Phase.GREETED;
        hello = said;
    }

    void proved(Incarnation to, long now) {
        phase = Phase.PROVED;
        provedAt = now;
        member = to;
    }

    /** Nanoseconds from the last proof to its welcome; 0 before the first. */
    long roundTrip() {
        return roundTrip;
    }

    /** Who answers on the current link. */
    Incarnation member() {
        if (member == null) {
            throw new IllegalStateException("nobody has answered on link " + link);
        }
        return member;
    }

    void welcomed(long now) {
        phase = Phase.UP;
        roundTrip = now - provedAt;
        next = Turn.NEVER;
        hello = null;
        upSince = now;
    }

    /**
     * The link is down; the next attempt comes after a random part of a time that doubles with each failure. A link
     * that breaks soon after its welcome failed too: what this end sends over each may be what the member breaks it
     * for.
     */
    void down(boolean failed, Turn turn) {
        boolean soon = !forgive(turn) && phase == Phase.UP;
        phase = Phase.DOWN;
        hello = null;
        long distance = Math.min(LONGEST, FIRST << Math.min(failures, 10));
        next = turn.now() + distance / 2 + ((distance / 2 * turn.draw(16)) >> 16);
        if (failed || soon) {
            failures++;
        }
    }

    /** What failed before a link that was good for some time counts no more; true if this one was. */
    private boolean forgive(Turn turn) {
        boolean good = phase == Phase.UP && turn.now() - upSince >= LONGEST;
        if (good) {
            failures = 0;
        }
        return good;
    }

    /** The link is down, and the next one may be dialled at once. */
    void downForNow(Turn turn) {
        forgive(turn);
        phase = Phase.DOWN;
        hello = null;
        next = Turn.NEVER;
    }

    void stalled(long nanos) {
        if (opening()) {
            next += nanos;
        }
    }

    Dialer copy() {
        Dialer copy = new Dialer();
        copy.phase = phase;
        copy.link = link;
        copy.next = next;
        copy.failures = failures;
        copy.hello = hello;
        copy.member = member;
        copy.provedAt = provedAt;
        copy.upSince = upSince;
        copy.roundTrip = roundTrip;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(phase.name())
                .put(link)
                .time(next)
                .put(failures)
                .value(hello)
                .value(member)
                .time(phase == Phase.PROVED ? provedAt : Turn.NEVER)
                .put(roundTrip)
                .time(phase == Phase.UP ? upSince : Turn.NEVER);
    }
}
