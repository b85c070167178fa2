// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** Durations as text with a unit: {@code 100ms}, {@code 10s}, {@code 5m}, {@code 24h}. */
final class Durations {
    static final String UNITS = "ms, s, m or h";

    private static final Map<String, Duration> BY_UNIT = new TreeMap<>(Map.of(
            "ms",
            Duration.ofMillis(1),
            "s",
            Duration.ofSeconds(1),
            "m",
            Duration.ofMinutes(1),
            "h",
            Duration.ofHours(1)));

    private Durations() {}

    /** Parses digits and a unit; the message of what it throws completes "... is". */
    static Duration parse(String text) {
        int digits = 0;
        while (digits < text.length() && text.charAt(digits) >= '0' && text.charAt(digits) <= '9') {
            digits++;
        }
        Duration unit = BY_UNIT.get(text.substring(digits));
        if (digits == 0 || unit == null) {
            throw new IllegalArgumentException(
                    "not a duration: write a whole number and a unit (" + UNITS + "), as in 500ms or 10s");
        }
        try {
            return unit.multipliedBy(Long.parseLong(text.substring(0, digits)));
        } catch (ArithmeticException | NumberFormatException e) {
            throw new IllegalArgumentException("too large", e);
        }
    }

    /** Returns the shortest exact form in one unit; ISO form for what has a part below the millisecond. */
    static String format(Duration duration) {
        boolean overflows = duration.toSeconds() > Long.MAX_VALUE / 1_000_000;
        if (duration.isNegative() || duration.toNanosPart() % 1_000_000 != 0 || overflows) {
            return duration.toString();
        }
        if (duration.toNanosPart() != 0) {
            return duration.toMillis() + "ms";
        }
        long seconds = duration.toSeconds();
        if (seconds != 0 && seconds % 3600 == 0) {
            return seconds / 3600 + "h";
        }
        if (seconds != 0 && seconds % 60 == 0) {
            return seconds / 60 + "m";
        }
        return seconds + "s";
    }
}
