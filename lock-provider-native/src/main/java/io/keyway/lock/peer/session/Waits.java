// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.kernel.Canon;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Turn;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The keys of a client that wait, each with one ttl. They outlive sessions. */
final class Waits {
    private final Map<Key, Long> waits = new LinkedHashMap<>();
    private final TreeMap<Long, Integer> ttls = new TreeMap<>();

    void add(Key key, long ttl) {
        Long former = waits.put(key, ttl);
        if (former != null) {
            drop(former);
        }
        ttls.merge(ttl, 1, Integer::sum);
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

    Waits copy() {
        Waits copy = new Waits();
        copy.waits.putAll(waits);
        copy.ttls.putAll(ttls);
        return copy;
    }

    void encode(Canon out) {
        out.put(waits.size());
        for (Map.Entry<Key, Long> entry : waits.entrySet()) {
            out.put(entry.getKey()).put(entry.getValue());
        }
    }
}
