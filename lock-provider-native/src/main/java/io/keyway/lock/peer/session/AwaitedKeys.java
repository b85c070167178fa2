// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The keys of a client that wait, each with one ttl, and what stands between them and the member. They outlive
 * sessions.
 */
final class AwaitedKeys {
    private final Map<Key, Long> waits = new LinkedHashMap<>();
    private final TreeMap<Long, Integer> ttls = new TreeMap<>();
    private @Nullable Unreachable trouble;

    /** The key waits from now on; if the member can't be reached, it hears why. */
    void add(Key key, long ttl, Turn turn) {
        Long former = waits.put(key, ttl);
        if (former != null) {
            drop(former);
        }
        ttls.merge(ttl, 1, Integer::sum);
        if (trouble != null) {
            turn.call(key, trouble);
        }
    }

    void remove(Key key, long ttl) {
        if (waits.remove(key, ttl)) {
            drop(ttl);
        }
    }

    private void drop(long ttl) {
        ttls.computeIfPresent(ttl, (same, times) -> times == 1 ? null : times - 1);
    }

    boolean isEmpty() {
        return waits.isEmpty();
    }

    Set<Key> keys() {
        return waits.keySet();
    }

    /** {@link Turn#NEVER} if none waits. */
    long smallest() {
        return ttls.isEmpty() ? Turn.NEVER : ttls.firstKey();
    }

    void tell(Call call, Turn turn) {
        for (Key key : waits.keySet()) {
            turn.call(key, call);
        }
    }

    /** The member can't be reached; all who wait hear of it, once for each cause. */
    void unreachable(Unreachable why, Turn turn) {
        if (!why.equals(trouble)) {
            trouble = why;
            tell(why, turn);
        }
    }

    void reachable() {
        trouble = null;
    }

    AwaitedKeys copy() {
        AwaitedKeys copy = new AwaitedKeys();
        copy.waits.putAll(waits);
        copy.ttls.putAll(ttls);
        copy.trouble = trouble;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(waits.size());
        for (Map.Entry<Key, Long> entry : waits.entrySet()) {
            out.put(entry.getKey()).put(entry.getValue());
        }
        out.value(trouble);
    }
}
