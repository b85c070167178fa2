// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Key;
import java.util.ArrayList;
import java.util.List;

/** One member as the oracles see it: its wire, its grants, and those oracles that judge it alone. */
final class Authority {
    private final SimWorld world;
    private final SimNode member;
    private final LeaseUsers users;
    private final Wire wire;
    private final ExpiryBounds bounds;
    private final GrantWatch watch;
    private final DeadClients dead;
    private int name;

    /** @param shared oracles of the whole world; the list may still grow */
    Authority(SimWorld world, SimNode member, LeaseUsers users, List<LeaseOracle> shared, long proofTimeout) {
        this.world = world;
        this.member = member;
        this.users = users;
        this.wire = new Wire(world, member);
        this.bounds = new ExpiryBounds(wire);
        FirstComeFirstServed order = new FirstComeFirstServed(wire, world.goals()::reached);
        List<LeaseOracle> all = new ArrayList<>(shared);
        if (!world.options().outOfSpec()) {
            all.add(bounds);
            if (!world.options().profile().attaches()) { // the order of those is that of tokens
                all.add(order);
            }
        }
        this.watch = new GrantWatch(world, member, all, order);
        this.dead = MemberRemains.oracle(world, member, wire, proofTimeout, this::orphan);
    }

    Wire wire() {
        return wire;
    }

    GrantWatch watch() {
        return watch;
    }

    /** A process of a client has ended. */
    void died(SimNode client) {
        dead.died(client.index(), client.incarnation());
    }

    /** The member had an event. */
    void looked() {
        if (!world.options().outOfSpec() && member.listening() != null) {
            bounds.looked();
            if (dead.looked()) {
                world.goals().reached(WorldGoal.LOOKED_FOR_THE_DEAD);
            }
        }
    }

    /** Looks at one name, each time at the next one. */
    private String orphan() {
        name = name + 1 < world.options().names() ? name + 1 : 0;
        Key key = users.key(name);
        return watch.orphan(key);
    }
}
