// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.cluster;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.engine.Cells;
import io.keyway.lock.peer.member.MemberCell;
import io.keyway.lock.peer.net.HostNames;
import io.keyway.lock.peer.net.LoopThread;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.peer.session.SessionTarget;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A member's sessions with all other members, which also confirm its list: those of its first cell where the algorithm
 * talks to members, else sessions that do nothing else.
 */
final class OtherMembers {
    private final MemberConfig config;
    private final HostNames names;
    private final MembershipGate gate;
    private final boolean talks;
    private final List<PeerLink> links = new ArrayList<>();
    /** Of the first cell, if its machines talk to the other members: by their ids; empty before it has begun. */
    private final Map<String, PeerWatch> watches = new LinkedHashMap<>();

    private boolean begun;
    /** Of all cells: who opens their links to each other member. */
    private final Map<MemberCell, Map<String, PeerDialer>> dialers = new ConcurrentHashMap<>();

    /** @param loop of the first cell */
    OtherMembers(MemberConfig config, Cells factory, LoopThread loop, MembershipGate gate) {
        this.config = config;
        this.gate = gate;
        this.talks = factory.algorithm().talksToMembers();
        this.names = new HostNames("keyway-" + config.node() + "-names");
        if (!talks) {
            for (NodeId other : ids()) {
                links.add(new PeerLink(
                        other,
                        loop,
                        factory.client(SessionTarget.peer(config.node().toString(), other.toString()), 0, 0),
                        factory.frameCodec(),
                        config.security().tls(),
                        names,
                        gate));
            }
        }
    }

    /** Whether the machines of the cells talk to the other members. */
    boolean talk() {
        return talks;
    }

    private List<NodeId> ids() {
        return config.members().members().stream()
                .filter(each -> !each.equals(config.node()))
                .toList();
    }

    /** Connections are taken from now on: the others are talked to. Not on the first cell's thread. */
    void begin(LoopThread loop, MemberCell first) {
        links.forEach(PeerLink::begin);
        loop.run(() -> {
            gate.begin();
            if (talks) {
                begun = true;
            }
        });
        first.look(this::turned);
    }

    /** A cell opens a link to another member. On the cell's thread. */
    void dial(MemberCell from, String member, long link) {
        dialers.computeIfAbsent(from, fresh -> new ConcurrentHashMap<>())
                .computeIfAbsent(
                        member,
                        fresh -> new PeerDialer(
                                NodeId.parse(member),
                                from.loop(),
                                from.codec(),
                                config.security().tls(),
                                names))
                .dial(link);
    }

    /** A cell has run a batch of turns. On the cell's thread. */
    void turned(MemberSessions sessions) {
        if (begun && sessions.shard() == 0) {
            sessions.peers()
                    .eachSession((other, session) -> watches.computeIfAbsent(
                                    other, fresh -> new PeerWatch(NodeId.parse(fresh), gate))
                            .look(session));
        }
    }

    /** Says goodbye. */
    void closing() {
        links.forEach(PeerLink::closing);
    }

    /** Ends all of it, except what the cells have. Not on the first cell's thread. */
    void end() {
        links.forEach(PeerLink::shut);
        names.close();
    }

    /** Ends what was started of a member that cannot be. */
    void abandon() {
        names.close();
    }
}
