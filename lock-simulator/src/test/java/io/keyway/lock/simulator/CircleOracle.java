// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.peer.queue.LockManagerView;
import io.keyway.lock.spi.Probe;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * R10 of agents over real members. <i>Sound</i>: whoever gives a lock up was on a circle of transactions that wait for
 * each other, through that very grant, at some instant since it began the search that it acts on. <i>Minimal</i>: no
 * circle has two victims. That each circle ends is judged by R15, after the faults: nobody may wait for ever.
 *
 * <p>Who waits for whom it takes from what all users have and want, and from the queues of the members; where a member
 * is down or has not heard of a request, whoever might be in its way counts as if he were.
 */
final class CircleOracle {
    private final AgentModel model;
    /** By user and grant: when it was last on a circle. */
    private final Map<String, Long> left = new HashMap<>();

    private Set<String> standing = new HashSet<>();
    /** By transaction and round: when that search began. */
    private final Map<String, Long> searches = new HashMap<>();

    private final Set<Set<String>> resolved = new HashSet<>();
    private long confirmed;

    CircleOracle(AgentModel model) {
        this.model = model;
    }

    /** How many circles were seen to stand when somebody gave way. */
    long confirmed() {
        return confirmed;
    }

    /** The initiator sends a search, or that it gives way. */
    void said(AgentUser user, Probe probe) {
        String search = probe.initiator() + "/" + probe.round();
        if (probe.kind() == Probe.Kind.SEARCH) {
            searches.putIfAbsent(search, model.world.now());
            return;
        }
        Probe.Edge last = probe.path().get(probe.path().size() - 1);
        String claim = claim(user, last.lock(), last.token());
        Long seen = standing.contains(claim) ? Long.valueOf(model.world.now()) : left.get(claim);
        Long begun = searches.get(search);
        if (seen == null || begun == null || seen < begun) {
            throw new Violation(
                    "R10",
                    "sound: " + user + " gives up " + last.lock() + " by a search of " + begun
                            + ", and was last on a circle through it at " + seen + ": " + probe);
        }
        Set<String> circle = new TreeSet<>();
        for (Probe.Edge edge : probe.path()) {
            circle.add(edge.request() + " " + edge.lock() + " " + edge.token() + " " + edge.ahead());
        }
        if (!resolved.add(circle)) {
            throw new Violation("R10", "minimal: a second one gives way in " + circle + ": " + user);
        }
        confirmed++;
    }

    private static String claim(AgentUser user, LockName lock, long token) {
        return Agent.shown(user.self) + " " + lock + " " + token;
    }

    /** Of one whose grant is in the way of another one's request. */
    private record Hold(AgentUser waiter, AgentUser holder, String claim) {}

    /** Something may have changed. */
    void look() {
        Set<String> now = circles();
        standing.removeAll(now);
        standing.forEach(claim -> left.put(claim, model.world.now()));
        standing = now;
    }

    private Set<String> circles() {
        List<AgentUser> users = model.users();
        Map<AgentUser, Set<AgentUser>> edges = new HashMap<>();
        Map<LockName, List<Long>> queues = new HashMap<>();
        List<Hold> holding = new ArrayList<>();
        for (AgentUser waiter : users) {
            for (Map.Entry<LockName, Long> wanted : waiter.requests.entrySet()) {
                LockName name = wanted.getKey();
                LockMode mode = mode(waiter, name);
                for (AgentUser other : users) {
                    if (other.equals(waiter) || mode == null) {
                        continue;
                    }
                    AgentUser.Held grant = other.held.get(name);
                    if (grant != null
                            && (mode == LockMode.EXCLUSIVE || grant.handle().mode() == LockMode.EXCLUSIVE)) {
                        edges.computeIfAbsent(waiter, fresh -> new HashSet<>()).add(other);
                        holding.add(new Hold(waiter, other, claim(other, name, grant.token())));
                    }
                    Long ahead = other.requests.get(name);
                    if (ahead != null
                            && (mode == LockMode.EXCLUSIVE || mode(other, name) == LockMode.EXCLUSIVE)
                            && mayBeAhead(queues.computeIfAbsent(name, this::queue), ahead, wanted.getValue())) {
                        edges.computeIfAbsent(waiter, fresh -> new HashSet<>()).add(other);
                    }
                }
            }
        }
        Set<String> found = new HashSet<>();
        for (Hold each : holding) {
            if (reaches(edges, each.holder(), each.waiter(), new HashSet<>())) {
                found.add(each.claim());
            }
        }
        return found;
    }

    private static @Nullable LockMode mode(AgentUser user, LockName name) {
        Agent agent = user.agent;
        return agent == null || !agent.wants(name) ? null : agent.mode(name);
    }

    private static boolean mayBeAhead(List<Long> queue, long other, long own) {
        int before = queue.indexOf(other);
        int after = queue.indexOf(own);
        return before < 0 || after < 0 || before < after;
    }

    private List<Long> queue(LockName name) {
        SimNode member = model.member(name);
        return member.alive() && member.cell().machine(model.key(name)) != null
                ? LockManagerView.queued(member.cell().machine(model.key(name)))
                : List.of();
    }

    private static boolean reaches(
            Map<AgentUser, Set<AgentUser>> edges, AgentUser from, AgentUser to, Set<AgentUser> seen) {
        if (from.equals(to)) {
            return true;
        }
        for (AgentUser next : edges.getOrDefault(from, Set.of())) {
            if (seen.add(next) && reaches(edges, next, to, seen)) {
                return true;
            }
        }
        return false;
    }
}
