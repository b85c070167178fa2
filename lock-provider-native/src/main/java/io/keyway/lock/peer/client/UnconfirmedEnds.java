// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockMessage;
import org.jspecify.annotations.Nullable;

/**
 * Grants of one name that ended while they were in use, and of whose end the member has not heard: it grants the lock at once
 * when it does, so that the user has time to stop first.
 */
final class UnconfirmedEnds {
    /** A grant that lapsed: its user has until {@code at} to stop. */
    private record Grace(Peer session, long token, long used, long at) {}

    /** A grant that was broken: its member keeps the lock until it is told that the user has stopped. */
    private record Stopping(Peer session, long used, GrantHandle word) {}

    private final Key key;
    private final int slot;
    private @Nullable Grace grace;
    private @Nullable Stopping stopping;

    /** {@code slot}: of the helper's timers, for the end of a grace. */
    UnconfirmedEnds(Key key, int slot) {
        this.key = key;
        this.slot = slot;
    }

    boolean isEmpty() {
        return grace == null && stopping == null;
    }

    /** Whether a grant of that token is among them. */
    boolean contains(long token) {
        return (grace != null && grace.token() == token)
                || (stopping != null && stopping.word().token() == token);
    }

    /** Whether the user of that token has been told that it was broken. */
    boolean stops(long used) {
        return stopping != null && stopping.used() == used;
    }

    /** The word, closed by now, has lapsed; the member hears of it a quarter of the ttl after that, or at once if it was not in use. */
    void lapsed(GrantHandle word, boolean inUse, Turn turn) {
        grace = new Grace(turn.client().session(), word.token(), word.used(), word.deadline() + word.ttl() / 4);
        if (!inUse || turn.now() - grace.at() >= 0) {
            endGrace(turn);
        } else {
            turn.timer(slot, grace.at());
        }
    }

    void endGrace(Turn turn) {
        endGrace(false, turn);
    }

    private void endGrace(boolean unused, Turn turn) {
        if (grace != null) {
            long used = unused ? grace.token() - 1 : grace.used();
            turn.send(grace.session(), new LockMessage.Release(key, grace.token(), used));
            grace = null;
            turn.timer(slot, Turn.NEVER);
        }
    }

    /** The use of that token was broken by that member; it is told by {@link #released}. */
    void broken(Peer from, long used, GrantHandle word) {
        stopping = new Stopping(from, used, word);
    }

    /**
     * The user of that token says that it has stopped.
     *
     * @param unused it has reached nobody
     * @param granted there is a grant of this name again
     */
    void released(long used, boolean unused, boolean granted, Turn turn) {
        if (grace != null && grace.used() == used) {
            endGrace(unused && grace.token() == used, turn);
        }
        Stopping broken = stopping;
        if (broken != null && broken.used() == used) {
            stopping = null;
            if (!granted) {
                turn.client().unhold(key, broken.word().ttl());
            }
            turn.send(
                    broken.session(),
                    new LockMessage.Revoked(key, used, broken.word().token(), used));
        }
    }

    /** The session in which they were granted is over. */
    void forget(Turn turn) {
        grace = null;
        stopping = null;
        turn.timer(slot, Turn.NEVER);
    }

    UnconfirmedEnds copy() {
        UnconfirmedEnds copy = new UnconfirmedEnds(key, slot);
        copy.grace = grace;
        copy.stopping = stopping;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(grace != null);
        if (grace != null) {
            out.put(grace.session()).put(grace.token()).put(grace.used()).time(grace.at());
        }
        out.put(stopping != null);
        if (stopping != null) {
            out.put(stopping.session()).put(stopping.used()).put(stopping.word().token());
        }
    }
}
