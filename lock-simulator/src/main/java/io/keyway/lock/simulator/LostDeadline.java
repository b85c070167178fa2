// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;

/**
 * R8: belief ends at the send time of the newest echo plus 3/4 ttl, and not a moment later; once over, it never comes
 * back; the loss is told within 50 ms of the deadline to a process that runs, and, of what one holds alone, before the
 * same client gets the lock again.
 */
final class LostDeadline implements LeaseOracle {
    private static final long TOLD_WITHIN = 50 * Nanos.MILLI;

    /** What came over the wire, seen from outside. */
    interface Echoes {
        /**
         * The highest stamp of that client's process that ever came back to it from the member that granted;
         * {@link Long#MIN_VALUE} if none did.
         */
        long highest(Use use);

        /** Nanoseconds that the client has been running since it was last paused, on its clock. */
        long running(int client);

        /** How late its timers may be. */
        long lateness();
    }

    private final Echoes echoes;
    private final IdentityHashMap<Use, Boolean> over = new IdentityHashMap<>();
    private final HashMap<String, Use> unfinished = new HashMap<>();

    LostDeadline(Echoes echoes) {
        this.echoes = echoes;
    }

    @Override
    public void began(Use use) {
        Use earlier = use.mode == LockMode.EXCLUSIVE ? unfinished.put(key(use), use) : null;
        if (earlier != null) {
            throw new Violation("R8", use + " before the end of " + earlier + " was told");
        }
        judge(use);
    }

    @Override
    public void releasing(Use use) {
        forget(use);
    }

    @Override
    public void finished(Use use, Use.Finish how) {
        forget(use);
    }

    private static String key(Use use) {
        return use.name + "@" + use.client + "@" + use.member;
    }

    private void forget(Use use) {
        over.remove(use);
        unfinished.remove(key(use), use);
    }

    @Override
    public void looked(int client, List<Use> uses) {
        for (int i = 0; i < uses.size(); i++) {
            judge(uses.get(i));
        }
    }

    private void judge(Use use) {
        long highest = echoes.highest(use);
        long latest = highest + use.ttl - use.ttl / 4;
        if (highest == Long.MIN_VALUE || use.deadline() - latest > 0) {
            throw new Violation(
                    "R8",
                    use + " is believed for " + Nanos.text(use.deadline() - latest)
                            + " too long: the newest echo gives no more");
        }
        long late = use.clock() - use.deadline();
        if (use.believes()) {
            if (late >= 0) {
                throw new Violation("R8", use + " is believed " + Nanos.text(late) + " after its deadline");
            }
            if (over.containsKey(use)) {
                throw new Violation("R8", use + " was over and is believed again");
            }
        } else {
            over.put(use, true);
            long allowed = TOLD_WITHIN + echoes.lateness();
            if (late > allowed && echoes.running(use.client) > allowed) {
                throw new Violation("R8", use + " is lost since " + Nanos.text(late) + ", and nobody told its user");
            }
        }
    }
}
