// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

/**
 * How often which time was taken, within 3 %: 32 classes for each power of two. Not thread-safe.
 */
final class Latencies {
    private static final int FINE = 32;

    private final int[] counts = new int[(64 - 5) * FINE + FINE];
    private long total;
    private long longest;

    void add(long nanos) {
        counts[place(Math.max(0, nanos))]++;
        total++;
        longest = Math.max(longest, nanos);
    }

    long count() {
        return total;
    }

    /** In nanoseconds; 0 if nothing was added. */
    long longest() {
        return longest;
    }

    /** The time within which this share of all was done, at least 0 and at most 1, in nanoseconds; 0 without any. */
    long within(double share) {
        long rank = (long) Math.ceil(total * share);
        long seen = 0;
        for (int i = 0; i < counts.length && total > 0; i++) {
            seen += counts[i];
            if (seen >= Math.max(1, rank)) {
                return Math.min(longest, upper(i));
            }
        }
        return longest;
    }

    void addAll(Latencies other) {
        for (int i = 0; i < counts.length; i++) {
            counts[i] += other.counts[i];
        }
        total += other.total;
        longest = Math.max(longest, other.longest);
    }

    private static int place(long nanos) {
        if (nanos < FINE) {
            return (int) nanos;
        }
        int power = 63 - Long.numberOfLeadingZeros(nanos);
        return (power - 5) * FINE + FINE + (int) (nanos >> (power - 5)) - FINE;
    }

    private static long upper(int place) {
        if (place < FINE) {
            return place;
        }
        int power = (place - FINE) / FINE;
        return ((long) (place % FINE + FINE + 1) << power) - 1;
    }
}
