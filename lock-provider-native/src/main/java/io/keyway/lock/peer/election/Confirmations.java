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

/**
 * What members have confirmed of the view that a member knows, and recorded by it.
 *
 * <p>What a member has recorded counts for a lease from when it was asked. It may lose its file after that, and takes
 * part again no sooner than a quarantine later, which is longer: it has learned by then from a majority of others, one
 * of which has recorded the same.
 */
final class Confirmations {
    /** @param at when it was asked */
    private record Bound(long bound, long at) {
        static Bound higher(Bound one, Bound two) {
            return two.bound >= one.bound ? two : one;
        }
    }

    /** When it last asked that member for what it has confirmed. */
    private final TreeMap<String, Long> asked = new TreeMap<>();
    /** What that member has recorded by the present view. */
    private final TreeMap<String, Bound> bounds = new TreeMap<>();

    /** That member has confirmed what it was asked at that time, and recorded that bound. */
    void confirmed(String member, long at, long bound) {
        Long before = asked.get(member);
        if (before == null || before - at < 0) {
            asked.put(member, at);
        }
        bounds.merge(member, new Bound(bound, at), Bound::higher);
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

    /** Whether a majority of these has recorded that bound, as that member has, and was asked since that time. */
    boolean haveRecorded(List<String> list, String self, long bound, long since) {
        Set<String> have = new TreeSet<>(Set.of(self));
        for (Map.Entry<String, Bound> each : bounds.entrySet()) {
            if (each.getValue().bound() >= bound && each.getValue().at() - since > 0) {
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
        out.put(bounds.size());
        bounds.forEach((member, each) -> out.put(member).put(each.bound()).time(each.at()));
    }
}
