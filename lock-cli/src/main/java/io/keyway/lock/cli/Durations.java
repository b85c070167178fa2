// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.CommonOptions;
import io.keyway.lock.LockOptions;
import io.keyway.lock.Option;
import io.keyway.lock.WriterPolicy;
import java.time.Duration;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Durations as users write and read them. */
final class Durations {
    private static final Option<Duration> WAIT = Option.duration("wait", Duration.ZERO, Duration.ofDays(365));

    private static final Option<Duration> AT_LEAST =
            Option.duration("at-least", Duration.ofMillis(1), LockOptions.MAX_TTL);

    private static final Option<Duration> DRAIN =
            Option.duration("drain", Duration.ofMillis(1), WriterPolicy.LONGEST_QUIET);

    private Durations() {}

    /** The two largest units that matter: {@code 2h 5m}, {@code 1m 3s}, {@code 12s}, {@code 7.5s}, {@code 800ms}. */
    static String show(Duration duration) {
        long seconds = duration.toSeconds();
        if (seconds < 1) {
            return Math.max(duration.toMillis(), 0) + "ms";
        }
        if (seconds < 10 && duration.toMillisPart() % 500 == 0 && duration.toMillisPart() > 0) {
            return seconds + ".5s";
        }
        if (seconds < 60) {
            return seconds + "s";
        }
        if (seconds < 3600) {
            return two(seconds / 60, "m", seconds % 60, "s");
        }
        if (seconds < 86_400) {
            return two(seconds / 3600, "h", seconds % 3600 / 60, "m");
        }
        return two(seconds / 86_400, "d", seconds % 86_400 / 3600, "h");
    }

    private static String two(long large, String largeUnit, long small, String smallUnit) {
        return small == 0 ? large + largeUnit : large + largeUnit + " " + small + smallUnit;
    }

    private static Duration parse(Option<Duration> option, String text) {
        try {
            return option.parse(text);
        } catch (IllegalArgumentException e) {
            throw new TypeConversionException(String.valueOf(e.getMessage()));
        }
    }

    /** For picocli. */
    static final class Wait implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return parse(WAIT, text);
        }
    }

    /** For picocli. */
    static final class AtLeast implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return parse(AT_LEAST, text);
        }
    }

    /** For picocli: {@code soft}, or the time without readers that a writer waits for. */
    static final class Drain implements ITypeConverter<WriterPolicy> {
        @Override
        public WriterPolicy convert(String text) {
            return text.equals("soft") ? WriterPolicy.soft() : WriterPolicy.softAfter(parse(DRAIN, text));
        }
    }

    /** For picocli. */
    static final class Ttl implements ITypeConverter<Duration> {
        @Override
        public Duration convert(String text) {
            return parse(CommonOptions.TTL, text);
        }
    }
}
