// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.Set;
import java.util.TreeMap;

/** Since when leaders are not heard. */
final class LostLeaders {
    private final TreeMap<String, Long> since = new TreeMap<>();

    /** Whether one of these, who are not heard now, was not for so long. */
    boolean areLost(Set<String> missing, long now, long detection) {
        since.keySet().retainAll(missing);
        boolean lost = false;
        for (String leader : missing) {
            long first = since.computeIfAbsent(leader, missed -> now);
            lost |= now - first >= detection;
        }
        return lost;
    }

    /** Whether that one was not heard for so long. */
    boolean isLost(String leader, long now, long detection) {
        Long first = since.get(leader);
        return first != null && now - first >= detection;
    }

    void forget() {
        since.clear();
    }

    /** When to look at them again: each after that time, and then again and again; {@link Turn#NEVER} if none is. */
    long next(long now, long detection, long again) {
        long next = Turn.NEVER;
        for (long first : since.values()) {
            long left = detection - (now - first);
            next = Turn.earlier(next, now + Math.max(left, left > 0 ? 0 : again));
        }
        return next;
    }

    LostLeaders copy() {
        LostLeaders copy = new LostLeaders();
        copy.since.putAll(since);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(since.size());
        since.forEach((member, first) -> out.put(member).time(first));
    }
}
