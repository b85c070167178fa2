// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.session.WelcomeInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which cell of which member decides on what has a route, as a member has told. Immutable.
 *
 * @param only the member to which all goes, whatever its route; null if the list decides. Where members lead, it
 *     stands for the leader of the cells of each number
 */
public record Routes(
        MemberList members, int shards, @Nullable NodeId only) {
    /** @throws IllegalArgumentException if no member would tell that */
    static Routes of(WelcomeInfo welcome) {
        if (welcome.shards() < 1) {
            throw new IllegalArgumentException(welcome.node() + " has no cells");
        }
        return new Routes(
                new MemberList(welcome.members().stream().map(NodeId::parse).toList()), welcome.shards(), null);
    }

    /** The same members; all goes to that one. */
    Routes by(NodeId member) {
        return new Routes(members, shards, member);
    }

    /** The number of the cell that decides on what has this route, among all that decide. */
    int cell(String route) {
        return only == null ? members.cell(route, shards) : shard(route);
    }

    /** Who decides on what has this route. */
    public ShardId authority(String route) {
        return only == null
                ? new ShardId(members.owner(route), MemberList.shard(route, shards))
                : new ShardId(only, shard(route));
    }

    /** What belongs to no name has the empty route, and goes to the first cell. */
    private int shard(String route) {
        return route.isEmpty() ? 0 : MemberList.shard(route, shards);
    }

    /** All cells to which something goes, if it all goes to one member. */
    List<ShardId> allOf(NodeId member) {
        List<ShardId> all = new ArrayList<>();
        for (int shard = 0; shard < shards; shard++) {
            all.add(new ShardId(member, shard));
        }
        return all;
    }

    /** All cells of all members; {@link MemberList#cell} counts in this order. */
    public List<ShardId> all() {
        List<ShardId> all = new ArrayList<>();
        members.members().forEach(node -> all.addAll(allOf(node)));
        return all;
    }
}
