// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.LockMode;

/** A hold whose clock and deadline the test sets. */
final class Hand extends Use {
    long now;
    long until = 750;
    boolean stubborn;
    boolean reused;

    Hand(int client, long token) {
        super("n", client, token, LeaseOraclesTest.TTL);
    }

    Hand(int client, long token, LockMode mode, int permits, int capacity) {
        super("n", 0, client, token, LeaseOraclesTest.TTL, mode, permits, capacity);
    }

    Hand at(long time) {
        now = time;
        return this;
    }

    @Override
    boolean believes() {
        return stubborn || now < until;
    }

    @Override
    boolean cached() {
        return reused;
    }

    @Override
    long deadline() {
        return until;
    }

    @Override
    long clock() {
        return now;
    }
}
