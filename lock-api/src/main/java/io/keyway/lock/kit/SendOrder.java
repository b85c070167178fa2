// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * Has the requests of one client for one key arrive at the store in the order in which they were made, as far as that
 * matters: where one of two is EXCLUSIVE, the later is sent when the earlier was answered. Several calls under way could
 * overtake each other, and the queue of the store would keep the wrong order.
 */
final class SendOrder {

    private final TreeMap<Long, StoreEntry> unanswered = new TreeMap<>();
    private int exclusive;

    /** A request begins; true if it may be sent at once, false if {@link #over} of another will return it. */
    boolean begin(StoreEntry entry) {
        if (!counts(entry)) {
            return true;
        }
        boolean free = isExclusive(entry) ? unanswered.isEmpty() : exclusive == 0;
        unanswered.put(entry.order(), entry);
        exclusive += isExclusive(entry) ? 1 : 0;
        entry.unsent = !free;
        return free;
    }

    /** The first call of that request came to something, or will not be made; returns what may be sent now. */
    List<StoreEntry> over(StoreEntry entry) {
        if (!counts(entry) || unanswered.remove(entry.order()) == null) {
            return List.of();
        }
        exclusive -= isExclusive(entry) ? 1 : 0;
        List<StoreEntry> free = new ArrayList<>();
        for (StoreEntry next : unanswered.values()) {
            if (isExclusive(next) && next != unanswered.firstEntry().getValue()) {
                break;
            }
            if (next.unsent) {
                next.unsent = false;
                free.add(next);
            }
            if (isExclusive(next)) {
                break;
            }
        }
        return free;
    }

    private static boolean counts(StoreEntry entry) {
        return entry.request.queue() && entry.holder == null;
    }

    private static boolean isExclusive(StoreEntry entry) {
        return entry.request.mode() == LockMode.EXCLUSIVE;
    }
}
