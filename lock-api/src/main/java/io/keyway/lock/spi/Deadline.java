// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;

/**
 * The end of a call, on the monotonic clock: made from the {@code limit} of a verb when it is called, and asked before
 * each step for what is left. It only tells the time: whether an interrupt ends a step is up to what waits. Immutable.
 */
public final class Deadline {
    private final long atNanos;

    private Deadline(long atNanos) {
        this.atNanos = atNanos;
    }

    /**
     * {@return the end of a call that begins now}
     *
     * @param limit at most 292 years; nothing is left of one that is zero or negative
     * @throws ArithmeticException if the limit is longer
     */
    public static Deadline after(Duration limit) {
        return new Deadline(System.nanoTime() + limit.toNanos());
    }

    /** {@return what is left in nanoseconds, 0 if nothing is: for a wait that ends at once then} */
    public long nanos() {
        return Math.max(0, atNanos - System.nanoTime());
    }

    /**
     * {@return what is left in whole milliseconds, rounded down, but at least 1, also if nothing is left: for sockets
     * and drivers, to which 0 is without end}
     */
    public int millis() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos() / 1_000_000));
    }

    /**
     * {@return what is left in whole seconds, rounded up, and at least 1, also if nothing is left: for drivers that
     * count in seconds, beside which the deadline ends the call}
     */
    public int seconds() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, (nanos() + 999_999_999) / 1_000_000_000));
    }

    /**
     * Refuses to go on if nothing is left; for the time before anything is sent.
     *
     * @param step what has not happened in time, for the message, as {@code "a connection was free"}
     * @throws NotExecutedException if nothing is left
     */
    public void check(String step) throws NotExecutedException {
        if (nanos() == 0) {
            throw new NotExecutedException("the time was over before " + step);
        }
    }

    /**
     * {@return this one or, if it is sooner, the end of a call that begins now: for a step that must not use up all
     * that is left}
     *
     * @param limit the limit of the step, at most 292 years
     */
    public Deadline orSooner(Duration limit) {
        Deadline other = after(limit);
        return other.atNanos - atNanos < 0 ? other : this;
    }
}
