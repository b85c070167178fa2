// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.security.Security;
import io.keyway.lock.peer.session.Membership;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * What somebody wants a member to be.
 *
 * @param node its id, one of {@code members} unless it joins
 * @param listen where it takes connections; need not be the address that its id names
 * @param members of the cluster
 * @param cluster the cluster's name
 * @param data the directory that this member keeps its file in, and no other
 * @param init the word that this cluster never ran
 * @param removed former members of which it is known that they have ended for good
 * @param maxTtl the longest ttl that the cluster grants
 * @param shards cells of each member, 1 to {@value Membership#MAX_SHARDS}
 * @param security how members and clients prove themselves
 * @param tokenFloor what all tokens of this member are to exceed from this start on; 0 for nothing
 * @param joins {@code members} are those of a cluster that works, which adds this one when it is told to
 */
public record MemberConfig(
        NodeId node,
        InetSocketAddress listen,
        MemberList members,
        String cluster,
        Path data,
        boolean init,
        Set<NodeId> removed,
        Duration maxTtl,
        int shards,
        Security security,
        long tokenFloor,
        boolean joins) {
    /** The name of a cluster that was given none. */
    public static final String CLUSTER = "keyway";

    /** Cells of a member, where nobody says how many: a client has a connection for each that it uses. */
    public static final int SHARDS = 1;

    public MemberConfig {
        removed = Set.copyOf(removed);
        if (!joins && !members.members().contains(node)) {
            throw new IllegalArgumentException(
                    "member " + node + " is not in the member list " + members + ": add it, or name another one");
        }
        if (cluster.isEmpty()) {
            throw new IllegalArgumentException("the cluster's name is empty");
        }
        if (members.members().size() > Membership.MAX_MEMBERS) {
            throw new IllegalArgumentException(
                    members.members().size() + " members; a cluster has at most " + Membership.MAX_MEMBERS);
        }
        if (shards < 1 || shards > Membership.MAX_SHARDS) {
            throw new IllegalArgumentException(shards + " shards: 1 to " + Membership.MAX_SHARDS);
        }
    }

    /** Where a member keeps its file if nobody says where: one place for each port. */
    public static Path defaultData(String home, int port) {
        if (home.isEmpty() || !Path.of(home).isAbsolute()) {
            throw new IllegalArgumentException("this user has no home directory (user.home is '" + home
                    + "'): say where the member keeps its data");
        }
        return Path.of(home).resolve(".local/state/keyway").resolve("member-" + port);
    }

    /** The ids of all members, in order. */
    List<String> ids() {
        return texts(members.members());
    }

    /** The ids of the members that have ended. */
    Set<String> removedIds() {
        return new TreeSet<>(texts(removed));
    }

    private static List<String> texts(Iterable<NodeId> nodes) {
        List<String> texts = new ArrayList<>();
        nodes.forEach(each -> texts.add(each.toString()));
        return texts;
    }
}
