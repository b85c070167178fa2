// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.cluster.Router;
import io.keyway.lock.peer.cluster.Routes;
import io.keyway.lock.peer.cluster.ShardId;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.ClientSession;
import io.keyway.lock.peer.session.SessionTarget;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One life of a client of a cluster: the product's {@link Router}, with cells of the simulator for lines. What is given
 * to its thread waits in one queue, as it does before an event loop.
 */
final class ClientSeat implements Router.World<ClientSeat.SimLine> {
    /** The first number of cells that look for the list. */
    static final int ANY = 32;

    private static final long SLOWEST_STEP = 50 * Nanos.MICRO;

    /** A cell, as the router sees it. */
    static final class SimLine implements Router.Connection {
        private final ClientSeat seat;
        private final SimCell cell;

        private String server;
        private @Nullable NodeId node;
        /** The number of the cell through which the client talked to that member before this one found it. */
        private int former;

        SimLine(ClientSeat seat, SimCell cell, String server, @Nullable NodeId node) {
            this.server = server;
            this.node = node;
            this.seat = seat;
            this.cell = cell;
        }

        @Override
        public void post(Input input) {
            seat.run(() -> seat.input(cell, input));
        }

        @Override
        public String server() {
            return server;
        }

        @Override
        public @Nullable NodeId node() {
            return node;
        }

        @Override
        public void settled(NodeId member) {
            node = member;
            server = member.toString();
            former = seat.settled(cell, member);
        }
    }

    private final SimWorld world;
    private final SimNode node;
    private final LeaseCells cells;
    private final Cluster cluster;
    private final LeaseUsers users;
    private final List<SimNode> url;
    private final long maxTtl;
    private final Draws draws;
    private final Router<SimLine> router;
    private final Map<Integer, SimLine> lines = new HashMap<>();
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private int searches;
    private int dials;
    private @Nullable Routes known;

    /**
     * @param url the members that its URL names: some of those that there are, in any order
     * @param maxTtl what its URL says
     */
    ClientSeat(
            SimWorld world,
            SimNode node,
            LeaseCells cells,
            Cluster cluster,
            LeaseUsers users,
            List<SimNode> url,
            long maxTtl) {
        this.world = world;
        this.node = node;
        this.cells = cells;
        this.cluster = cluster;
        this.users = users;
        this.url = url;
        this.maxTtl = maxTtl;
        this.draws = new Draws(world.options().seed(), 3000L * node.incarnation() + node.index());
        this.router = new Router<>(url.size(), Key::id, this);
    }

    SimNode node() {
        return node;
    }

    long maxTtl() {
        return maxTtl;
    }

    /** Looks for somebody who knows the members. */
    void begin() {
        router.find();
    }

    void post(Input.Command command) {
        Routes latest = known;
        if (latest != null
                && command.call() instanceof LockCall.Withdraw
                && cells.kit().takes(Shortcut.WITHDRAWS_BY_THE_LATEST_LIST)) {
            SimNode member = cluster.node(latest.authority(command.key().id()).node());
            SimLine line = lines.get(node.cellTo(member, node.incarnation()));
            if (line != null) {
                line.post(command);
            }
        } else {
            router.post(command);
        }
    }

    /**
     * Runs the task behind all that was posted before and what came of that: a word of a user goes through two steps at
     * most.
     */
    void afterwards(Runnable task) {
        run(() -> run(task));
    }

    void heard(SimCell cell, Notice notice) {
        if (notice instanceof LockNotice.Misdirected && cell.lastInput() instanceof Input.Dismissed) {
            cell.reached(ClusterGoal.REQUEST_MOVED);
        }
        router.heard(line(cell), notice);
    }

    private SimLine line(SimCell cell) {
        SimLine line = lines.get(cell.number());
        if (line == null) {
            throw new IllegalStateException(cell + " is no line");
        }
        return line;
    }

    /** The next address to be tried by a cell that looks for the list. */
    SimNode next() {
        return url.get(dials++ % url.size());
    }

    /** Looks what members said of themselves. */
    void looked() {
        List<SimCell> all = node.cells();
        for (int i = 0; i < all.size(); i++) {
            ClientSession session = (ClientSession) all.get(i).cell().sessions();
            router.turned(line(all.get(i)), session.lastWelcome(), session.trouble());
        }
    }

    /** The next of what was given to this thread. */
    void step() {
        Runnable task = tasks.poll();
        if (task != null) {
            task.run();
        }
    }

    private void input(SimCell cell, Input input) {
        if (world.tracer() != null && input instanceof Input.Command command) {
            world.trace(node, cell + ": " + command.call());
        }
        cell.input(input);
    }

    /** The number of the cell through which the client talked to that member so far. */
    private int settled(SimCell cell, NodeId member) {
        SimNode target = cluster.node(member);
        cell.settled(target);
        int former = node.cellTo(target, node.incarnation());
        node.talksTo(target, cell.number());
        return former;
    }

    // What the router needs

    @Override
    public long now() {
        return node.clock();
    }

    @Override
    public void run(Runnable task) {
        tasks.add(task);
        world.wake(node, 1 + draws.below(SLOWEST_STEP), 0, this);
    }

    @Override
    public void after(long nanos, Runnable task) {
        world.wake(node, nanos, 0, task);
    }

    @Override
    public SimLine connection(ShardId authority) {
        SimNode member = cluster.node(authority.node());
        SessionTarget aim = SessionTarget.at(authority.node().toString(), authority.shard());
        SimCell cell = node.open(member.slot(), cells.client(node, maxTtl, member.slot(), aim), member);
        return opened(cell, authority.node().toString(), authority.node());
    }

    @Override
    public SimLine finder() {
        if (searches > 0) {
            world.goals().reached(ClusterGoal.LOOKED_FOR_THE_LIST);
        }
        int number = ANY + searches++;
        SimLine finder = opened(
                node.open(number, cells.client(node, maxTtl, number, SessionTarget.ANY_MEMBER), null), "cluster", null);
        finder.cell.flush();
        return finder;
    }

    private SimLine opened(SimCell cell, String server, @Nullable NodeId member) {
        SimLine line = new SimLine(this, cell, server, member);
        lines.put(cell.number(), line);
        return line;
    }

    @Override
    public void spare(SimLine line) {
        line.cell.spare();
        node.talksTo(Objects.requireNonNull(line.cell.target()), line.former);
        line.post(new Input.Closing());
    }

    @Override
    public void learned(Routes routes) {
        if (known != null) {
            world.goals().reached(ClusterGoal.LIST_LEARNED_ANEW);
        }
        known = routes;
    }

    @Override
    public void nonsense(SimLine line, String why) {
        throw new Violation("routing", line.server() + " describes a cluster that is impossible: " + why);
    }

    @Override
    public void tell(@Nullable SimLine from, Notice notice) {
        users.answers().notice(node, from == null ? null : from.cell, notice);
    }
}
