// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock;

import java.time.Duration;

/**
 * What the writer of a read-write lock does to those who read: how a site is emptied of its users before it is changed.
 * Immutable.
 *
 * <pre>{@code
 * DistributedReadWriteLock site = client.readWriteLock("site", WriterPolicy.softAfter(Duration.ofMinutes(10)));
 * Optional<Lease> alone = site.write().tryAcquire(Duration.ofHours(8));
 * }</pre>
 *
 * <p>From the plan of snaplock ("Semaphore Support"), which never had it. Rules LK-1207 to LK-1210.
 */
public final class WriterPolicy {
    /** The longest time without readers that a writer can ask for. */
    public static final Duration LONGEST_QUIET = Duration.ofHours(24);

    private static final WriterPolicy HARD = new WriterPolicy(false, Duration.ZERO);
    private static final WriterPolicy SOFT = new WriterPolicy(true, Duration.ZERO);

    private final boolean soft;
    private final Duration quiet;

    private WriterPolicy(boolean soft, Duration quiet) {
        this.soft = soft;
        this.quiet = quiet;
    }

    /** {@return the default: the writer has its place in the queue, and readers that come later wait behind it} */
    public static WriterPolicy hard() {
        return HARD;
    }

    /**
     * {@return a writer that keeps nobody waiting: it has no place in the queue and is granted when nobody holds the
     * lock and nobody queues for it, which may be never} It is asked for with a time limit, always. Needs
     * {@link Feature#DRAIN}.
     */
    public static WriterPolicy soft() {
        return SOFT;
    }

    /**
     * As {@link #soft}, and not before no reader was granted for that time, by the store's own clock and counted from
     * the writer's request at the earliest, so that who has just left may come back. One attempt without a wait comes
     * to nothing.
     *
     * @param quiet more than zero, at most 24h
     * @return a writer that waits for such a time
     * @throws IllegalArgumentException if not positive or more than 24h
     */
    public static WriterPolicy softAfter(Duration quiet) {
        if (quiet.isNegative() || quiet.isZero() || quiet.compareTo(LONGEST_QUIET) > 0) {
            throw new IllegalArgumentException(
                    "a time without readers is more than zero and at most 24h, not " + Durations.format(quiet));
        }
        return new WriterPolicy(true, quiet);
    }

    /** {@return whether it keeps nobody waiting} */
    public boolean isSoft() {
        return soft;
    }

    /** {@return for how long no reader may have been granted; zero if that does not matter} */
    public Duration quiet() {
        return quiet;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof WriterPolicy o && soft == o.soft && quiet.equals(o.quiet);
    }

    @Override
    public int hashCode() {
        return 31 * Boolean.hashCode(soft) + quiet.hashCode();
    }

    /** Returns {@code hard}, {@code soft}, or {@code soft after} and the time. */
    @Override
    public String toString() {
        if (!soft) {
            return "hard";
        }
        return quiet.isZero() ? "soft" : "soft after " + Durations.format(quiet);
    }
}
