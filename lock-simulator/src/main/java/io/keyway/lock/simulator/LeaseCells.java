// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.SessionTarget;
import java.util.List;
import java.util.function.Predicate;

/** Makes the cells of a lease world, as a kit says. */
final class LeaseCells {
    private final LeaseModel.Kit kit;
    private final long maxTtl;
    private final LockSettings lease;
    private final long counters;
    private final Authority[] authorities;

    /**
     * @param maxTtl of all processes, unless they are given another one
     * @param counters where the counters of members begin
     * @param authorities by the slot of the member; may still be filled
     */
    LeaseCells(LeaseModel.Kit kit, long maxTtl, LockSettings lease, long counters, Authority[] authorities) {
        this.kit = kit;
        this.maxTtl = maxTtl;
        this.lease = lease;
        this.counters = counters;
        this.authorities = authorities;
    }

    /** What is safe in these worlds, and what is not. */
    LeaseModel.Kit kit() {
        return kit;
    }

    /** Whether a member that starts anew waits before it grants. */
    boolean quarantine() {
        return kit.quarantine();
    }

    private static SessionSettings settings(long maxTtl) {
        return Sessions.settings(LeaseKeys.ALGORITHM, maxTtl);
    }

    /** What a member grants with. */
    Cell member(SimNode node, Membership membership, Predicate<String> owned, long until, Horizon horizon) {
        return member(node, maxTtl, membership, owned, until, horizon);
    }

    /** What a member grants with, at most for that time. */
    Cell member(SimNode node, long ttl, Membership membership, Predicate<String> owned, long until, Horizon horizon) {
        MemberSessions layer = new MemberSessions(
                among(ttl, membership.members()),
                membership,
                Sessions.incarnation(node, 0),
                node.disk().startEpoch(),
                until,
                horizon);
        ((MemberView) layer).raiseFloor(counters);
        return new Cell(authorities[node.slot()].watch().watched(kit.members().create(lease, owned)), layer);
    }

    private static SessionSettings among(long ttl, List<String> members) {
        String text = String.join(",", members);
        return settings(ttl).among(text.hashCode(), text);
    }

    Cell client(SimNode node, int number, SessionTarget aim) {
        return client(node, maxTtl, number, aim);
    }

    /** What a client that is given that {@code maxTtl} talks to a member with. */
    Cell client(SimNode node, long ttl, int number, SessionTarget aim) {
        return new Cell(
                kit.clients().apply(lease),
                new ClientSession(settings(ttl), Sessions.incarnation(node, number), aim, List.of(), 0, 0));
    }

    /** What a member keeps in touch with another one with. */
    Cell peer(SimNode node, long ttl, int number, String other, List<String> members) {
        return new Cell(
                kit.clients().apply(lease),
                new ClientSession(
                        among(ttl, members),
                        Sessions.incarnation(node, number),
                        SessionTarget.peer(Cluster.id(node).toString(), other),
                        List.of(),
                        0,
                        0));
    }
}
