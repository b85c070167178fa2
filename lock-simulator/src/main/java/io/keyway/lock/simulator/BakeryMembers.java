// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.bakery.BakeryAlgorithm;
import io.keyway.lock.peer.bakery.BakeryView;
import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.election.Identifier;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MachineFactory;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/** Members of which one, three or five are the leaders of a bakery, some perhaps sooner than others. */
final class BakeryMembers extends ElectingMembers {
    private static final BakeryAlgorithm ALGORITHM = new BakeryAlgorithm();
    /** So often a client dials the member that it had, where members come and go. */
    private static final int PATIENCE = 20;

    /** The elections of each member. */
    private final List<MachineFactory> elections = new ArrayList<>();

    /** By client, the member that it asks. */
    private final Map<Integer, Integer> attached = new HashMap<>();
    /** By client, how often it has dialled that one since it was served. */
    private final Map<Integer, Integer> dials = new HashMap<>();

    BakeryMembers(SimWorld world, Authority[] authorities, LeaseUsers users, MachineFactory machines) {
        super(world, ALGORITHM, authorities, users, machines, BakeryView.election());
        Draws draws = new Draws(world.options().seed(), 13);
        int leaders = draws.chance(700) ? 3 : draws.chance(500) ? 1 : 5;
        boolean priorities = draws.chance(200);
        for (int member = 0; member < world.memberNodes(); member++) {
            int priority = priorities ? 1 + draws.below(Identifier.OFF) : Identifier.USUAL;
            elections.add(ALGORITHM
                    .electing(OptionalInt.of(leaders), OptionalInt.of(priority))
                    .memberMachines(all -> true));
        }
    }

    /** The product's machines. */
    static LeaseModel.Kit kit() {
        return kit(ALGORITHM.memberMachines(all -> true));
    }

    /** The product's, but for those of the members. */
    static LeaseModel.Kit kit(MachineFactory members) {
        return kit(ALGORITHM, members);
    }

    /** The same one as long as that is a member; where members come and go, another one when it does not answer. */
    @Override
    public SimNode dials(SimCell cell) {
        if (world.options().spares() == 0) {
            return super.dials(cell);
        }
        int client = cell.node().index();
        List<String> members = members();
        int slot = attached.getOrDefault(client, client % ids().size());
        boolean stays = members.contains(ids().get(slot)) && dials.merge(client, 1, Integer::sum) < PATIENCE;
        if (!stays) {
            dials.put(client, 0);
            do {
                slot = (slot + 1) % ids().size();
            } while (!members.contains(ids().get(slot)));
        }
        attached.put(client, slot);
        return world.member(slot);
    }

    /**
     * What its home has taken back belongs to whom a majority lets in. A home that stands still for about a lease takes
     * back when it runs again, before it says anything.
     */
    @Override
    public boolean stands(Grant earlier, Grant later) {
        if (earlier.member() == later.member()) {
            return true;
        }
        SimNode member = world.node(earlier.member());
        Machine home = machine(member, BakeryView.home());
        boolean holds = home == null || BakeryView.holds(home, earlier.name(), earlier.token());
        return holds && member.standsStill() < world.options().maxTtl() / 8 * 7;
    }

    @Override
    MachineFactory watched(int member, MachineFactory members) {
        return key -> (key.equals(BakeryView.election()) ? elections.get(member) : members).create(key);
    }

    /** V2, V3: while a home counts by a view, nobody lets anybody in who has got a seat by a later one. */
    @Override
    public void looked(SimNode node) {
        super.looked(node);
        if (!node.isMember() || world.options().outOfSpec()) {
            return;
        }
        for (int home = 0; home < world.memberNodes(); home++) {
            for (int leader = 0; leader < world.memberNodes(); leader++) {
                if (home == node.slot() || leader == node.slot()) {
                    judge(world.member(home), world.member(leader));
                }
            }
        }
    }

    private static void judge(SimNode home, SimNode leader) {
        Machine election = machine(home, BakeryView.election());
        Machine other = machine(leader, BakeryView.leader());
        if (election == null || other == null || !Elections.leased(election, home.clock())) {
            return;
        }
        ViewId view = Elections.view(election).id();
        ViewId seat = BakeryView.speaksSince(other);
        if (seat.compareTo(view) > 0) {
            throw new Violation("V3", home + " counts by " + view + ", and " + leader + " speaks by " + seat);
        }
    }

    @Override
    boolean isIdle(Cell member, Key key) {
        Machine machine = member.machine(key);
        return machine == null || BakeryView.idle(machine);
    }
}
