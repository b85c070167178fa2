// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.service.Algorithm;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Members that elect who leads, and that an operator adds and removes while they work. */
abstract class ElectingMembers extends AttachedMembers {
    private final Key election;
    private final long confirmedWithin;
    private final ListOperator operator;
    /** The view of each member after its last step. */
    private final Map<Integer, ViewId> adopted = new HashMap<>();
    /** The latest view that any member has known. */
    private View latest = View.NONE;

    /** @param election the machine of each member that elects */
    ElectingMembers(
            SimWorld world,
            Algorithm algorithm,
            Authority[] authorities,
            LeaseUsers users,
            MachineFactory machines,
            Key election) {
        super(world, algorithm, authorities, users, machines);
        this.election = election;
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

    /** What a member has of elections; null if it does not run. */
    final @Nullable Machine election(SimNode member) {
        return machine(member, election);
    }

    /** That machine of a member; null if it does not run. */
    static @Nullable Machine machine(SimNode member, Key key) {
        return member.alive() && !member.cells().isEmpty()
                ? member.main().cell().machine(key)
                : null;
    }

    /** The members by the latest view. */
    final List<String> members() {
        return latest.members().isEmpty() ? listed() : latest.members();
    }

    @Override
    public void looked(SimNode node) {
        Machine known = node.isMember() ? election(node) : null;
        if (known != null) {
            View view = Elections.view(known);
            latest = view.id().compareTo(latest.id()) > 0 ? view : latest;
            adopted.put(node.slot(), view.id());
        }
    }

    @Override
    public boolean adoptsView(SimNode member) {
        Machine known = election(member);
        return known != null && !Elections.view(known).id().equals(adopted.get(member.slot()));
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
