// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.Algorithm;
import java.util.List;

/** Members that elect who leads, and that an operator adds and removes while they work. */
abstract class ElectingMembers extends AttachedMembers {
    private final long confirmedWithin;
    private final ListOperator operator;

    /** @param election the machine of each member that elects */
    ElectingMembers(
            SimWorld world,
            Algorithm algorithm,
            Authority[] authorities,
            LeaseUsers users,
            MachineFactory machines,
            Key election) {
        super(world, algorithm, authorities, users, machines);
        confirmedWithin = new Draws(world.options().seed(), 16).chance(300) ? 2 * Nanos.SECOND : 0;
        operator = new ListOperator(world, ids(), election);
    }

    @Override
    List<String> listed() {
        return operator.first();
    }

    @Override
    public void start(SimNode node) {
        super.start(node);
        if (node.isMember() && node.incarnation() == 1) {
            operator.started(node);
        }
    }

    @Override
    public void membersChange(SimNode member, Fault fault) {
        operator.tells(member, fault);
    }

    @Override
    long confirmedWithin() {
        return confirmedWithin;
    }

    @Override
    void forgot(int member) {}
}
