// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.simulator.AgentDefect;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A small world of transactions: one member, and clients with an agent each, who want some of its locks in whatever
 * order. Time stands still but for what an agent puts off; nothing is lost.
 */
final class AgentScope {
    /**
     * One transaction.
     *
     * @param steps whether it is told of each lock before it asks for the next; if not, of all together
     * @param locks how many of the locks it wants, whichever; or those from the first on if {@code inOrder}
     */
    record User(boolean steps, int locks, LockMode mode) {}

    final String name;
    final int locks;
    final List<User> users = new ArrayList<>();
    /** How many frames stand on a link in each direction at the most. */
    int frames = 8;

    int restarts;
    int cancels;
    int resends;
    /** Whether of clients that have something to hear one alone goes on: what others do is as well done later. */
    boolean reduced;

    @Nullable
    AgentDefect defect;

    final LeaseAlgorithm algorithm = new LeaseAlgorithm(LockSettings.defaults().withoutCache());
    MachineFactory memberMachines = algorithm.memberMachines(all -> true);

    AgentScope(String name, int locks) {
        this.name = name;
        this.locks = locks;
    }

    /** One more transaction, which is told of all its locks together. */
    AgentScope atOnce(int wanted) {
        users.add(new User(false, wanted, LockMode.EXCLUSIVE));
        return this;
    }

    /** One more transaction, which asks for its locks one after the other. */
    AgentScope inSteps(int wanted) {
        users.add(new User(true, wanted, LockMode.EXCLUSIVE));
        return this;
    }

    /** So often the member is killed and starts anew. */
    AgentScope restarts(int count) {
        restarts = count;
        return this;
    }

    /** So many users give all up while they wait. */
    AgentScope cancels(int count) {
        cancels = count;
        return this;
    }

    /** So often an agent searches again while something is on its way. */
    AgentScope resends(int count) {
        resends = count;
        return this;
    }

    /** Fewer orders of what can happen: see {@link AgentWorld#steps}. */
    AgentScope reduced() {
        reduced = true;
        return this;
    }

    /** That is broken in each agent. */
    AgentScope with(AgentDefect broken) {
        defect = broken;
        return this;
    }
}
