// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

/** What one client did, or all of them. Not thread-safe. */
final class LoadCounts {
    int commands;
    int acquired;
    int released;
    int errors;
    int lost;
    int handOvers;

    /** Requests to the store; negative if nobody counts them. */
    long requests = -1;

    /** Acquires that needed no message. */
    Latencies cachedAcquires = new Latencies();

    /** The others. */
    Latencies askedAcquires = new Latencies();

    Latencies releases = new Latencies();

    void add(LoadCounts other) {
        commands += other.commands;
        acquired += other.acquired;
        released += other.released;
        errors += other.errors;
        lost += other.lost;
        handOvers += other.handOvers;
        if (other.requests >= 0) {
            requests = Math.max(0, requests) + other.requests;
        }
        cachedAcquires.addAll(other.cachedAcquires);
        askedAcquires.addAll(other.askedAcquires);
        releases.addAll(other.releases);
    }

    LoadCounts copy() {
        LoadCounts copy = new LoadCounts();
        copy.add(this);
        return copy;
    }

    /** The share of acquires that were served from a cache, in percent; NaN without any. */
    double cachedPercent() {
        return 100.0 * cachedAcquires.count() / acquired;
    }
}
