// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * R3: after belief ended by the clock, its user has time to stop: nobody whom it excludes believes for about a quarter
 * of the ttl, on the old holder's clock. A hold that was released, broken or whose process is dead needs none.
 */
final class ReactionWindow implements LeaseOracle {
    private final double rateError;
    private final long unseen;
    private final Map<String, List<Use>> overdue = new HashMap<>();
    private final IdentityHashMap<Use, Boolean> stopped = new IdentityHashMap<>();

    /**
     * @param rateError each clock's rate is right to within this share
     * @param unseen nanoseconds that may pass without its clock
     */
    ReactionWindow(double rateError, long unseen) {
        this.rateError = rateError;
        this.unseen = unseen;
    }

    private long window(long ttl) {
        return (long) (ttl * (1 - rateError) / (1 + rateError)) - (ttl - ttl / 4) - unseen;
    }

    @Override
    public void began(Use use) {
        List<Use> lately = overdue.get(use.name);
        if (lately == null) {
            return;
        }
        for (Use old : lately) {
            long since = old.clock() - old.deadline();
            boolean excluded = old.client != use.client && !Grant.together(old.mode, use.mode);
            if (excluded && since < window(old.ttl)) {
                throw new Violation(
                        "R3",
                        use + ", only " + Nanos.text(since) + " after the belief of " + old + " ended; its user has "
                                + Nanos.text(window(old.ttl)) + " to stop");
            }
        }
        lately.removeIf(old -> old.clock() - old.deadline() >= old.ttl);
    }

    /** Its user has stopped. */
    @Override
    public void releasing(Use use) {
        stopped.put(use, true);
        List<Use> lately = overdue.get(use.name);
        if (lately != null) {
            lately.remove(use);
        }
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        if (stopped.remove(use) == null && how == Use.Finish.LOST) {
            overdue.computeIfAbsent(use.name, fresh -> new ArrayList<>(2)).add(use);
        }
    }

    @Override
    public void died(int client) {
        overdue.values().forEach(lately -> lately.removeIf(old -> old.client == client));
    }
}
