// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * R7: no grant expires before its ttl has passed since its client was last heard, and none stands much longer. What was
 * heard is seen on the wire: at least what the authority has echoed, at most what came.
 */
final class ExpiryBounds implements LeaseOracle {
    /** The authority's clock, and what it heard of each client. All times in nanoseconds on that clock. */
    interface Hearing {
        long clock();

        /** When the newest stamp came that was echoed to that client; at most this long ago it was heard. */
        long echoed(int client, int life);

        /** When anything of that client last came, whatever became of it, put off by every stall since. */
        long arrived(int client, int life);

        /** How late the authority may be. */
        long lateness();
    }

    private final Hearing hearing;
    private final List<Grant> round = new ArrayList<>();
    private int next;

    ExpiryBounds(Hearing hearing) {
        this.hearing = hearing;
    }

    @Override
    public void granted(Grant grant) {
        round.add(grant);
    }

    @Override
    public void ended(Grant grant, Grant.End how) {
        round.remove(grant);
        if (how != Grant.End.EXPIRED && how != Grant.End.SESSION_SILENT) {
            return;
        }
        long silence = hearing.clock() - hearing.echoed(grant.client(), grant.life());
        if (silence < grant.ttl()) {
            throw new Violation("R7", grant + " expired " + Nanos.text(silence) + " after its client was heard");
        }
    }

    /** The authority had an event: looks at one grant, each time at the next one. */
    void looked() {
        if (round.isEmpty()) {
            return;
        }
        next = next + 1 < round.size() ? next + 1 : 0;
        Grant grant = round.get(next);
        long silence = hearing.clock() - hearing.arrived(grant.client(), grant.life());
        if (silence > grant.ttl() + hearing.lateness()) {
            throw new Violation("R7", grant + " stands, and its client was last heard " + Nanos.text(silence) + " ago");
        }
    }
}
