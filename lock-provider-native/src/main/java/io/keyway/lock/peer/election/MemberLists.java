// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.StateEncoder;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The lists of members that a member counts by, and for which it has voted. docs/models/Members.tla has the rules: a
 * view is elected by majorities of the list before it and of its own (J1), and of each list that one of its voters has
 * voted for since it adopted a view (J2).
 */
final class MemberLists {
    /** What this member was started with, as long as it knows no view. */
    private List<String> configured = List.of();
    /** Of the views that it has voted for since it adopted one. */
    private List<List<String>> open = List.of();

    static boolean isMajority(Collection<String> some, List<String> list) {
        int count = 0;
        for (String member : list) {
            count += some.contains(member) ? 1 : 0;
        }
        return 2 * count > list.size();
    }

    static boolean areMajorities(Collection<String> some, Collection<List<String>> lists) {
        for (List<String> list : lists) {
            if (!isMajority(some, list)) {
                return false;
            }
        }
        return true;
    }

    void configured(List<String> members) {
        configured = List.copyOf(members);
    }

    List<String> configured() {
        return configured;
    }

    /** By which a view counts. */
    List<String> of(View view) {
        return view.members().isEmpty() ? configured : view.members();
    }

    List<List<String>> open() {
        return open;
    }

    void restored(List<List<String>> lists) {
        open = List.copyOf(lists);
    }

    /** Whether it can vote for that list: it keeps no more than can be told. */
    boolean canVoteFor(List<String> list) {
        return open.contains(list) || open.size() < ElectionCodec.MAX_LISTS;
    }

    void votedFor(List<String> list) {
        if (!open.contains(list)) {
            List<List<String>> more = new ArrayList<>(open);
            more.add(List.copyOf(list));
            open = List.copyOf(more);
        }
    }

    /** A view was adopted: what was voted for before is decided. */
    void adopted() {
        open = List.of();
    }

    /** All that are in one of the lists for which it has voted. */
    Set<String> voted() {
        Set<String> all = new LinkedHashSet<>();
        open.forEach(all::addAll);
        return all;
    }

    MemberLists copy() {
        MemberLists copy = new MemberLists();
        copy.configured = configured;
        copy.open = open;
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(configured).value(open);
    }
}
