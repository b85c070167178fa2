// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * R11: waiters are served in the order in which their users asked. Only one that was not heard for half of its ttl is
 * passed over.
 */
final class FirstComeFirstServed implements LeaseOracle {
    /**
     * A request in the queue of its authority.
     *
     * @param asked when its user asked, on the authority's clock as far as it can know
     * @param order of arrival, among those that asked at the same time
     */
    record Ask(String name, long session, int client, int life, long request, long ttl, long asked, long order) {
        boolean before(Ask other) {
            return asked != other.asked ? asked < other.asked : order < other.order;
        }
    }

    private final ExpiryBounds.Hearing hearing;
    private final Map<String, List<Ask>> queues = new HashMap<>();

    FirstComeFirstServed(ExpiryBounds.Hearing hearing) {
        this.hearing = hearing;
    }

    /** A request that waits for its holder has come. A repeated one changes nothing. */
    void asked(Ask ask) {
        List<Ask> queue = queues.computeIfAbsent(ask.name(), fresh -> new ArrayList<>());
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).session() == ask.session() && queue.get(i).request() == ask.request()) {
                return;
            }
        }
        queue.add(ask);
    }

    void withdrawn(String name, long session, long request) {
        List<Ask> queue = queues.get(name);
        if (queue != null) {
            queue.removeIf(ask -> ask.session() == session && ask.request() == request);
        }
    }

    void sessionEnded(String name, long session) {
        List<Ask> queue = queues.get(name);
        if (queue != null) {
            queue.removeIf(ask -> ask.session() == session);
        }
    }

    /** The authority forgot everything. */
    void forgotten() {
        queues.clear();
    }

    @Override
    public void granted(Grant grant) {
        List<Ask> queue = queues.get(grant.name());
        if (queue == null) {
            return;
        }
        Ask served = null;
        for (int i = 0; i < queue.size(); i++) {
            if (queue.get(i).session() == grant.session() && queue.get(i).request() == grant.request()) {
                served = queue.remove(i);
                break;
            }
        }
        if (served == null) {
            return;
        }
        for (int i = 0; i < queue.size(); i++) {
            Ask other = queue.get(i);
            long silence = hearing.clock() - hearing.echoed(other.client(), other.life());
            if (other.before(served) && silence < other.ttl() / 2) {
                throw new Violation(
                        "R11", served + " is served before " + other + ", heard " + Nanos.text(silence) + " ago");
            }
        }
    }
}
