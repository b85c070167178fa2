// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Which authority a cell is, and what a member tells of its cluster in each welcome.
 *
 * @param node the member's id in its cluster
 * @param members the ids of all members, this one included
 * @param shard which of the member's cells this is, from 0
 * @param shards how many cells each member has
 * @param fresh this life of the member began as the first use of the cluster
 */
public record Membership(String node, List<String> members, int shard, int shards, boolean fresh) {
    /** The most members of a cluster. */
    public static final int MAX_MEMBERS = 64;
    /** The most cells of a member. */
    public static final int MAX_SHARDS = 64;

    public Membership {
        members = List.copyOf(members);
        for (String member : members) {
            if (member.isEmpty() || member.getBytes(StandardCharsets.UTF_8).length > SessionSettings.MAX_NODE) {
                throw new IllegalArgumentException(
                        "node \"" + member + "\": 1 to " + SessionSettings.MAX_NODE + " bytes");
            }
        }
        if (!members.contains(node) || members.size() > MAX_MEMBERS) {
            throw new IllegalArgumentException(
                    "node " + node + " of " + members + ": it must be one of them, and they at most " + MAX_MEMBERS);
        }
        if (shards < 1 || shards > MAX_SHARDS || shard < 0 || shard >= shards) {
            throw new IllegalArgumentException("shard " + shard + " of " + shards + ": at most " + MAX_SHARDS);
        }
    }

    /** The only member of its cluster, in one cell. */
    public static Membership single(String node) {
        return new Membership(node, List.of(node), 0, 1, false);
    }
}
