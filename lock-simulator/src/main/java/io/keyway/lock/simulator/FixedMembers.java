// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.service.LockNotice;
import org.jspecify.annotations.Nullable;

/** Members that no operator changes, and clients that have one cell each: nothing is to be routed. */
abstract class FixedMembers implements Topology {
    final SimWorld world;
    private final LeaseUsers users;

    FixedMembers(SimWorld world, LeaseUsers users) {
        this.world = world;
        this.users = users;
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
        users.answers().notice(cell.node(), cell, notice);
    }

    @Override
    public void afterwards(SimNode client, Runnable task) {
        task.run();
    }

    @Override
    public void looked(SimNode node) {}

    @Override
    public void wake(SimNode node, long number, @Nullable Object what) {}

    @Override
    public void stalled(SimNode member, long nanos) {}

    @Override
    public void restarts(SimNode member, Fault fault) {}

    @Override
    public void listChange(SimNode member, Fault fault) {}

    @Override
    public void heal() {}

    @Override
    public boolean belongs(SimNode node) {
        return true;
    }
}
