// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Which authority a cell is, and what a member tells of its cluster in each welcome.
 *
 * @param node the member's id in its cluster
 * @param members the ids of all members; this one is among them, unless it is to become one
 * @param shard which of the member's cells this is, from 0
 * @param shards how many cells each member has
 * @param fresh this life of the member began as the first use of the cluster
 * @param longestTtl the longest lease that may be left of former lives of the member, or that this one grants, in
 *     nanoseconds
 * @param lastEpoch the highest epoch that anybody may have seen of this member, whatever the clocks of its former lives
 *     said; who tells of a higher one is refused
 */
public record Membership(
        String node, List<String> members, int shard, int shards, boolean fresh, long longestTtl, long lastEpoch) {
    /** The most members of a cluster. */
    public static final int MAX_MEMBERS = 64;
    /** The longest lease that any member can have granted: a day, as the option {@code maxTtl} says, in nanoseconds. */
    public static final long MAX_LONGEST_TTL = 86_400_000_000_000L;
    /** Epochs have 32 bits. */
    public static final long LARGEST_EPOCH = 0xFFFF_FFFFL;
    /** What of a token is below the epoch. */
    static final int COUNTER_BITS = 31;
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
        if (members.isEmpty() || members.size() > MAX_MEMBERS) {
            throw new IllegalArgumentException(members.size() + " members: at least 1, and at most " + MAX_MEMBERS);
        }
        if (lastEpoch >= LARGEST_EPOCH) {
            throw new IllegalArgumentException("no epoch is left above " + lastEpoch);
        }
        if (shards < 1 || shards > MAX_SHARDS || shard < 0 || shard >= shards) {
            throw new IllegalArgumentException("shard " + shard + " of " + shards + ": at most " + MAX_SHARDS);
        }
    }

    /** The least epoch of which all tokens are above that one. */
    public static long epochAbove(long token) {
        return (token >>> COUNTER_BITS) + 1;
    }

    /** Another cell of the same member. */
    public Membership ofShard(int other) {
        return new Membership(node, members, other, shards, fresh, longestTtl, lastEpoch);
    }

    /** The only member of its cluster, in one cell. */
    public static Membership single(String node) {
        return new Membership(node, List.of(node), 0, 1, false, 0, LARGEST_EPOCH - 1);
    }
}
