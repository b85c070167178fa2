// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** What members have confirmed of the view that a member knows, and recorded by it. */
final class Confirmations {
    /** When it last asked that member for what it has confirmed. */
    private final TreeMap<String, Long> asked = new TreeMap<>();
    /** What that member has recorded by the present view. */
    private final TreeMap<String, Long> bounds = new TreeMap<>();

    /** That member has confirmed what it was asked at that time, and recorded that bound. */
    void confirmed(String member, long at, long bound) {
        Long before = asked.get(member);
        if (before == null || before - at < 0) {
            asked.put(member, at);
        }
        bounds.merge(member, bound, Math::max);
    }

    /** When the latest was asked that a majority of these has confirmed; {@link Turn#NEVER} if nothing was. */
    long majorityAsked(List<String> list, long now) {
        List<Long> ages = new ArrayList<>();
        for (String member : list) {
            Long at = asked.get(member);
            if (at != null) {
                ages.add(now - at);
            }
        }
        ages.sort(null);
        int majority = list.size() / 2 + 1;
        return ages.size() < majority ? Turn.NEVER : now - ages.get(majority - 1);
    }

    /** Whether a majority of these has recorded that bound, as that member has. */
    boolean haveRecorded(List<String> list, String self, long bound) {
        Set<String> have = new TreeSet<>(Set.of(self));
        for (Map.Entry<String, Long> each : bounds.entrySet()) {
            if (each.getValue() >= bound) {
                have.add(each.getKey());
            }
        }
        return MemberLists.isMajority(have, list);
    }

    /** Another view counts. */
    void forgetBounds() {
        bounds.clear();
    }

    /** Another list counts: nobody has confirmed it yet. */
    void forgetAll() {
        asked.clear();
        bounds.clear();
    }

    Confirmations copy() {
        Confirmations copy = new Confirmations();
        copy.asked.putAll(asked);
        copy.bounds.putAll(bounds);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(asked.size());
        asked.forEach((member, at) -> out.put(member).time(at));
        out.value(bounds);
    }
}
