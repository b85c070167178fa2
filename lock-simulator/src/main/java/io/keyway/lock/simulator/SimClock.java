// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/**
 * The monotonic clock of one machine: it runs by a rate of its own, and stands still while the machine is suspended.
 */
final class SimClock {
    private final SimWorld world;
    private long local;
    private long since;
    private double rateError;
    private boolean stopped;
    private long partsPerMillion;

    SimClock(SimWorld world, long start, long partsPerMillion) {
        this.world = world;
        this.local = start;
        this.since = world.now();
        this.partsPerMillion = partsPerMillion;
        this.rateError = partsPerMillion * 1e-6;
    }

    long read() {
        if (stopped) {
            return local;
        }
        long elapsed = world.now() - since;
        return local + elapsed + (long) (elapsed * rateError);
    }

    /** The real time at which this clock will show that time, or a little later; now if that is over. */
    long realTime(long reading) {
        long ahead = reading - read();
        return ahead <= 0 ? world.now() : world.now() + (long) (ahead / (1 + rateError)) + 1;
    }

    void rate(long newPartsPerMillion) {
        rebase();
        partsPerMillion = newPartsPerMillion;
        rateError = partsPerMillion * 1e-6;
    }

    /** What its rate is off by. */
    long partsPerMillion() {
        return partsPerMillion;
    }

    void stop(boolean stop) {
        rebase();
        stopped = stop;
    }

    private void rebase() {
        local = read();
        since = world.now();
    }
}
