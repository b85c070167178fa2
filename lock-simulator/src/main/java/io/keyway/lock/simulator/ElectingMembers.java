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
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Members that elect who leads, and that an operator adds and removes while they work. */
abstract class ElectingMembers extends AttachedMembers {
    private final Key election;
    private final long confirmedWithin;
    private final ListOperator operator;
    /** The view of each member after its last step. */
    private final Map<Integer, ViewId> adopted = new HashMap<>();
    /** Those that have forgotten what they have promised, and have heard of no view since. */
    private final Set<Integer> forgetful = new HashSet<>();
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
        super.looked(node);
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

    /** Nothing becomes of a directory that members need which work by it. */
    @Override
    public void restarts(SimNode member, Fault fault) {
        forgetful.removeIf(slot -> {
            Machine election = election(world.member(slot));
            return election != null && !Elections.view(election).id().equals(ViewId.NONE);
        });
        if (fault.amount() < RESTORED || fault.amount() == SHORTER) {
            super.restarts(member, fault);
        } else if (mayForget(member.slot(), forgetful)) {
            super.restarts(member, fault);
            forgetful.add(member.slot());
        }
    }

    /**
     * Whether a member may forget what it has promised when those have forgotten that, and have not learned it since.
     * Where members forget again and again, at the worst of times, that is a minority: nobody would know the latest
     * tokens.
     */
    boolean mayForget(int slot, Set<Integer> forgetful) {
        return world.options().budget() != Options.Budget.AIMED
                || 2 * (forgetful.size() + (forgetful.contains(slot) ? 0 : 1))
                        < members().size();
    }

    @Override
    long confirmedWithin() {
        return confirmedWithin;
    }

    @Override
    void forgot(int member) {}
}
