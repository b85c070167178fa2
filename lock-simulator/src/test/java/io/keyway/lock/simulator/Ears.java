// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** What an authority and a client heard, as a test says it. */
final class Ears implements ExpiryBounds.Hearing, LostDeadline.Echoes {
    long now;
    long echoed;
    long arrived;
    long highest;
    long running = Nanos.SECOND;

    @Override
    public long clock() {
        return now;
    }

    @Override
    public long echoed(int client, int life) {
        return echoed;
    }

    @Override
    public long arrived(int client, int life) {
        return arrived;
    }

    @Override
    public long highest(Use use) {
        return highest;
    }

    @Override
    public long running(int client) {
        return running;
    }

    @Override
    public long lateness() {
        return 10;
    }
}
