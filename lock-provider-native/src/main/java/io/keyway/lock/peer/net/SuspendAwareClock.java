// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.TimeSource;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A monotonic clock that also counts the time in which the machine slept. The system's monotonic clock stands still
 * then, while leases at other machines run out; the wall clock goes on. So whenever the wall clock is further ahead
 * than it should be, the difference counts as time that has passed. A wall clock that is set forward costs as much
 * belief as it is set; one that is set back extends nothing.
 *
 * <p>{@link #nanoTime} is for any thread and never goes back. {@link #look} has to be called at least as often as a
 * belief lasts; it takes in the small differences by which the two clocks drift apart.
 */
public final class SuspendAwareClock implements TimeSource {
    /** Below this it is drift, or the grain of the wall clock. */
    private static final long SLACK = 50_000_000L;
    /**
     * Two looks at the monotonic clock that are further apart say that this thread was stopped in between, and not what
     * the wall clock said at either.
     */
    private static final long LONGEST_LOOK = 5_000_000L;

    /** A lead below this is the grain of the wall clock, and not worth a note. */
    private static final long DRIFT = 2_000_000L;

    private static final long NANOS_PER_MILLI = 1_000_000L;

    /** What was seen last. */
    private static final class Seen {
        /** How far the wall clock was ahead of the monotonic one. */
        final long ahead;
        /** What counts as time beside the monotonic clock. */
        final long slept;

        Seen(long ahead, long slept) {
            this.ahead = ahead;
            this.slept = slept;
        }
    }

    private final LongSupplier monotonicNanos;
    private final LongSupplier wallMillis;
    private final @Nullable TimeSource timers;
    /** Written under the monitor, which hardly anybody ever needs. */
    private volatile Seen last = new Seen(Long.MAX_VALUE, 0);

    /**
     * The clocks of this machine.
     *
     * @param timers of which {@link #at} makes its own
     */
    public SuspendAwareClock(TimeSource timers) {
        this(System::nanoTime, System::currentTimeMillis, timers);
    }

    /** A clock without timers. */
    public SuspendAwareClock(LongSupplier monotonicNanos, LongSupplier wallMillis) {
        this(monotonicNanos, wallMillis, null);
    }

    private SuspendAwareClock(LongSupplier monotonicNanos, LongSupplier wallMillis, @Nullable TimeSource timers) {
        this.timers = timers;
        this.monotonicNanos = monotonicNanos;
        this.wallMillis = wallMillis;
        while (last.ahead == Long.MAX_VALUE) {
            look();
        }
    }

    @Override
    public long nanoTime() {
        // The wall first: a thread that is stopped in between sees it lag behind, never run ahead.
        long wall = wallMillis.getAsLong() * NANOS_PER_MILLI;
        long now = monotonicNanos.getAsLong();
        Seen seen = last;
        if (wall - now - seen.ahead <= SLACK) {
            return now + seen.slept;
        }
        return now + jumped(wall - now).slept;
    }

    /**
     * A timer that was set before the machine slept is late by the time of the sleep; nobody believes by a timer.
     *
     * @throws IllegalStateException if this clock has no timers
     */
    @Override
    public Scheduled at(long atNanos, Runnable task) {
        if (timers == null) {
            throw new IllegalStateException("this clock has no timers");
        }
        return timers.at(timers.nanoTime() + (atNanos - nanoTime()), task);
    }

    private synchronized Seen jumped(long ahead) {
        Seen seen = last;
        long jump = ahead - seen.ahead;
        if (jump > SLACK) {
            seen = new Seen(ahead, seen.slept + jump);
            last = seen;
        }
        return seen;
    }

    /** Takes the present difference of the clocks as the right one, unless it is a jump ahead. */
    public void look() {
        long before = monotonicNanos.getAsLong();
        long wall = wallMillis.getAsLong() * NANOS_PER_MILLI;
        if (monotonicNanos.getAsLong() - before > LONGEST_LOOK) {
            return;
        }
        long ahead = wall - before;
        long known = last.ahead;
        if (known != Long.MAX_VALUE && ahead >= known && ahead - known < DRIFT) {
            return; // what is known makes a jump look larger, never smaller
        }
        seen(ahead);
    }

    private synchronized void seen(long ahead) {
        boolean first = last.ahead == Long.MAX_VALUE;
        last = new Seen(ahead, first ? 0 : jumped(ahead).slept);
    }
}
