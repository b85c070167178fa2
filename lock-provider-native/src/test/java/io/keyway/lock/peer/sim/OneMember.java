// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.session.Horizon;
import io.keyway.lock.peer.session.MemberPromise;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SessionTarget;

/** One member in one cell, and each client with one cell for it. */
final class OneMember implements Topology {
    private final SimWorld world;
    private final LeaseCells cells;
    private final LeaseUsers users;
    private final boolean keepsHorizon;
    private final long ahead;

    OneMember(SimWorld world, LeaseCells cells, LeaseUsers users) {
        this.world = world;
        this.cells = cells;
        this.users = users;
        Draws draws = new Draws(world.options().seed(), 10);
        this.keepsHorizon = cells.quarantine() && draws.chance(400);
        this.ahead = draws.logarithmic(10 * Nanos.MILLI, world.options().maxTtl());
    }

    @Override
    public void start(SimNode node) {
        if (node.isMember()) {
            node.disk().start(0, world.options().maxTtl());
            Cell cell = cells.member(node, Membership.single("m"), name -> true, until(node), horizon(node));
            node.open(0, cell, null);
        } else {
            node.open(0, cells.client(node, 0, SessionTarget.ONLY_MEMBER), world.member(0));
        }
    }

    /**
     * When a member that starts may grant: at the horizon that it forced, if it keeps one; otherwise when no lease that
     * it forgot can be left.
     */
    private long until(SimNode node) {
        if (!cells.quarantine()) {
            return node.clock();
        }
        if (keepsHorizon && forced(node) - node.clock() > 0) {
            world.goals().reached(WorldGoal.STARTED_BY_HORIZON);
        }
        return keepsHorizon ? Math.max(node.clock(), forced(node)) : node.quarantineUntil();
    }

    private Horizon horizon(SimNode node) {
        return keepsHorizon ? new Horizon(forced(node), ahead) : Horizon.NONE;
    }

    private static long forced(SimNode node) {
        MemberPromise record = node.disk().record();
        return record != null ? record.horizon() : node.clock();
    }

    @Override
    public long maxTtl(SimNode client) {
        return world.options().maxTtl();
    }

    @Override
    public void post(SimNode client, Input.Command command) {
        client.main().input(command);
    }

    @Override
    public void heard(SimCell cell, Notice notice) {
        if (notice instanceof LockNotice.Misdirected) {
            throw new Violation("routing", cell + " was told that another member decides, and there is none");
        }
        users.notice(cell.node(), cell, notice);
    }

    @Override
    public void afterwards(SimNode client, Runnable task) {
        task.run();
    }

    @Override
    public SimNode dials(SimCell cell) {
        return world.member(0);
    }

    @Override
    public void looked(SimNode node) {}

    @Override
    public void wake(SimNode node, long number, Object what) {}

    @Override
    public void stalled(SimNode member, long nanos) {}

    @Override
    public void restarts(SimNode member, Fault fault) {}

    @Override
    public void listChange(SimNode member, Fault fault) {}

    /** Members and clients of one machine sleep together. */
    @Override
    public boolean wakeful() {
        return false;
    }

    @Override
    public void heal() {}

    @Override
    public boolean belongs(SimNode node) {
        return true;
    }
}
