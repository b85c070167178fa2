// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.simulator;

/** Virtual durations in nanoseconds, and their text: exact, and short where it can be. */
final class Nanos {
    static final long MICRO = 1_000;
    static final long MILLI = 1_000_000;
    static final long SECOND = 1_000_000_000;

    private Nanos() {}

    static String text(long nanos) {
        if (nanos != 0 && nanos % SECOND == 0) {
            return nanos / SECOND + "s";
        }
        if (nanos != 0 && nanos % MILLI == 0) {
            return nanos / MILLI + "ms";
        }
        if (nanos != 0 && nanos % MICRO == 0) {
            return nanos / MICRO + "us";
        }
        return nanos + "ns";
    }

    static long parse(String text) {
        if (text.endsWith("ns")) {
            return number(text, 2);
        }
        if (text.endsWith("us")) {
            return number(text, 2) * MICRO;
        }
        if (text.endsWith("ms")) {
            return number(text, 2) * MILLI;
        }
        if (text.endsWith("s")) {
            return number(text, 1) * SECOND;
        }
        throw new IllegalArgumentException("a duration needs a unit: " + text);
    }

    private static long number(String text, int unit) {
        return Long.parseLong(text.substring(0, text.length() - unit));
    }
}
