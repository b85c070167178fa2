// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

/** One user's hold of a lock, from the answer to its end, with what the library would say if it were asked now. */
abstract class Use {
    /** How a use ends for the user. */
    enum Finish {
        RELEASED,
        /** The release was not confirmed. */
        UNKNOWN,
        /** The library told that the lock is lost because its time was over. */
        LOST,
        /** The library told that somebody broke it, or that a restarted member refused it. */
        REVOKED,
        /** The process ended. */
        DIED
    }

    final String name;
    /** The node that granted it. */
    final int member;

    final int client;
    final long token;
    final long ttl;

    Use(String name, int client, long token, long ttl) {
        this(name, 0, client, token, ttl);
    }

    Use(String name, int member, int client, long token, long ttl) {
        this.name = name;
        this.member = member;
        this.client = client;
        this.token = token;
        this.ttl = ttl;
    }

    /** Would {@code isHeld()} be true now? */
    abstract boolean believes();

    /** The end of belief on the client's clock, as the library computes it now. */
    abstract long deadline();

    /** The client's clock. */
    abstract long clock();

    @Override
    public String toString() {
        return name + " held by client" + client + " with token " + token;
    }
}
