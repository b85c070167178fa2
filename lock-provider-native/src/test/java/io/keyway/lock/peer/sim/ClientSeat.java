// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.cluster.NodeId;
import io.keyway.lock.peer.kernel.ClientView.Unreachable;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.session.Aim;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.Greeting;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** One life of a client of a cluster: it learns from welcomes who the members are, whatever its URL says, and has a cell for each member that it uses. */
final class ClientSeat {
    /** The first number of cells that look for the list. */
    static final int ANY = 32;

    private static final int CELLS = 64;
    private static final long LOOK_AGAIN = 5 * Nanos.SECOND;

    private final SimWorld world;
    private final SimNode node;
    private final LeaseCells cells;
    private final Cluster cluster;
    private final List<SimNode> url;
    private final @Nullable Greeting[] greetings = new Greeting[CELLS];
    private final @Nullable Unreachable[] troubles = new Unreachable[CELLS];
    private @Nullable MemberList list;
    private @Nullable SimCell finder;
    private long lookedAt;
    private int searches;
    private int dials;

    /** @param url the members that its URL names: some of those that there are, in any order */
    ClientSeat(SimWorld world, SimNode node, LeaseCells cells, Cluster cluster, List<SimNode> url) {
        this.world = world;
        this.node = node;
        this.cells = cells;
        this.cluster = cluster;
        this.url = url;
    }

    /** Looks for somebody who knows the members. */
    void look() {
        int number = ANY + searches++ % (CELLS - ANY);
        if (finder == null && node.find(number) == null) {
            lookedAt = node.clock();
            finder = node.open(number, cells.client(node, number, Aim.ANY_MEMBER), null);
            finder.flush();
        }
    }

    /** The next address to be tried: those of the URL, and those of the list. */
    SimNode next() {
        List<SimNode> all = new ArrayList<>(url);
        if (list != null) {
            for (NodeId id : list.members()) {
                if (!all.contains(cluster.node(id))) {
                    all.add(cluster.node(id));
                }
            }
        }
        return all.get(dials++ % all.size());
    }

    @Nullable
    SimCell cell(Key key) {
        MemberList known = list;
        if (known == null) {
            return null;
        }
        NodeId owner = known.owner(key.id());
        SimNode member = cluster.node(owner);
        SimCell cell = node.find(member.slot());
        return cell != null
                ? cell
                : node.open(member.slot(), cells.client(node, member.slot(), Aim.at(owner.toString(), 0)), member);
    }

    /** Looks what members said of themselves. */
    @SuppressWarnings("ReferenceEquality") // each word of a member counts once, whatever it says
    void looked() {
        List<SimCell> all = node.cells();
        for (int i = 0; i < all.size(); i++) {
            SimCell cell = all.get(i);
            ClientSession session = (ClientSession) cell.cell().sessions();
            Greeting greeting = session.greeting();
            if (greeting != null && greeting != greetings[cell.number()]) {
                greetings[cell.number()] = greeting;
                learned(greeting);
                if (cell == finder) {
                    finder = null;
                    cell.input(new Input.Closing());
                    cell.flush();
                }
            }
            Unreachable trouble = session.trouble();
            if (trouble != null && trouble != troubles[cell.number()]) {
                troubles[cell.number()] = trouble;
                troubled(cell);
            }
        }
    }

    /** Whoever does not answer may have left, and all others may have moved while this client was not looking. */
    private void troubled(SimCell cell) {
        if (cell.number() < ANY && node.clock() - lookedAt > LOOK_AGAIN && finder == null) {
            world.goals().reached(ClusterGoal.LOOKED_FOR_THE_LIST);
            look();
        }
    }

    private void learned(Greeting greeting) {
        MemberList said = MemberList.parse(String.join(",", greeting.members()));
        if (!said.equals(list)) {
            if (list != null) {
                world.goals().reached(ClusterGoal.LIST_LEARNED_ANEW);
            }
            list = said;
            world.wake(node, 1, 0, this);
        }
    }

    /** Whoever sends a request away knows another list, whatever another member said last. */
    void misdirected(SimCell cell) {
        Greeting greeting = ((ClientSession) cell.cell().sessions()).greeting();
        if (greeting != null && list != null && list.members().contains(NodeId.parse(greeting.node()))) {
            learned(greeting);
        }
    }

    /** The list has changed: who waits at a member that is none any more has to ask elsewhere, and who waited for a list asks. */
    void wake(LeaseUsers users) {
        MemberList known = list;
        List<SimCell> all = node.cells();
        for (int i = 0; known != null && i < all.size(); i++) {
            SimNode member = all.get(i).target();
            if (member != null && !known.members().contains(Cluster.id(member))) {
                all.get(i).input(new Input.Dismissed());
            }
        }
        users.rerouted(node);
    }
}
