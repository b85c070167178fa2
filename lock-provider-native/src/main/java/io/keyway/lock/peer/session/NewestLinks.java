// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The newest link that each client incarnation was admitted with. Bytes of an older link may be processed after those
 * of a newer one; while a link can be half-open, its number must be remembered, even if the session is over.
 */
final class NewestLinks {
    /** @param session 0 if that client has none now */
    record Admitted(long attempt, long session) {}

    private final Map<Incarnation, Admitted> live = new LinkedHashMap<>();
    private final LinkedHashMap<Incarnation, Long> forgetAt = new LinkedHashMap<>();

    boolean stale(Incarnation client, long attempt) {
        Admitted newest = live.get(client);
        return newest != null && newest.attempt() >= attempt;
    }

    long session(Incarnation client) {
        Admitted newest = live.get(client);
        return newest == null ? 0 : newest.session();
    }

    boolean remembers(Incarnation client) {
        return live.containsKey(client);
    }

    void admit(Incarnation client, long attempt, long session) {
        live.put(client, new Admitted(attempt, session));
        forgetAt.remove(client);
    }

    void ended(Incarnation client, long until) {
        Admitted newest = live.get(client);
        if (newest != null) {
            live.put(client, new Admitted(newest.attempt(), 0));
            forgetAt.remove(client);
            forgetAt.put(client, until);
        }
    }

    long nextForget() {
        return forgetAt.isEmpty() ? Turn.NEVER : forgetAt.values().iterator().next();
    }

    void forget(long now) {
        for (Incarnation oldest = due(now); oldest != null; oldest = due(now)) {
            forgetAt.remove(oldest);
            live.remove(oldest);
        }
    }

    private @Nullable Incarnation due(long now) {
        if (forgetAt.isEmpty()) {
            return null;
        }
        Map.Entry<Incarnation, Long> first = forgetAt.entrySet().iterator().next();
        return now - first.getValue() >= 0 ? first.getKey() : null;
    }

    void shift(long nanos) {
        forgetAt.replaceAll((client, at) -> at + nanos);
    }

    NewestLinks copy() {
        NewestLinks copy = new NewestLinks();
        copy.live.putAll(live);
        copy.forgetAt.putAll(forgetAt);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(live.size());
        for (Map.Entry<Incarnation, Admitted> entry : live.entrySet()) {
            out.put(entry.getKey().high()).put(entry.getKey().low());
            out.put(entry.getValue().attempt()).put(entry.getValue().session());
        }
        for (Map.Entry<Incarnation, Long> entry : forgetAt.entrySet()) {
            out.put(entry.getKey().high()).put(entry.getKey().low()).time(entry.getValue());
        }
    }
}
