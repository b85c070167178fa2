// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import io.keyway.lock.peer.session.SeatKept;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The last news that the cells of a member have of their groups: one group for each cell where each cell elects, else
 * one for all of them. On any thread.
 */
final class GroupNews {
    private static final String NOBODY_YET = "too few members have answered yet";

    private static final class Group {
        List<String> leaders = List.of();
        /** Why no lock can be had though the member is open; empty if locks can. */
        String notReady;
        /** The list of the group; empty before there is news of it. */
        List<String> members = List.of();
        /** This member leads, and cannot give that away now. */
        boolean keeps;

        Group(String notReady) {
            this.notReady = notReady;
        }
    }

    private final String node;
    private final List<Group> groups = new ArrayList<>();
    /** This member was removed from the list of a group. */
    private boolean removed;

    /** @param tellsReadiness as of {@link io.keyway.lock.peer.service.Algorithm#tellsReadiness} */
    GroupNews(String node, int count, boolean tellsReadiness) {
        this.node = node;
        for (int i = 0; i < count; i++) {
            groups.add(new Group(tellsReadiness ? NOBODY_YET : ""));
        }
    }

    private Group group(int cell) {
        return groups.get(groups.size() == 1 ? 0 : cell);
    }

    /** The group of that cell for the log, as " shard 3 of 6"; empty if there is but one. */
    String shard(int cell) {
        return groups.size() == 1 ? "" : " shard " + cell + " of " + groups.size();
    }

    /** A notice of that cell. */
    synchronized void heard(int cell, Notice notice) {
        Group group = group(cell);
        if (notice instanceof LeadersElected elected) {
            group.leaders = elected.leaders();
        } else if (notice instanceof SeatKept) {
            group.keeps = true;
        } else if (notice instanceof LockNotice.ClusterChanged changed) {
            group.notReady = MemberNotices.whyNotReady(changed);
        } else if (notice instanceof ListChanged list) {
            group.members = list.members();
            removed |= list.removed();
        }
    }

    /** Whether this member leads a group. */
    synchronized boolean leads() {
        return leaders().contains(node);
    }

    /** Whether this member leads no group but those that it cannot give away. */
    synchronized boolean hasLeft() {
        boolean left = true;
        for (Group group : groups) {
            left &= group.keeps || !group.leaders.contains(node);
        }
        return left;
    }

    /** The members of that group; empty before there is news of them. */
    synchronized List<String> members(int cell) {
        return group(cell).members;
    }

    /** The leaders of that group; empty before there is news of them. */
    synchronized List<String> leaders(int cell) {
        return group(cell).leaders;
    }

    /** The leaders of all groups, each once, in the order of the groups. */
    synchronized List<String> leaders() {
        Set<String> all = new LinkedHashSet<>();
        groups.forEach(group -> all.addAll(group.leaders));
        return List.copyOf(all);
    }

    /** Half a sentence on why not all locks can be had through this member; empty if they can. */
    synchronized String notReady() {
        Map<String, List<String>> reasons = new LinkedHashMap<>();
        for (int i = 0; i < groups.size(); i++) {
            String why = groups.get(i).notReady;
            if (!why.isEmpty()) {
                reasons.computeIfAbsent(why, none -> new ArrayList<>()).add(Integer.toString(i));
            }
        }
        if (groups.size() == 1) {
            return groups.get(0).notReady;
        }
        List<String> all = new ArrayList<>();
        reasons.forEach((why, shards) ->
                all.add("shard" + (shards.size() == 1 ? " " : "s ") + String.join(", ", shards) + ": " + why));
        return String.join("; ", all);
    }

    /** Whether this member was one, and no group has it in its list any more. */
    synchronized boolean isRemoved() {
        boolean out = removed;
        for (Group group : groups) {
            out &= !group.members.isEmpty() && !group.members.contains(node);
        }
        return out;
    }
}
