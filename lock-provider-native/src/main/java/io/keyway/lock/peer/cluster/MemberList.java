// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.kernel.StateEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The members of a cluster, and which of them decides on which name: the one whose id and the name have the highest hash (rendezvous hashing), so that a member that joins or leaves moves its own names only.
 * Immutable; the order and the number of mentions of the members do not matter.
 *
 * <p>All members and clients must agree on the hash for ever; {@code MemberListTest} has fixed examples of it.
 */
public final class MemberList {
    private static final long OFFSET = 0xcbf29ce484222325L;
    private static final long PRIME = 0x100000001b3L;
    private static final long SHARD = 0x9e3779b97f4a7c15L;

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

    /** The member that decides on what has this route key. */
    public NodeId owner(String routeKey) {
        long key = hash(routeKey);
        int best = 0;
        for (int i = 1; i < hashes.length; i++) {
            if (Long.compareUnsigned(weight(hashes[i], key), weight(hashes[best], key)) > 0) {
                best = i;
            }
        }
        return members.get(best);
    }

    /** Which of its owner's cells decides on what has this route key; independent of who the owner is. */
    public static int shard(String routeKey, int shards) {
        return (int) Long.remainderUnsigned(StateEncoder.mix(hash(routeKey) + SHARD), shards);
    }

    private static long weight(long member, long key) {
        return StateEncoder.mix(member ^ StateEncoder.mix(key));
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
