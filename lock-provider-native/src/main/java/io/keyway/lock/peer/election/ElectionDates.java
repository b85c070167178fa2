// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.ElectionDate;
import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Which of the other members has said that it wants an election, since the last view. */
final class ElectionDates {
    private final TreeMap<String, ElectionDate> dates = new TreeMap<>();

    /** False if it had said so before. */
    boolean isNew(String member, ElectionDate wish) {
        return dates.put(member, wish) == null;
    }

    void keep(List<String> members) {
        dates.keySet().retainAll(members);
    }

    void forget() {
        dates.clear();
    }

    /** Whether all others have said so, and that identifier is smaller than theirs. */
    boolean isSmallestOf(Identifier own, List<String> members) {
        boolean smallest = dates.size() == members.size() - 1;
        for (ElectionDate other : dates.values()) {
            smallest &= own.compareTo(other.identifier()) <= 0;
        }
        return smallest;
    }

    /** Those that know that view as the latest one, with that member. */
    Set<String> agree(String self, ViewId view) {
        Set<String> agree = new TreeSet<>(Set.of(self));
        for (Map.Entry<String, ElectionDate> other : dates.entrySet()) {
            if (other.getValue().adopted().equals(view)) {
                agree.add(other.getKey());
            }
        }
        return agree;
    }

    ElectionDates copy() {
        ElectionDates copy = new ElectionDates();
        copy.dates.putAll(dates);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(dates);
    }
}
