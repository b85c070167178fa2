// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import java.util.ArrayList;
import java.util.List;

/**
 * R16, after every event of the authority: of a process that ended it keeps no session for longer than one may be
 * silent, and soon nothing at all; and no grant or waiter of a session that is over.
 */
final class DeadClients {
    /** What the authority has, and what it heard. */
    interface Authority {
        /** Nanoseconds on the authority's clock since anything of that process came. */
        long silence(int client, int life);

        boolean hasSession(int client, int life);

        /** True if it keeps anything of that process, if only the number of its last link. */
        boolean remembers(int client, int life);

        /**
         * A grant or a waiter whose session is over; empty if there is none. Looks at one name, each time at the next
         * one.
         */
        String orphan();
    }

    private record Dead(int client, int life) {}

    private final Authority authority;
    private final long sessionWithin;
    private final long anythingWithin;
    private final List<Dead> all = new ArrayList<>();
    private int next;

    /**
     * @param sessionWithin how long a silent session may stand, in nanoseconds
     * @param anythingWithin how long anything of it may be remembered
     */
    DeadClients(Authority authority, long sessionWithin, long anythingWithin) {
        this.authority = authority;
        this.sessionWithin = sessionWithin;
        this.anythingWithin = anythingWithin;
    }

    void died(int client, int life) {
        all.add(new Dead(client, life));
    }

    /** The authority had an event. True if there was a dead process to look for. */
    boolean looked() {
        String orphan = authority.orphan();
        if (!orphan.isEmpty()) {
            throw new Violation("R16", orphan + ", whose session is over");
        }
        if (all.isEmpty()) {
            return false;
        }
        next = next + 1 < all.size() ? next + 1 : 0;
        Dead dead = all.get(next);
        long silence = authority.silence(dead.client(), dead.life());
        if (silence > sessionWithin && authority.hasSession(dead.client(), dead.life())) {
            throw new Violation("R16", "a session of " + dead + ", last heard " + Nanos.text(silence) + " ago");
        }
        if (silence > anythingWithin && authority.remembers(dead.client(), dead.life())) {
            throw new Violation("R16", dead + " is remembered, last heard " + Nanos.text(silence) + " ago");
        }
        return true;
    }
}
