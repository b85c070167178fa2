// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.ElectionDate;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which of the other members has said that it wants an election, since the last view, and when. No member takes its
 * wish back: one that hears its leader again says no more that it wants an election.
 */
final class ElectionDates {
    /** @param heard when it came */
    private record Wish(ElectionDate date, long heard) {}

    private final TreeMap<String, Wish> wishes = new TreeMap<>();
    /** A member that wants an election says so again when it looks after so long. */
    private final long again;
    /** When this member has said so to all; {@link Turn#NEVER} if it has not. */
    private long saidAt = Turn.NEVER;

    ElectionDates(long again) {
        this.again = again;
    }

    /** This member says to all that it wants one. */
    void said(long now) {
        saidAt = now;
    }

    /** Whether this member, which wants one, is to say so again. */
    boolean isDue(long now) {
        return saidAt != Turn.NEVER && now - saidAt >= again;
    }

    /** False if it had said so before. */
    boolean isNew(String member, ElectionDate wish, long now) {
        return wishes.put(member, new Wish(wish, now)) == null;
    }

    void keep(List<String> members) {
        wishes.keySet().retainAll(members);
    }

    void forget() {
        wishes.clear();
        saidAt = Turn.NEVER;
    }

    /** Whether all others have said so, however long ago, and that identifier is smaller than theirs. */
    boolean isSmallestOf(Identifier own, List<String> members) {
        boolean smallest = wishes.size() == members.size() - 1;
        for (Wish other : wishes.values()) {
            smallest &= own.compareTo(other.date().identifier()) <= 0;
        }
        return smallest;
    }

    /** Those that have said so after that time and know that view as the latest one, with that member. */
    Set<String> agree(String self, ViewId view, long since) {
        Set<String> agree = new TreeSet<>(Set.of(self));
        for (Map.Entry<String, Wish> other : wishes.entrySet()) {
            Wish wish = other.getValue();
            if (wish.heard() - since > 0 && wish.date().adopted().equals(view)) {
                agree.add(other.getKey());
            }
        }
        return agree;
    }

    ElectionDates copy() {
        ElectionDates copy = new ElectionDates(again);
        copy.wishes.putAll(wishes);
        copy.saidAt = saidAt;
        return copy;
    }

    void encode(StateEncoder out) {
        out.time(saidAt).put(wishes.size());
        wishes.forEach((member, wish) -> out.put(member).value(wish.date()).time(wish.heard()));
    }
}
