// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;

/** One user's hold of a lock, from the answer to its end, with what the library would say if it were asked now. */
abstract class Use {
    /** How a use ends for the user. */
    enum Finish {
        RELEASED,
        /** The release was not confirmed. */
        UNKNOWN,
        /** The library told that the lock is lost because its time was over. */
        LOST,
        /** The library told that somebody broke it. */
        BROKEN,
        /** The library told that its member does not know it, or not any more. */
        DENIED,
        /** Its user has it in another mode now, with another token. */
        CONVERTED,
        /** The process ended. */
        DIED
    }

    final String name;
    /** The node that granted it. */
    final int member;

    final int client;
    final long token;
    final long ttl;
    final LockMode mode;
    final int permits;
    /** How many permits there are, as its user said. */
    final int capacity;

    Use(String name, int client, long token, long ttl) {
        this(name, 0, client, token, ttl, LockMode.EXCLUSIVE, 1, 1);
    }

    Use(String name, int member, int client, long token, long ttl, LockMode mode, int permits, int capacity) {
        this.name = name;
        this.member = member;
        this.client = client;
        this.token = token;
        this.ttl = ttl;
        this.mode = mode;
        this.permits = permits;
        this.capacity = capacity;
    }

    /** Would {@code isHeld()} be true now? */
    abstract boolean believes();

    /** Whether a grant served it that had served before, without its authority. */
    boolean cached() {
        return false;
    }

    /** The end of belief on the client's clock, as the library computes it now. */
    abstract long deadline();

    /** The client's clock. */
    abstract long clock();

    @Override
    public String toString() {
        String what = mode == LockMode.PERMITS ? " " + permits + " of " + capacity + " permits" : " " + mode;
        return name + " held by client" + client + " with token " + token + (mode == LockMode.EXCLUSIVE ? "" : what);
    }
}
