// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

import io.keyway.lock.peer.kernel.StateEncoder;

/**
 * Random numbers that are a function of the seed and of what they are for, and of nothing else. So one fault or
 * operation can be taken out of a plan and all other draws stay as they were: without this no failing run could be
 * shrunk.
 */
final class Draws {
    private final long seed;
    private long count;

    Draws(long seed, long purpose) {
        this.seed = of(seed, purpose);
    }

    static long of(long seed, long purpose) {
        return StateEncoder.mix(StateEncoder.mix(seed) ^ purpose);
    }

    long next() {
        return StateEncoder.mix(seed + count++);
    }

    /** From 0 to bound - 1. */
    long below(long bound) {
        return Long.remainderUnsigned(next(), bound);
    }

    int below(int bound) {
        return (int) below((long) bound);
    }

    /** Both ends included. */
    long between(long low, long high) {
        return low + below(high - low + 1);
    }

    boolean chance(int perMille) {
        return below(1000) < perMille;
    }

    /** Small values as likely as large ones: from low to high, about uniform in the logarithm. */
    long logarithmic(long low, long high) {
        int lowest = 63 - Long.numberOfLeadingZeros(low);
        int highest = 63 - Long.numberOfLeadingZeros(high);
        long octave = 1L << between(lowest, highest);
        return Math.max(low, Math.min(high, octave + below(octave)));
    }

    @SafeVarargs
    @SuppressWarnings("varargs")
    final <T> T one(T... values) {
        return values[below(values.length)];
    }
}
