// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockEvent;
import io.keyway.lock.LockKey;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * How many of a check's clients wait for a lock, by what they tell their listeners: for stores that cannot be asked.
 */
final class WaiterCount {
    private final List<Map<LockKey, Integer>> clients = new CopyOnWriteArrayList<>();

    /** Counts those of this client too, from now on. */
    void of(LockClient client) {
        Map<LockKey, Integer> waiting = new ConcurrentHashMap<>();
        clients.add(waiting);
        client.addListener(event -> heard(waiting, event));
    }

    private static void heard(Map<LockKey, Integer> waiting, LockEvent event) {
        LockKey key = event.key();
        if (key == null) {
            return;
        }
        switch (event.type()) {
            case WAITING -> waiting.merge(key, 1, Integer::sum);
            // Who did not wait before counts for nothing.
            case GRANTED, WITHDRAWN -> waiting.computeIfPresent(key, (same, many) -> Math.max(0, many - 1));
            default -> {}
        }
    }

    /** How many wait for that lock. */
    int behind(LockKey key) {
        return clients.stream()
                .mapToInt(waiting -> waiting.getOrDefault(key, 0))
                .sum();
    }
}
