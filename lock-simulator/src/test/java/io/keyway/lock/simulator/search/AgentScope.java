// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator.search;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.LockRequest;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.MachineFactory;
import io.keyway.lock.peer.lease.LeaseAlgorithm;
import io.keyway.lock.peer.lease.LeaseKeys;
import io.keyway.lock.peer.service.LockKeys;
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
     * @param locks how many of the locks it wants
     * @param wishes which ones of a tree; none if names are flat, of which it wants whichever, EXCLUSIVE
     */
    record User(boolean steps, int locks, List<LockRequest> wishes) {}

    final String name;
    /** How many names there are; in a tree its levels. */
    final int locks;

    private final List<LockName> names = new ArrayList<>();
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
        for (int lock = 0; lock < locks; lock++) {
            names.add(LockName.of("l" + lock));
        }
    }

    /** A world of a tree of these names, from the root down. */
    AgentScope(String name, String... levels) {
        this.name = name;
        this.locks = levels.length;
        for (String level : levels) {
            names.add(LockName.of(level));
        }
    }

    LockName name(int lock) {
        return names.get(lock);
    }

    int lock(LockName of) {
        return names.indexOf(of);
    }

    Key key(int lock) {
        return LockKeys.lock(LeaseKeys.ALGORITHM, names.get(lock).toString());
    }

    /** Whether two may have one name in these modes: as the table of docs/algorithms/agents.md says it. */
    static boolean together(LockMode one, LockMode other) {
        return switch (one) {
            case SHARED -> other == LockMode.SHARED;
            case INTENT_SHARED -> other != LockMode.TREE_EXCLUSIVE;
            case INTENT_EXCLUSIVE -> other == LockMode.INTENT_SHARED || other == LockMode.INTENT_EXCLUSIVE;
            case TREE_SHARED -> other == LockMode.INTENT_SHARED || other == LockMode.TREE_SHARED;
            case TREE_SHARED_INTENT_EXCLUSIVE -> other == LockMode.INTENT_SHARED;
            default -> false;
        };
    }

    /** Whether two may be told that they have these locks of trees. */
    static boolean clash(LockRequest one, LockRequest other) {
        String above = one.name() + "/";
        String below = other.name() + "/";
        return (above.startsWith(below) || below.startsWith(above))
                && (one.mode() == LockMode.EXCLUSIVE || other.mode() == LockMode.EXCLUSIVE);
    }

    /** One more transaction, which is told of all its locks together. */
    AgentScope atOnce(int wanted) {
        users.add(new User(false, wanted, List.of()));
        return this;
    }

    /** One more transaction, which asks for its locks one after the other. */
    AgentScope inSteps(int wanted) {
        users.add(new User(true, wanted, List.of()));
        return this;
    }

    /** One more transaction, which asks for these locks of the tree one after the other, in any order. */
    AgentScope inSteps(LockRequest... wanted) {
        users.add(new User(true, wanted.length, List.of(wanted)));
        return this;
    }

    /** One more transaction, which is told of these locks of the tree together, and asks in any order. */
    AgentScope atOnce(LockRequest... wanted) {
        users.add(new User(false, wanted.length, List.of(wanted)));
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
