// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionCall.ChangeMembers;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** The change of the list that an administrator wants of a member, one at a time. */
final class ListChange {
    /** For so long it is wanted, in nanoseconds; who wants it says so again and again until it is so. */
    private static final long WANTED = 10_000_000_000L;

    private @Nullable ChangeMembers wish;
    private long until = Turn.NEVER;
    /** Those that are no members and know what they have promised, so that they can vote. */
    private final Set<String> guests = new TreeSet<>();
    /** Those that are to become members, as others say, or were ones until now, and until when they are talked to. */
    private final TreeMap<String, Long> introduced = new TreeMap<>();

    void wants(ChangeMembers change, long now) {
        wish = change;
        until = now + WANTED;
    }

    void introduced(String guest, long now) {
        introduced.put(guest, now + WANTED);
    }

    /** Who is a member no more is to hear of it, and may have asked before it did. */
    void leave(List<String> former, List<String> members, long now) {
        for (String member : former) {
            if (!members.contains(member)) {
                introduced.put(member, now + WANTED);
            }
        }
    }

    /** Something is wanted, or somebody is talked to for some time. */
    boolean isOpen() {
        return wish != null || !introduced.isEmpty();
    }

    /** Forgets what is so, or was not said again; true if it did. */
    boolean isOver(List<String> members, long now) {
        boolean over = introduced.values().removeIf(each -> Turn.due(each, now));
        if (wish != null && (members.contains(wish.member()) == wish.add() || Turn.due(until, now))) {
            wish = null;
            over = true;
        }
        return over;
    }

    void addTo(Collection<String> fellows) {
        fellows.addAll(introduced.keySet());
        if (wish != null && wish.add()) {
            fellows.add(wish.member());
        }
    }

    void canVote(String guest) {
        guests.add(guest);
    }

    void isGone(String guest) {
        guests.remove(guest);
    }

    /** The list that the next view is to have: who is to be added must be heard, and able to vote. */
    List<String> after(List<String> members, Predicate<String> heard) {
        if (wish == null || members.contains(wish.member()) == wish.add()) {
            return members;
        }
        List<String> list = new ArrayList<>(members);
        if (!wish.add()) {
            list.remove(wish.member());
        } else if (guests.contains(wish.member()) && heard.test(wish.member())) {
            list.add(wish.member());
        }
        return list.isEmpty() || list.size() > ElectionCodec.MAX_MEMBERS ? members : List.copyOf(list);
    }

    ListChange copy() {
        ListChange copy = new ListChange();
        copy.wish = wish;
        copy.until = until;
        copy.guests.addAll(guests);
        copy.introduced.putAll(introduced);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(wish).time(until).value(guests).put(introduced.size());
        introduced.forEach((guest, end) -> out.put(guest).time(end));
    }
}
