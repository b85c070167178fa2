// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.CoverageGoal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * R11: waiters are served in the order in which their users asked, and who does not wait is served before none of them.
 * Passed over is only one that was not heard for half of its ttl, and of those who wait for permits one that its own
 * capacity refuses, or that waits behind such a one, by those who state a larger capacity than all before them. A
 * change of mode is served before all others, there is never more than one that waits, and while it does nobody else is
 * served. A soft writer is served after all others who wait.
 */
final class FirstComeFirstServed implements LeaseOracle {
    /**
     * A request in the queue of its authority.
     *
     * @param asked when its user asked, on the authority's clock as far as it can know
     * @param order of arrival, among those that asked at the same time
     * @param waits false if its user wants an answer at once
     * @param mode and permits and capacity as the request says
     * @param converts the token of the grant whose mode is to change; 0 for a new one
     * @param soft whether its user is a soft writer
     */
    record Ask(
            String name,
            long session,
            int client,
            int life,
            long request,
            long ttl,
            long asked,
            long order,
            boolean waits,
            LockMode mode,
            int permits,
            int capacity,
            long converts,
            boolean soft) {
        /** Of a lock that one holds alone. */
        Ask(String name, long session, int client, int life, long request, long ttl, long asked, long order) {
            this(name, session, client, life, request, ttl, asked, order, true, LockMode.EXCLUSIVE, 1, 1, 0, false);
        }

        boolean before(Ask other) {
            if (soft || other.soft) {
                return !soft;
            }
            return (converts != 0 && other.converts == 0)
                    || ((converts == 0) == (other.converts == 0)
                            && (asked != other.asked ? asked < other.asked : order < other.order));
        }

        private boolean is(long ofSession, long ofRequest) {
            return session == ofSession && request == ofRequest;
        }
    }

    private final ExpiryBounds.Hearing hearing;
    private final Consumer<CoverageGoal> goals;
    private final Map<String, List<Ask>> queues = new HashMap<>();
    /** How many permits are out. */
    private final Map<String, Integer> out = new HashMap<>();

    private final Map<String, Integer> unclaimed = new HashMap<>();

    FirstComeFirstServed(ExpiryBounds.Hearing hearing) {
        this(hearing, goal -> {});
    }

    /** @param goals hears of what is rare */
    FirstComeFirstServed(ExpiryBounds.Hearing hearing, Consumer<CoverageGoal> goals) {
        this.hearing = hearing;
        this.goals = goals;
    }

    /** A request has come. A repeated one changes nothing. */
    void asked(Ask ask) {
        if (ask.mode() == LockMode.PERMITS && out.getOrDefault(ask.name(), 0) > ask.capacity()) {
            goals.accept(PermitGoal.CAPACITY_SHRUNK);
        }
        List<Ask> queue = queues.computeIfAbsent(ask.name(), fresh -> new ArrayList<>());
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).is(ask.session(), ask.request())) {
                return;
            }
        }
        queue.add(ask);
    }

    /** The authority has had an event of that name. */
    void looked(String name) {
        Ask change = null;
        for (Ask ask : queues.getOrDefault(name, List.of())) {
            if (ask.converts() == 0 || !ask.waits()) {
                continue;
            }
            if (change != null) {
                throw new Violation("R13", ask + " waits, and so does " + change);
            }
            if (ask.mode() != LockMode.EXCLUSIVE) {
                throw new Violation("R13", ask + " waits, and nobody can be in its way");
            }
            change = ask;
        }
    }

    void withdrawn(String name, long session, long request) {
        remove(name, ask -> ask.is(session, request));
    }

    void sessionEnded(String name, long session) {
        remove(name, ask -> ask.session() == session);
    }

    private void remove(String name, Predicate<Ask> which) {
        List<Ask> queue = queues.get(name);
        if (queue != null) {
            queue.removeIf(which);
        }
    }

    /** Forgets those who do not wait and have had their answer. */
    void answered(String name, Predicate<Ask> open) {
        remove(name, ask -> !ask.waits() && !open.test(ask));
    }

    /** So many permits are out beside those that were granted here. */
    void unclaimed(String name, int permits) {
        if (permits == 0) {
            unclaimed.remove(name);
        } else {
            unclaimed.put(name, permits);
        }
    }

    /** The authority forgot everything. */
    void forgotten() {
        queues.clear();
        out.clear();
        unclaimed.clear();
    }

    /** A change of the mode of that grant waits no longer. */
    @Override
    public void ended(Grant grant, Grant.End how) {
        if (grant.mode() == LockMode.PERMITS) {
            out.merge(grant.name(), -grant.permits(), Integer::sum);
        } else if (how != Grant.End.CONVERTED) {
            remove(grant.name(), ask -> ask.converts() != 0 && grant.covers(ask.converts()));
        }
    }

    @Override
    public void granted(Grant grant) {
        int before = 0;
        if (grant.mode() == LockMode.PERMITS) {
            before = out.getOrDefault(grant.name(), 0);
            out.put(grant.name(), before + grant.permits());
            before += unclaimed.getOrDefault(grant.name(), 0);
        }
        List<Ask> queue = queues.get(grant.name());
        if (queue == null || grant.isBack()) {
            return;
        }
        Ask served = null;
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).is(grant.session(), grant.request())) {
                served = queue.remove(i);
                break;
            }
        }
        if (served == null) {
            return;
        }
        List<Ask> earlier = new ArrayList<>(0);
        for (int i = 0; i < queue.size(); i++) {
            Ask other = queue.get(i);
            if (other.before(served)) {
                earlier.add(other);
            }
        }
        if (served.mode() == LockMode.PERMITS) {
            passes(served, earlier, before);
            return;
        }
        for (Ask other : earlier) {
            if (other.waits() && heard(other)) {
                throw overtakes(served, other);
            }
        }
    }

    private boolean heard(Ask ask) {
        return silence(ask) < ask.ttl() / 2;
    }

    private long silence(Ask ask) {
        return hearing.clock() - hearing.echoed(ask.client(), ask.life());
    }

    private Violation overtakes(Ask served, Ask other) {
        return new Violation(
                "R11", served + " is served before " + other + ", heard " + Nanos.text(silence(other)) + " ago");
    }

    /**
     * Of permits nobody is overtaken that fits; who does not holds up those behind it that state no larger capacity,
     * and no others. So does one that was not heard, if the authority has stopped since and makes allowance for it,
     * and one that does not wait, until it has its answer.
     */
    private void passes(Ask served, List<Ask> earlier, int out) {
        earlier.sort((one, other) -> one.before(other) ? -1 : 1);
        int refused = 0;
        for (Ask other : earlier) {
            boolean fits = out + other.permits() <= other.capacity();
            boolean heard = other.waits() && heard(other);
            if (heard && (served.capacity() <= other.capacity() || (fits && other.capacity() > refused))) {
                throw overtakes(served, other);
            }
            if (heard) {
                goals.accept(PermitGoal.SMALLER_VIEW_PASSED_OVER);
            }
            refused = heard || !fits ? Math.max(refused, other.capacity()) : refused;
        }
    }
}
