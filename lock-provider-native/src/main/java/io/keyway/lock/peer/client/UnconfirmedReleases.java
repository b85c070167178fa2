// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.spi.Answer;
import java.util.LinkedHashMap;
import java.util.Map;

/** The releases of one name that the member does not have yet. */
final class UnconfirmedReleases {
    private final Key key;
    /** Those that a user waits for: the number of the message, and the token that was in use. */
    private final Map<Long, Long> unconfirmed = new LinkedHashMap<>(2);
    /**
     * A grant of a member's former life, released before its new one could be told; after {@code until} no member holds
     * the lock for it.
     */
    private record Owed(long used, long until) {}

    /** By token. */
    private final Map<Long, Owed> owed = new LinkedHashMap<>(0);

    UnconfirmedReleases(Key key) {
        this.key = key;
    }

    boolean isEmpty() {
        return unconfirmed.isEmpty() && owed.isEmpty();
    }

    boolean awaits(long token) {
        return unconfirmed.containsValue(token);
    }

    /** A release was queued as that message; 0 if the session is over. */
    void sent(long number, long token, Turn turn) {
        if (number == 0) {
            tell(token, Answer.UNKNOWN, turn);
        } else {
            unconfirmed.put(number, token);
            turn.client().receipt(key, number);
        }
    }

    void received(long number, Turn turn) {
        Long token = unconfirmed.remove(number);
        if (token != null) {
            tell(token, Answer.DONE, turn);
        }
    }

    /** The session is over before its member confirmed them. */
    void lost(Turn turn) {
        for (Long token : unconfirmed.values()) {
            tell(token, Answer.UNKNOWN, turn);
        }
        unconfirmed.clear();
    }

    /** Returns when the next of what is owed is worth nothing any more. */
    long owe(ClientGrant grant) {
        GrantHandle handle = grant.handle;
        owed.put(handle.token(), new Owed(grant.used(), handle.deadline() + handle.ttl()));
        return next();
    }

    /**
     * Drops what is owed and worth nothing any more, or all of it; returns when the next one is, {@link Turn#NEVER} if
     * none is left.
     */
    long forget(long now, boolean all) {
        owed.values().removeIf(each -> all || now - each.until() >= 0);
        return next();
    }

    private long next() {
        long next = Turn.NEVER;
        for (Owed each : owed.values()) {
            next = next == Turn.NEVER || each.until() - next < 0 ? each.until() : next;
        }
        return next;
    }

    void opened(Peer session, Turn turn) {
        owed.forEach((token, each) -> turn.send(session, new LockMessage.Release(key, token, each.used())));
        owed.clear();
    }

    void tell(long token, Answer outcome, Turn turn) {
        turn.tell(new LockNotice.ReleaseDone(key, token, outcome));
    }

    UnconfirmedReleases copy() {
        UnconfirmedReleases copy = new UnconfirmedReleases(key);
        copy.unconfirmed.putAll(unconfirmed);
        copy.owed.putAll(owed);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(unconfirmed).put(owed.size());
        owed.forEach((token, each) -> out.put(token).put(each.used()).time(each.until()));
    }
}
