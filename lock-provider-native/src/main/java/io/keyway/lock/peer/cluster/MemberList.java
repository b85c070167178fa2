// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.spi.NodeParts;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster, and which of them decides on which name: the one whose id and the name have the highest
 * hash (rendezvous hashing), so that a member that joins or leaves moves its own names only. A name that says its
 * member ({@link NodeParts}) is that member's, as long as it is one. Immutable; the order and the number of mentions of
 * the members do not matter.
 *
 * <p>All members and clients must agree on the hash forever; {@code MemberListTest} has fixed examples of it.
 */
public final class MemberList {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private final List<NodeId> members;
    private final long[] hashes;

    /** @throws IllegalArgumentException if there is none */
    public MemberList(Collection<NodeId> members) {
        if (members.isEmpty()) {
            throw new IllegalArgumentException("a cluster has at least one member");
        }
        this.members = Collections.unmodifiableList(new ArrayList<>(new TreeSet<>(members)));
        this.hashes = this.members.stream()
                .mapToLong(member -> hash(member.toString()))
                .toArray();
    }

    /** Reads {@code a:7400,b:7400}. */
    public static MemberList parse(String text) {
        List<NodeId> members = new ArrayList<>();
        for (String each : text.split(",", -1)) {
            members.add(NodeId.parse(each.strip()));
        }
        return new MemberList(members);
    }

    /** In the order of their ids. */
    public List<NodeId> members() {
        return members;
    }

    /** Whether each node that is named there, with commas between, is a member. */
    boolean haveAll(String nodes) {
        List<String> ids = members.stream().map(NodeId::toString).toList();
        return ids.containsAll(List.of(nodes.split(",")));
    }

    /** The member that decides on what has this route. */
    public NodeId owner(String route) {
        return members.get(owner(route, hash(route)));
    }

    /** Which of its owner's cells decides on what has this route; independent of who the owner is. */
    public static int shard(String route, int shards) {
        return shard(hash(route), shards);
    }

    /** Both in one number: the owner's place in the list times {@code shards}, plus the cell. */
    int cell(String route, int shards) {
        long hash = hash(route);
        return owner(route, hash) * shards + shard(hash, shards);
    }

    /** Whether one cell of one member is the one that decides on a route. */
    Predicate<String> decidedBy(NodeId member, int shard, int shards) {
        int cell = members.indexOf(member) * shards + shard;
        return route -> cell(route, shards) == cell;
    }

    private int owner(String route, long hash) {
        String said = NodeParts.node(route).orElse(null);
        if (said != null) {
            for (int i = 0; i < members.size(); i++) {
                if (members.get(i).toString().equals(said)) {
                    return i;
                }
            }
        }
        long key = mix(hash);
        int best = 0;
        for (int i = 1; i < hashes.length; i++) {
            if (Long.compareUnsigned(mix(hashes[i] ^ key), mix(hashes[best] ^ key)) > 0) {
                best = i;
            }
        }
        return best;
    }

    private static int shard(long route, int shards) {
        return (int) Long.remainderUnsigned(mix(route + GOLDEN), shards);
    }

    /** The finalizer of SplitMix64; written here since it must never change. */
    private static long mix(long value) {
        long z = value + GOLDEN;
        z = (z ^ (z >>> 30)) * 0xbf58476d1ce4e5b9L;
        z = (z ^ (z >>> 27)) * 0x94d049bb133111ebL;
        return z ^ (z >>> 31);
    }

    /** FNV-1a over UTF-8. */
    private static long hash(String text) {
        long hash = OFFSET;
        for (byte each : text.getBytes(StandardCharsets.UTF_8)) {
            hash = (hash ^ (each & 0xff)) * PRIME;
        }
        return hash;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof MemberList list && list.members.equals(members);
    }

    @Override
    public int hashCode() {
        return members.hashCode();
    }

    @Override
    public String toString() {
        StringBuilder text = new StringBuilder();
        members.forEach(member -> text.append(text.length() == 0 ? "" : ",").append(member));
        return text.toString();
    }
}
