// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;

/**
 * R3: after belief ended by the clock, or its user was told before that, that user has time to stop: nobody whom it
 * excludes believes for about a quarter of the ttl, on the old holder's clock. A hold that was released, broken or
 * whose process is dead needs none.
 */
final class ReactionWindow implements LeaseOracle {
    private final double rateError;
    private final long unseen;
    /** A hold that was lost, and when that was known on the clock of its client. */
    private record Lost(Use use, long at) {
        long since() {
            return use.clock() - at;
        }
    }

    private final Map<String, List<Lost>> overdue = new HashMap<>();
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
        List<Lost> lately = overdue.get(use.name);
        if (lately == null) {
            return;
        }
        for (Lost lost : lately) {
            Use old = lost.use();
            long since = lost.since();
            boolean excluded = old.client != use.client && !Grant.together(old.mode, use.mode);
            if (excluded && since < window(old.ttl)) {
                throw new Violation(
                        "R3",
                        use + ", only " + Nanos.text(since) + " after the belief of " + old + " ended; its user has "
                                + Nanos.text(window(old.ttl)) + " to stop");
            }
        }
        lately.removeIf(lost -> lost.since() >= lost.use().ttl);
    }

    /** Its user has stopped. */
    @Override
    public void releasing(Use use) {
        stopped.put(use, true);
        List<Lost> lately = overdue.get(use.name);
        if (lately != null) {
            lately.removeIf(lost -> lost.use() == use);
        }
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        if (stopped.remove(use) == null && how == Use.Finish.LOST) {
            boolean early = use.clock() - use.deadline() < 0;
            Lost lost = new Lost(use, early ? use.clock() : use.deadline());
            overdue.computeIfAbsent(use.name, fresh -> new ArrayList<>(2)).add(lost);
        }
    }

    @Override
    public void died(int client) {
        overdue.values().forEach(lately -> lately.removeIf(lost -> lost.use().client == client));
    }
}
