// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockMessage.Members;
import io.keyway.lock.peer.session.ListOfCell;
import io.keyway.lock.peer.session.Membership;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The lists of members by which the other cells of a member count. An administrator changes the list of the first cells
 * alone; the leaders of other cells make their lists the same, one member after the other.
 */
final class ListsOfCells {
    private final TreeMap<Integer, List<String>> lists = new TreeMap<>();

    void heard(ListOfCell list) {
        lists.put(list.shard(), list.members());
    }

    /** What comes next to make those members of another cell's group the same as in the first; empty if they are. */
    Optional<ElectionCall> change(List<String> members) {
        List<String> wanted = lists.get(0);
        if (wanted == null || members.isEmpty()) {
            return Optional.empty();
        }
        String comes = firstBeside(members, wanted);
        String goes = firstBeside(wanted, members);
        boolean adds = !comes.isEmpty() && (goes.isEmpty() || members.size() < Membership.MAX_MEMBERS);
        String member = adds ? comes : goes;
        return member.isEmpty() ? Optional.empty() : Optional.of(new ElectionCall.ChangeMembers(member, adds));
    }

    /** The first of those that is none of the others; empty if there is none. */
    private static String firstBeside(List<String> others, List<String> those) {
        for (String each : those) {
            if (!others.contains(each)) {
                return each;
            }
        }
        return "";
    }

    /**
     * What an administrator hears of the list of the first cells; that the wish is not fulfilled, if it is not in
     * another group.
     *
     * @param shards how many groups there are
     */
    Members answer(LockMessage.ChangeMembers wish, Members first, int shards) {
        boolean isSo = first.members().contains(wish.member()) == wish.add();
        if (wish.member().isEmpty() || first.refused() || !isSo) {
            return first;
        }
        for (int shard = 1; shard < shards; shard++) {
            List<String> list = lists.get(shard);
            if (list == null || list.contains(wish.member()) != wish.add()) {
                String why = "the members of shard " + shard + " of " + shards + " have not agreed yet.";
                return new Members(first.key(), first.request(), others(wish, first), false, why);
            }
        }
        return first;
    }

    /** A list that is not as wanted: that is what it says. */
    private static List<String> others(LockMessage.ChangeMembers wish, Members first) {
        List<String> members = new ArrayList<>(first.members());
        if (wish.add()) {
            members.remove(wish.member());
        } else {
            members.add(wish.member());
        }
        return List.copyOf(members);
    }

    ListsOfCells copy() {
        ListsOfCells copy = new ListsOfCells();
        copy.lists.putAll(lists);
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(lists.size());
        for (Map.Entry<Integer, List<String>> each : lists.entrySet()) {
            out.put(each.getKey()).value(each.getValue());
        }
    }
}
