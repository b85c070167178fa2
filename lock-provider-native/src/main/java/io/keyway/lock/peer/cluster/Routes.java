// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.session.WelcomeInfo;
import java.util.ArrayList;
import java.util.List;

/** Which authority decides on which name, as a member has told. Immutable. */
public record Routes(MemberList members, int shards) {
    /** @throws IllegalArgumentException if no member would tell that */
    static Routes of(WelcomeInfo greeting) {
        if (greeting.shards() < 1) {
            throw new IllegalArgumentException(greeting.node() + " has no cells");
        }
        return new Routes(
                new MemberList(greeting.members().stream().map(NodeId::parse).toList()), greeting.shards());
    }

    /** Who decides on what has this route key. */
    public ShardId authority(String routeKey) {
        return new ShardId(members.owner(routeKey), MemberList.shard(routeKey, shards));
    }

    /** All cells of all members. */
    public List<ShardId> all() {
        List<ShardId> all = new ArrayList<>();
        for (NodeId node : members.members()) {
            for (int shard = 0; shard < shards; shard++) {
                all.add(new ShardId(node, shard));
            }
        }
        return all;
    }
}
