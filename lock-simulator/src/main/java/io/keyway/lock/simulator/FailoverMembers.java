// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.Identifier;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lease.FailoverAlgorithm;
import io.keyway.lock.peer.lease.FailoverView;
import io.keyway.lock.peer.service.LockSettings;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;

/** Members that elect one which decides on all names, and clients that look for it everywhere. */
final class FailoverMembers extends ElectingMembers {
    /** The elections of each member. */
    private final List<MachineFactory> elections = new ArrayList<>();
    /** How often each client has dialled. */
    private final Map<Integer, Integer> dials = new HashMap<>();
    /** A certain member is to lead whenever it is there. */
    private final boolean ranked;

    FailoverMembers(
            SimWorld world, Authority[] authorities, LeaseUsers users, LockSettings settings, MachineFactory machines) {
        super(world, new FailoverAlgorithm(settings), authorities, users, machines, FailoverView.election());
        Draws draws = new Draws(world.options().seed(), 13);
        boolean priorities = draws.chance(200);
        ranked = new Draws(world.options().seed(), 27).chance(250);
        for (int member = 0; member < world.memberNodes(); member++) {
            int priority = priorities ? 1 + draws.below(Identifier.OFF) : Identifier.USUAL;
            elections.add(new FailoverAlgorithm(settings)
                    .electing(OptionalInt.empty(), OptionalInt.of(priority))
                    .memberMachines(all -> true));
        }
    }

    /** The product's machines. */
    static LeaseModel.Kit kit() {
        return kit(Map.of());
    }

    /** The product's, except for those machines. */
    static LeaseModel.Kit kit(Map<Key, Machine> others) {
        return new LeaseModel.Kit(
                (settings, owned) -> {
                    MachineFactory product = new FailoverAlgorithm(settings).memberMachines(owned);
                    return key -> {
                        Machine other = others.get(key);
                        return other == null ? product.create(key) : other.copy();
                    };
                },
                settings -> new FailoverAlgorithm(settings).clientMachines(),
                true,
                Set.of(),
                new FailoverAlgorithm().id());
    }

    @Override
    MachineFactory watched(int member, MachineFactory members) {
        return key -> {
            Machine machine = members.create(key);
            Machine product = elections.get(member).create(key);
            boolean isProduct = machine.getClass() == product.getClass(); // an unsafe variant has no priorities
            return isProduct && key.equals(FailoverView.election()) ? product : machine;
        };
    }

    /** One after the other, whoever answered last first. */
    @Override
    public SimNode dials(SimCell cell) {
        int count = dials.merge(cell.node().index(), 1, Integer::sum);
        return world.member((cell.node().index() + count) % world.memberNodes());
    }

    @Override
    int shards() {
        return ranked ? 6 : 1;
    }

    @Override
    public void leavesSeat(SimNode member) {
        if (lives(member) && !member.paused()) {
            member.input(new Input.Command(FailoverView.election(), new ElectionCall.HandOver()));
        }
    }

    /** Nobody is served any more by a member that another one has taken over from. */
    @Override
    public boolean stands(Grant earlier, Grant later) {
        return earlier.member() == later.member();
    }

    /**
     * If all members lose their files they begin anew, and tokens rise by the wall clock alone: more seconds go by than
     * leaders take over, but not in a world of some seconds. So one of the list is left that has its file.
     */
    @Override
    boolean mayForget(int slot, Set<Integer> forgetful) {
        boolean isLast =
                members().stream().map(ids()::indexOf).allMatch(each -> each == slot || forgetful.contains(each));
        return !isLast && super.mayForget(slot, forgetful);
    }

    /** V3: one member at the most lets clients in. */
    @Override
    public void looked(SimNode node) {
        super.looked(node);
        if (!node.isMember() || world.options().outOfSpec() || !serves(node)) {
            return;
        }
        for (int slot = 0; slot < world.memberNodes(); slot++) {
            SimNode other = world.member(slot);
            if (other != node && serves(other)) {
                throw new Violation("V3", node + " serves by " + seat(node) + ", and " + other + " by " + seat(other));
            }
        }
    }

    private static boolean serves(SimNode member) {
        return lives(member) && FailoverView.serves(machine(member), member.clock());
    }

    private static boolean lives(SimNode member) {
        return member.alive() && !member.cells().isEmpty();
    }

    private static ViewId seat(SimNode member) {
        return FailoverView.seat(machine(member));
    }

    private static Machine machine(SimNode member) {
        Machine machine = member.main().cell().machine(FailoverView.leadership());
        if (machine == null) {
            throw new IllegalStateException(member + " does not know whether it leads");
        }
        return machine;
    }

    @Override
    boolean isIdle(Cell member, Key key) {
        return true;
    }
}
