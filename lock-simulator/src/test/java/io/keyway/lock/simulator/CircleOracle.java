// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.kit.agent.Agent;
import io.keyway.lock.peer.kernel.Machine;
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
 * each other, through that very grant or request, at some instant since it began the search that it acts on.
 * <i>Minimal</i>: no circle has two victims. <i>Complete</i>: while nothing is broken and a grant is on a circle,
 * somebody gives way within two of the longest times between searches, and the way of the messages; and by R15 nobody
 * waits forever.
 * <i>Terminating</i>: among so many only so many surrender before one has all that it wants, or gives up.
 * <i>Honest</i> is judged where a lock is given up ({@link AgentUser#release}).
 *
 * <p>Who waits for whom it takes from what all users have and want, and from the queues of the members; where a member
 * is down or has not heard of a request, whoever might be in its way counts as if he were.
 */
final class CircleOracle {
    private final AgentModel model;
    /** Of locks over nodes; decides nothing of others. */
    final ReductionOracle reduction;

    /** By user and grant or request: when it was last on a circle. */
    private final Map<String, Long> left = new HashMap<>();

    private Set<String> standing = new HashSet<>();
    /** By transaction and round: when that search began. */
    private final Map<String, Long> searches = new HashMap<>();

    private final Set<Set<String>> resolved = new HashSet<>();
    private long confirmed;
    /** By claim, since when it stands without a break. */
    private final Map<String, Long> since = new HashMap<>();

    private long healed = Long.MAX_VALUE;
    private int inARow;
    /** The longest that a circle stood while nothing was broken, in nanoseconds. */
    private long longest;
    /** The most surrenders in a row, by a hundredth of how many transactions there were. */
    private long most;

    CircleOracle(AgentModel model) {
        this.model = model;
        this.reduction = new ReductionOracle(model, this);
    }

    /** How many circles were seen to stand when somebody gave way. */
    long confirmed() {
        return confirmed;
    }

    /** What came closest to its bounds, for people: how long a circle stood, and how many surrendered in a row. */
    long longest() {
        return longest;
    }

    long most() {
        return most;
    }

    /** A transaction begins or ends: others are blocked now. */
    void changes() {
        inARow = 0;
    }

    /** Somebody gives way, or asks another node instead: of what stands now it is not known any more since when. */
    void givesWay() {
        since.replaceAll((claim, begun) -> model.world.now());
        reduction.begins();
    }

    /** Somebody has lost a grant, and asks for it again. */
    void loses() {
        reduction.begins();
    }

    /** Somebody surrenders a lock. */
    void surrenders() {
        givesWay();
        inARow++;
        int open = 0;
        for (AgentUser user : model.users()) {
            open += user.agent == null ? 0 : 1;
        }
        most = Math.max(most, 100L * inARow / Math.max(1, open));
        if (inARow > model.mostInARow() * open) {
            throw new Violation("R10", "terminating: " + inARow + " surrenders of " + open + ", and nobody is done");
        }
    }

    /** After each event: does any circle stand for too long? */
    void judge() {
        long now = model.world.now();
        if (healed == Long.MAX_VALUE && (model.isCalm() || isMended())) {
            // What was broken is mended, and all are connected again.
            healed = model.isCalm() ? now : now + model.world.options().maxTtl() + 5 * Nanos.SECOND;
        }
        if (now < healed) {
            return;
        }
        Options options = model.world.options();
        long way = 4L * options.clients() * options.users() * (options.latency() + options.jitter());
        for (Map.Entry<String, Long> each : since.entrySet()) {
            long stands = now - Math.max(healed, each.getValue());
            longest = Math.max(longest, stands);
            if (stands > 2 * Agent.LAST_RESEND + way) {
                throw new Violation(
                        "R10", "complete: " + each.getKey() + " is on a circle for " + stands + " ns; " + shown());
            }
        }
        reduction.judge(healed, 2 * Agent.LAST_RESEND + way);
    }

    /** What comes out of order is missing until it is sent again. */
    private boolean isMended() {
        return model.world.healed() && model.world.options().ordered();
    }

    /** The initiator sends a search, or that it gives way. */
    void said(AgentUser user, Probe probe) {
        String search = probe.initiator() + "/" + probe.round();
        if (probe.kind() == Probe.Kind.SEARCH) {
            searches.putIfAbsent(search, model.world.now());
            return;
        }
        Probe.Edge last = probe.path().get(probe.path().size() - 1);
        String claim = last.token() != 0 ? claim(user, last.lock(), last.token()) : place(user, last);
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
        if (model.isOverNodes() && begun >= healed) {
            reduction.said(probe, begun);
        }
    }

    private static String claim(AgentUser user, LockName lock, long token) {
        return Agent.shown(user.self) + " " + lock + " " + token;
    }

    private static String place(AgentUser user, Probe.Edge edge) {
        return claim(user, edge.lock(), -edge.ahead());
    }

    /** Of one whose grant, or request, is in the way of another one's request. */
    private record Hold(AgentUser waiter, AgentUser holder, String claim) {}

    /** Something may have changed. */
    void look() {
        Set<String> now = circles(false);
        standing.removeAll(now);
        standing.forEach(claim -> left.put(claim, model.world.now()));
        standing = now;
        Set<String> certain = circles(true);
        since.keySet().retainAll(certain);
        certain.forEach(claim -> since.putIfAbsent(claim, model.world.now()));
        if (model.isOverNodes()) {
            reduction.look();
        }
    }

    /**
     * The claims that are on a circle.
     *
     * @param certain only by edges that no view of anybody can deny: to holders, and if there is none to those before
     *     it in the member's queue
     */
    private Set<String> circles(boolean certain) {
        List<AgentUser> users = model.users();
        Map<AgentUser, Set<AgentUser>> edges = new HashMap<>();
        Map<LockName, List<Long>> queues = new HashMap<>();
        List<Hold> holding = new ArrayList<>();
        for (AgentUser waiter : users) {
            for (Map.Entry<LockName, Long> wanted : waiter.requests.entrySet()) {
                LockName name = wanted.getKey();
                LockMode mode = mode(waiter, name);
                if (waiter.nodes != null && waiter.nodes.spares.contains(name)) {
                    continue; // it may go on without that
                }
                boolean free = !certain || (mode != null && isFree(name, mode));
                for (AgentUser other : users) {
                    if (other.equals(waiter) || mode == null) {
                        continue;
                    }
                    AgentUser.Held grant = other.held.get(name);
                    if (grant != null && excludes(mode, grant.handle().mode())) {
                        edges.computeIfAbsent(waiter, fresh -> new HashSet<>()).add(other);
                        holding.add(new Hold(waiter, other, claim(other, name, grant.token())));
                    }
                    Long ahead = other.requests.get(name);
                    if (ahead != null
                            && (mode == LockMode.EXCLUSIVE || mode(other, name) == LockMode.EXCLUSIVE)
                            && free
                            && isAhead(queues.computeIfAbsent(name, this::queue), ahead, wanted.getValue(), !certain)) {
                        edges.computeIfAbsent(waiter, fresh -> new HashSet<>()).add(other);
                        if (!certain) {
                            holding.add(new Hold(waiter, other, claim(other, name, -ahead)));
                        }
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

    static boolean isAhead(List<Long> queue, long other, long own, boolean ifUnknown) {
        int before = queue.indexOf(other);
        int after = queue.indexOf(own);
        return (before < 0 || after < 0) ? ifUnknown : before < after;
    }

    /** Whether nobody holds that lock, by the word of its member and of all users, in a way that keeps others out. */
    boolean isFree(LockName name, LockMode wanted) {
        for (AgentUser user : model.users()) {
            AgentUser.Held grant = user.held.get(name);
            if (grant != null && excludes(wanted, grant.handle().mode())) {
                return false;
            }
        }
        Machine manager = manager(name);
        for (int i = 0; manager != null && i < LockManagerView.grants(manager); i++) {
            if (excludes(wanted, LockManagerView.mode(manager, i))) {
                return false;
            }
        }
        return true;
    }

    static boolean excludes(LockMode one, LockMode other) {
        return one == LockMode.EXCLUSIVE || other == LockMode.EXCLUSIVE;
    }

    /** For people: who has what, and wants what, behind whom. */
    String shown() {
        StringBuilder text = new StringBuilder();
        for (AgentUser user : model.users()) {
            if (user.agent != null) {
                text.append(user).append(user.agent.isComplete() ? " complete; " : "; ");
            }
        }
        for (LockName name : model.names()) {
            Machine manager = manager(name);
            for (int i = 0; manager != null && i < LockManagerView.grants(manager); i++) {
                text.append(name)
                        .append(" ")
                        .append(LockManagerView.session(manager, i))
                        .append(" ")
                        .append(LockManagerView.token(manager, i))
                        .append(' ')
                        .append(LockManagerView.mode(manager, i))
                        .append("; ");
            }
            text.append("behind: ").append(queue(name)).append("; ");
        }
        return text.toString();
    }

    private @Nullable Machine manager(LockName name) {
        SimNode member = model.member(name);
        return member.alive() ? member.cell().machine(model.key(name)) : null;
    }

    List<Long> queue(LockName name) {
        Machine manager = manager(name);
        return manager == null ? List.of() : LockManagerView.queued(manager);
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
