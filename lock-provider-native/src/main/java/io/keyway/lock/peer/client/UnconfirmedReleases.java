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
import org.jspecify.annotations.Nullable;

/** The releases of one name that the member does not have yet. */
final class UnconfirmedReleases {
    private final Key key;
    /** One that a user waits for: the number of its message, 0 if there is none, and the token that was in use. */
    private long number;

    private long token;
    /** More of them; null unless there ever were. */
    private @Nullable Map<Long, Long> more;
    /**
     * A grant of a member's former life, released before its new one could be told; after {@code until} no member holds
     * the lock for it.
     */
    private record Owed(long used, long until) {}

    /** By token; null unless there ever were some. */
    private @Nullable Map<Long, Owed> owed;

    UnconfirmedReleases(Key key) {
        this.key = key;
    }

    boolean isEmpty() {
        return number == 0 && (more == null || more.isEmpty()) && (owed == null || owed.isEmpty());
    }

    boolean awaits(long released) {
        return (number != 0 && token == released) || (more != null && more.containsValue(released));
    }

    /** A release was queued as that message; 0 if the session is over. */
    void sent(long message, long released, Turn turn) {
        if (message == 0) {
            tell(released, Answer.UNKNOWN, turn);
            return;
        }
        if (number == 0) {
            number = message;
            token = released;
        } else {
            more = more == null ? new LinkedHashMap<>() : more;
            more.put(message, released);
        }
        turn.client().receipt(key, message);
    }

    void received(long message, Turn turn) {
        if (message == number) {
            number = 0;
            tell(token, Answer.DONE, turn);
            return;
        }
        Long released = more == null ? null : more.remove(message);
        if (released != null) {
            tell(released, Answer.DONE, turn);
        }
    }

    /** The session is over before its member confirmed them. */
    void lost(Turn turn) {
        if (number != 0) {
            tell(token, Answer.UNKNOWN, turn);
        }
        if (more != null) {
            for (Long released : more.values()) {
                tell(released, Answer.UNKNOWN, turn);
            }
        }
        number = 0;
        more = null;
    }

    /** Returns when the next of what is owed is worth nothing any more. */
    long owe(ClientGrant grant) {
        GrantHandle handle = grant.handle;
        owed = owed == null ? new LinkedHashMap<>() : owed;
        owed.put(handle.token(), new Owed(grant.used(), handle.deadline() + handle.ttl()));
        return next();
    }

    /**
     * Drops what is owed and worth nothing any more, or all of it; returns when the next one is, {@link Turn#NEVER} if
     * none is left.
     */
    long forget(long now, boolean all) {
        if (owed != null) {
            owed.values().removeIf(each -> all || now - each.until() >= 0);
        }
        return next();
    }

    private long next() {
        long next = Turn.NEVER;
        if (owed == null) {
            return next;
        }
        for (Owed each : owed.values()) {
            next = Turn.earlier(next, each.until());
        }
        return next;
    }

    void opened(Peer session, Turn turn) {
        if (owed != null) {
            owed.forEach((granted, each) -> turn.send(session, new LockMessage.Release(key, granted, each.used())));
            owed = null;
        }
    }

    void tell(long released, Answer outcome, Turn turn) {
        turn.tell(new LockNotice.ReleaseDone(key, released, outcome));
    }

    UnconfirmedReleases copy() {
        UnconfirmedReleases copy = new UnconfirmedReleases(key);
        copy.number = number;
        copy.token = token;
        copy.more = more == null ? null : new LinkedHashMap<>(more);
        copy.owed = owed == null ? null : new LinkedHashMap<>(owed);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(number).put(number == 0 ? 0 : token).value(more == null ? Map.of() : more);
        out.put(owed == null ? 0 : owed.size());
        if (owed != null) {
            owed.forEach((granted, each) -> out.put(granted).put(each.used()).time(each.until()));
        }
    }
}
