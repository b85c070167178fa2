// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.session;

import io.keyway.lock.peer.session.SessionFrame.Role;

/**
 * Whom a session is for, and when it is wanted.
 *
 * @param from the id of the member that this session is of; empty if it is a client's
 * @param node the member's id; empty for any member of the cluster, and then for the one that answers first
 * @param shard which of its cells
 */
public record Aim(Role role, String from, String node, int shard, Demand demand) {
    /** When a session is to be up. */
    public enum Demand {
        /** While something is held or waited for. */
        ON_DEMAND,
        /** Until a member has answered, and then on demand. */
        UNTIL_GREETED,
        /** As long as this cell lives. */
        ALWAYS
    }

    /** A client of a cluster with one member. */
    public static final Aim ONLY_MEMBER = new Aim(Role.CLIENT, "", "", 0, Demand.ON_DEMAND);

    /** A client that wants to know the members. */
    public static final Aim ANY_MEMBER = new Aim(Role.CLIENT, "", "", 0, Demand.UNTIL_GREETED);

    /** A client of that cell. */
    public static Aim at(String node, int shard) {
        return new Aim(Role.CLIENT, "", node, shard, Demand.ON_DEMAND);
    }

    /** A member that keeps in touch with another one. */
    public static Aim peer(String from, String node) {
        return new Aim(Role.MEMBER, from, node, 0, Demand.ALWAYS);
    }
}
