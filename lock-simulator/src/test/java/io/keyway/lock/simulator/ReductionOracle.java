// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Probe;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * R10 of locks over nodes, by a full reduction of what truly stands. Whoever can be granted as many parts of each of
 * its locks as its rule says, of whatever nodes, is taken out with all that it has; again, until nobody can; who is
 * left is in a deadlock. <i>Necessary</i>: it counts who gives way in a circle of which somebody could have gone on by
 * another node. <i>Complete</i>: while nothing is broken, nobody is left for longer than searches take.
 *
 * <p>It knows no searches and no spares: it takes the parts that all have and have asked for, and the queues.
 */
final class ReductionOracle {
    /** Who was left by a reduction, from then on. */
    private record Left(long from, Set<Probe.Agent> agents) {}

    private final AgentModel model;
    private final CircleOracle circles;
    private final Deque<Left> past = new ArrayDeque<>();
    /** Since when it surely is in a deadlock. */
    private final Map<AgentUser, Long> since = new HashMap<>();

    private int needless;
    private long longest;

    ReductionOracle(AgentModel model, CircleOracle circles) {
        this.model = model;
        this.circles = circles;
        past.add(new Left(0, Set.of()));
    }

    /** How many gave way in a circle of which one could have gone on. */
    int needless() {
        return needless;
    }

    /** For how many nanoseconds somebody was in a deadlock at the most, while nothing was broken. */
    long longest() {
        return longest;
    }

    /** Something may have changed. */
    void look() {
        long now = model.world.now();
        Set<Probe.Agent> left = new HashSet<>();
        left(false).forEach(user -> left.add(user.self));
        if (!left.equals(past.getLast().agents())) {
            past.addLast(new Left(now, left));
        }
        Set<AgentUser> certain = left(true);
        since.keySet().retainAll(certain);
        certain.forEach(user -> since.putIfAbsent(user, now));
    }

    /** Somebody gives way, or has lost a grant: of whoever is left now it is not known any more since when. */
    void begins() {
        since.replaceAll((user, begun) -> model.world.now());
    }

    /** After each event. */
    void judge(long healed, long limit) {
        long now = model.world.now();
        for (Map.Entry<AgentUser, Long> each : since.entrySet()) {
            long stands = now - Math.max(healed, each.getValue());
            longest = Math.max(longest, stands);
            if (stands > limit) {
                throw new Violation(
                        "R10",
                        "complete: " + each.getKey() + " is in a deadlock for " + stands + " ns; " + circles.shown());
            }
        }
    }

    /** The initiator gives way in that circle, by a search that began then; nothing has been broken since. */
    void said(Probe probe, long begun) {
        Set<Probe.Agent> circle = new HashSet<>();
        probe.path().forEach(edge -> circle.add(edge.waiter()));
        boolean ended = false;
        for (Iterator<Left> each = past.descendingIterator(); each.hasNext() && !ended; ) {
            Left left = each.next();
            if (left.agents().containsAll(circle)) {
                return;
            }
            ended = left.from() <= begun;
        }
        needless++;
    }

    /**
     * Whom the reduction leaves.
     *
     * @param certain whether only what surely stands is in the way; if not, also what may
     */
    private Set<AgentUser> left(boolean certain) {
        Map<LockName, List<Long>> queues = new HashMap<>();
        Set<AgentUser> left = new HashSet<>();
        for (AgentUser user : model.users()) {
            if (user.waits()) {
                left.add(user);
            }
        }
        while (left.removeIf(user -> canGoOn(user, left, certain, queues))) {
            // again, by what these had
        }
        return left;
    }

    private boolean canGoOn(AgentUser user, Set<AgentUser> left, boolean certain, Map<LockName, List<Long>> queues) {
        NodeWork work = user.nodes;
        if (work == null) {
            return false;
        }
        for (LockName lock : work.wanted()) {
            int has = 0;
            for (LockName part : work.parts(lock)) {
                boolean can =
                        user.held.containsKey(part) || !isBlocked(user, part, work.mode(lock), left, certain, queues);
                has += can ? 1 : 0;
            }
            if (has < model.set(lock).needed()) {
                return false;
            }
        }
        return true;
    }

    private boolean isBlocked(
            AgentUser user,
            LockName part,
            LockMode mode,
            Set<AgentUser> left,
            boolean certain,
            Map<LockName, List<Long>> queues) {
        Long own = user.requests.get(part);
        if (own == null && certain) {
            return false; // it does not wait for that yet
        }
        for (AgentUser other : left) {
            if (other.equals(user)) {
                continue;
            }
            AgentUser.Held grant = other.held.get(part);
            if (grant != null && CircleOracle.excludes(mode, grant.handle().mode())) {
                return true;
            }
            Long ahead = other.requests.get(part);
            boolean counts = !certain || circles.isFree(part, mode);
            if (ahead != null && counts && CircleOracle.excludes(mode, other.mode(part))) {
                List<Long> queue = queues.computeIfAbsent(part, circles::queue);
                boolean before = own == null || CircleOracle.isAhead(queue, ahead, own, !certain);
                if (before) {
                    return true;
                }
            }
        }
        return false;
    }
}
