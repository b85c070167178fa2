// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockMessage;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Grants of one name that ended while they were in use, and of whose end the member has not heard: it grants the lock
 * at once when it does, so that the user has time to stop first.
 */
final class UnconfirmedEnds {
    /** A grant that lapsed: its user has until {@code at} to stop. */
    private record Grace(Peer session, long used, long at) {}

    /** A grant that was broken: its member keeps the lock until it is told that the user has stopped. */
    private record Stopping(Peer session, long token, long ttl) {}

    private final Key key;
    private final int slot;

    /** By the grant's token. */
    private final Map<Long, Grace> graces = new LinkedHashMap<>(1);

    /** By the token that was in use. */
    private final Map<Long, Stopping> stopping = new LinkedHashMap<>(1);

    /** {@code slot}: of the helper's timers, for the end of a grace. */
    UnconfirmedEnds(Key key, int slot) {
        this.key = key;
        this.slot = slot;
    }

    boolean isEmpty() {
        return graces.isEmpty() && stopping.isEmpty();
    }

    /** Whether a grant of that token is among them. */
    boolean contains(long token) {
        for (Stopping broken : stopping.values()) {
            if (broken.token() == token) {
                return true;
            }
        }
        return graces.containsKey(token);
    }

    /** Whether the session goes on renewing one of that ttl. */
    boolean holds(long ttl) {
        for (Stopping broken : stopping.values()) {
            if (broken.ttl() == ttl) {
                return true;
            }
        }
        return false;
    }

    /** Whether the user of that token has been told that it was broken. */
    boolean stops(long used) {
        return stopping.containsKey(used);
    }

    /**
     * The grant, closed by now, has lapsed; the member hears of it a quarter of the ttl after that, or at once if it
     * was not in use.
     */
    void lapsed(GrantHandle handle, boolean inUse, Turn turn) {
        long at = handle.deadline() + handle.ttl() / 4;
        graces.put(handle.token(), new Grace(turn.client().session(), handle.used(), at));
        if (!inUse) {
            endGrace(handle.token(), false, turn);
        }
        due(turn);
    }

    /** Tells the member of those whose users had their time. */
    void due(Turn turn) {
        for (Map.Entry<Long, Grace> each : List.copyOf(graces.entrySet())) {
            if (turn.now() - each.getValue().at() >= 0) {
                endGrace(each.getKey(), false, turn);
            }
        }
        long next = Turn.NEVER;
        for (Grace grace : graces.values()) {
            next = Turn.earlier(next, grace.at());
        }
        turn.timer(slot, next);
    }

    private void endGrace(long token, boolean unused, Turn turn) {
        Grace grace = graces.remove(token);
        if (grace != null) {
            turn.send(grace.session(), new LockMessage.Release(key, token, unused ? token - 1 : grace.used()));
        }
    }

    /** The use of that token was broken by that member; it is told by {@link #released}. */
    void broken(Peer from, long used, GrantHandle handle) {
        stopping.put(used, new Stopping(from, handle.token(), handle.ttl()));
    }

    /**
     * The user of that token says that it has stopped.
     *
     * @param unused it has reached nobody
     * @return the ttl of the grant if it was broken; null if it was not
     */
    @Nullable
    Long released(long used, boolean unused, Turn turn) {
        for (Map.Entry<Long, Grace> each : List.copyOf(graces.entrySet())) {
            if (each.getValue().used() == used) {
                endGrace(each.getKey(), unused && each.getKey() == used, turn);
                due(turn);
            }
        }
        Stopping broken = stopping.remove(used);
        if (broken == null) {
            return null;
        }
        turn.send(broken.session(), new LockMessage.Revoked(key, used, broken.token(), used));
        return broken.ttl();
    }

    /** The session in which they were granted is over. Users whose grants were broken keep their time to stop. */
    void forget(Turn turn) {
        for (Stopping broken : stopping.values()) {
            turn.client().stops(turn.now() + broken.ttl() / 4);
        }
        graces.clear();
        stopping.clear();
        turn.timer(slot, Turn.NEVER);
    }

    UnconfirmedEnds copy() {
        UnconfirmedEnds copy = new UnconfirmedEnds(key, slot);
        copy.graces.putAll(graces);
        copy.stopping.putAll(stopping);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(graces.size());
        graces.forEach((token, grace) ->
                out.put(grace.session()).put(token).put(grace.used()).time(grace.at()));
        out.put(stopping.size());
        stopping.forEach((used, broken) -> out.put(broken.session()).put(used).put(broken.token()));
    }
}
