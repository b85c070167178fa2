// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.sim;

/** A hold whose clock and deadline the test sets. */
final class Hand extends Use {
    long now;
    long until = 750;
    boolean stubborn;

    Hand(int client, long token) {
        super("n", client, token, LeaseOraclesTest.TTL);
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
    long deadline() {
        return until;
    }

    @Override
    long clock() {
        return now;
    }
}
