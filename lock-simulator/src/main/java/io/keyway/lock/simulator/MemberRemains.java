// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.MemberSessions;
import io.keyway.lock.simulator.Options.Profile;
import java.util.function.Supplier;

/** What the sessions of a simulated member keep of processes that ended. */
final class MemberRemains implements DeadClients.Authority {
    private final SimWorld world;
    private final SimNode member;
    private final Wire wire;
    private final Supplier<String> orphan;

    private MemberRemains(SimWorld world, SimNode member, Wire wire, Supplier<String> orphan) {
        this.world = world;
        this.member = member;
        this.wire = wire;
        this.orphan = orphan;
    }

    /**
     * The oracle of a world: silent sessions live for the largest ttl, and a number of a link as long as a proof may
     * take. A client that has waited for its welcome at the next leader has half of that ttl to say something.
     */
    static DeadClients oracle(SimWorld world, SimNode member, Wire wire, long proofTimeout, Supplier<String> orphan) {
        long most = world.options().maxTtl();
        long waits = world.options().profile() == Profile.FAILOVER ? most / 2 : 0;
        long within = most + waits + wire.lateness();
        return new DeadClients(
                new MemberRemains(world, member, wire, orphan), within, within + proofTimeout + wire.lateness());
    }

    private MemberSessions sessions() {
        return (MemberSessions) member.cell().sessions();
    }

    @Override
    public long silence(int client, int life) {
        return wire.clock() - wire.arrived(client, life);
    }

    @Override
    public boolean hasSession(int client, int life) {
        return sessions().hasSession(incarnation(client, life));
    }

    @Override
    public boolean remembers(int client, int life) {
        return sessions().remembers(incarnation(client, life));
    }

    private Incarnation incarnation(int client, int life) {
        return Sessions.incarnation(client, life, world.node(client).cellTo(member, life));
    }

    @Override
    public String orphan() {
        return orphan.get();
    }
}
