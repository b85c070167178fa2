// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.cluster.MemberList;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/** Several members that share the names, an operator who changes their list, and clients that learn it. */
final class Cluster implements Topology {
    private final SimWorld world;
    private final LeaseCells cells;
    private final LeaseUsers users;
    private final SimMember[] members;
    private final @Nullable ClientSeat[] seats;
    private final long always;
    private MemberList newest;
    private long newestTtl;
    private long ended;

    Cluster(SimWorld world, LeaseCells cells, LeaseUsers users) {
        this.world = world;
        this.cells = cells;
        this.users = users;
        Draws draws = new Draws(world.options().seed(), 11);
        boolean init = draws.chance(700);
        int first = world.memberNodes() - world.options().spares();
        this.newestTtl = world.options().maxTtl();
        this.newest = list((1 << first) - 1);
        this.always = world.lists().reduce((1 << first) - 1, (all, list) -> all & list);
        this.members = new SimMember[world.memberNodes()];
        for (int slot = 0; slot < members.length; slot++) {
            SimNode node = world.member(slot);
            boolean listed = slot < first;
            members[slot] = new SimMember(world, node, cells, this, newest, listed, init && listed);
        }
        this.seats = new ClientSeat[world.clients() + 1];
    }

    boolean saysFresh(int slot) {
        return members[slot].fresh();
    }

    /** The members of those slots. */
    private MemberList list(long mask) {
        List<NodeId> ids = new ArrayList<>();
        for (int slot = 0; slot < world.memberNodes(); slot++) {
            if ((mask >> slot & 1) != 0) {
                ids.add(id(world.member(slot)));
            }
        }
        return new MemberList(ids);
    }

    static NodeId id(SimNode member) {
        return new NodeId(String.valueOf((char) ('a' + member.slot())), 1);
    }

    static List<String> texts(MemberList list) {
        return list.members().stream().map(NodeId::toString).toList();
    }

    SimNode node(NodeId id) {
        return world.member(id.host().charAt(0) - 'a');
    }

    /**
     * What members take their epochs from when they know no better: seconds, and more than the epochs of members that
     * have ended for good.
     */
    long wallSeconds() {
        return Math.max(1 + world.now() / Nanos.SECOND, ended + 1);
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            members[node.slot()].start();
            return;
        }
        List<SimNode> url = new ArrayList<>();
        newest.members().forEach(id -> url.add(node(id)));
        Draws draws = new Draws(world.options().seed(), 2000L * node.incarnation() + node.index());
        Collections.shuffle(url, new Random(draws.next()));
        List<SimNode> named = new ArrayList<>(url.subList(0, 1 + draws.below(url.size())));
        if (named.stream().noneMatch(member -> stays(member.slot()))) {
            url.stream().filter(member -> stays(member.slot())).findFirst().ifPresent(named::add);
        }
        ClientSeat seat = new ClientSeat(world, node, cells, this, users, named, newestTtl);
        seats[node.index()] = seat;
        seat.begin();
    }

    /** A member of every list that there will be: a URL that names none of them is of no use. */
    private boolean stays(int slot) {
        return (always >> slot & 1) != 0;
    }

    private ClientSeat seat(SimNode client) {
        ClientSeat seat = seats[client.index()];
        if (seat == null) {
            throw new IllegalStateException(client + " never started");
        }
        return seat;
    }

    @Override
    public long maxTtl(SimNode client) {
        return seat(client).maxTtl();
    }

    @Override
    public void post(SimNode client, Input.Command command) {
        seat(client).post(command);
    }

    @Override
    public void heard(SimCell cell, Notice notice) {
        seat(cell.node()).heard(cell, notice);
    }

    @Override
    public void afterwards(SimNode client, Runnable task) {
        seat(client).afterwards(task);
    }

    @Override
    public SimNode dials(SimCell cell) {
        return seat(cell.node()).next();
    }

    @Override
    public boolean wakeful() {
        return !cells.kit().takes(Shortcut.SLEEPS_UNNOTICED);
    }

    @Override
    public void looked(SimNode node) {
        if (node.isMember()) {
            members[node.slot()].looked();
        } else {
            seat(node).looked();
        }
    }

    @Override
    public void wake(SimNode node, long number, Object what) {
        if (what instanceof SimMember member) {
            member.wake((int) number);
        } else if (what instanceof ClientSeat seat) {
            seat.step();
        }
    }

    @Override
    public void stalled(SimNode member, long nanos) {
        members[member.slot()].stalled(nanos);
    }

    @Override
    public void restarts(SimNode node, Fault fault) {
        if (members[node.slot()].shortens()) {
            return; // a file that is lost while leases become shorter: the operator has to wait for the longer ones
        }
        switch ((int) fault.amount()) {
            case 2 -> {
                world.goals().reached(ClusterGoal.STARTED_WITH_AN_OLD_FILE);
                node.disk().restore(fault.nanos());
            }
            case 3 -> {
                world.goals().reached(ClusterGoal.STARTED_WITHOUT_FILE);
                node.disk().wipe();
            }
            case 4 -> {
                world.goals().reached(ClusterGoal.INIT_AGAIN);
                node.disk().wipe();
                members[node.slot()].initAgain();
            }
            default -> {}
        }
    }

    @Override
    public boolean belongs(SimNode node) {
        return !node.isMember() || members[node.slot()].listed();
    }

    @Override
    public void listChange(SimNode node, Fault fault) {
        SimMember member = members[node.slot()];
        MemberList next = list(fault.list());
        newestTtl = fault.maxTtl(world.options().maxTtl());
        if (newestTtl < member.runningTtl()) {
            world.goals().reached(ClusterGoal.SHORTER_LEASES);
        }
        if (!member.listed() && next.members().contains(id(node))) {
            world.goals().reached(ClusterGoal.MEMBER_JOINED);
        }
        if (!next.equals(newest) && next.equals(member.first()) && !member.isOpen()) {
            world.goals().reached(ClusterGoal.LIST_ROLLED_BACK);
        }
        newest = next;
        if (next.members().contains(id(node))) {
            member.give(next, newestTtl);
        } else {
            endForGood(id(node).toString());
        }
    }

    /** The operator's word: that member has ended, and will not come back with what it knew. */
    void endForGood(String id) {
        SimNode node = node(NodeId.parse(id));
        SimMember member = members[node.slot()];
        if (member.listed()) {
            world.goals().reached(ClusterGoal.MEMBER_REMOVED);
        }
        world.faults().end(node);
        ended = Math.max(ended, node.disk().startEpoch());
        member.remove();
    }

    /** The operator brings all members of the newest list up with it, and nobody else. */
    @Override
    public void heal() {
        for (SimMember member : members) {
            if (!newest.members().contains(id(member.node()))) {
                endForGood(id(member.node()).toString());
            } else if (!member.listed() || !member.running().equals(newest) || member.runningTtl() != newestTtl) {
                world.faults().end(member.node());
                member.give(newest, newestTtl);
            }
        }
        for (ClientSeat seat : seats) {
            if (seat != null && seat.maxTtl() != newestTtl) {
                world.faults().end(seat.node());
            }
        }
    }
}
