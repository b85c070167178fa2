// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.session.SessionFrame.Role;

/**
 * Whom a session is for, and when it is wanted.
 *
 * @param from the id of the member that this session is of; empty if it is a client's
 * @param node the member's id; empty for any member of the cluster, and then for the one that answers first
 * @param shard which of its cells
 * @param moves whichever member leads, at each time; otherwise the one that answered first, for good
 */
public record SessionTarget(Role role, String from, String node, int shard, Demand demand, boolean moves) {
    /** When a session is to be up. */
    public enum Demand {
        /** While something is held or waited for. */
        ON_DEMAND,
        /** Until a member has answered, and then on demand. */
        UNTIL_WELCOMED,
        /** As long as this cell lives. */
        ALWAYS
    }

    /** A client of a cluster with one member. */
    public static final SessionTarget ONLY_MEMBER = new SessionTarget(Role.CLIENT, "", "", 0, Demand.ON_DEMAND, false);

    /** A client that wants to know the members. */
    public static final SessionTarget ANY_MEMBER =
            new SessionTarget(Role.CLIENT, "", "", 0, Demand.UNTIL_WELCOMED, false);

    /** A client that wants to know the members, and of the member that leads the first cells of all. */
    public static final SessionTarget LEADER = new SessionTarget(Role.CLIENT, "", "", 0, Demand.UNTIL_WELCOMED, true);

    /** A client of the member that leads those cells of all, where one does. */
    public static SessionTarget leader(int shard) {
        return new SessionTarget(Role.CLIENT, "", "", shard, Demand.ON_DEMAND, true);
    }

    /** A client of that cell. */
    public static SessionTarget at(String node, int shard) {
        return new SessionTarget(Role.CLIENT, "", node, shard, Demand.ON_DEMAND, false);
    }

    /** A member that keeps in touch with another one. */
    public static SessionTarget peer(String from, String node) {
        return peer(from, node, 0);
    }

    /** A member's cell that keeps in touch with that of another one. */
    public static SessionTarget peer(String from, String node, int shard) {
        return new SessionTarget(Role.MEMBER, from, node, shard, Demand.ALWAYS, false);
    }

    /** The same, for that member alone. */
    SessionTarget at(String member) {
        return new SessionTarget(role, from, member, shard, demand, false);
    }
}
