// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The end of a lease that its owner asked for: {@code maxHold}, or the first deadline with {@link Renewal#NONE}. The
 * engine, which may renew all the time, knows nothing of it.
 */
final class HoldLimit {

    final long endNanos;
    private final long toldNanos;
    final Cause cause;
    final String detail;
    private volatile TimeSource.@Nullable Scheduled timer;

    private HoldLimit(long endNanos, long toldNanos, Cause cause, String detail) {
        this.endNanos = endNanos;
        this.toldNanos = toldNanos;
        this.cause = cause;
        this.detail = detail;
    }

    /** The nearer of the two ends; null if the options have none. */
    static @Nullable HoldLimit of(ResolvedOptions options, long grantedAt, long firstDeadline) {
        Duration maxHold = options.maxHold();
        boolean once = options.renewal() == Renewal.NONE;
        long end = maxHold == null ? 0 : grantedAt + Waits.nanos(maxHold);
        if (maxHold != null && !(once && firstDeadline - end <= 0)) {
            Duration unlockTime = options.unlockTime();
            return new HoldLimit(
                    end,
                    unlockTime == null ? end : grantedAt + Waits.nanos(maxHold.minus(unlockTime)),
                    Cause.MAX_HOLD,
                    "held for its maxHold of " + ResolvedOptions.text(maxHold));
        }
        return once
                ? new HoldLimit(
                        firstDeadline,
                        firstDeadline,
                        Cause.EXPIRED,
                        "its ttl is over, and Renewal.NONE asks for no renewal")
                : null;
    }

    /** The same, of another lease. */
    HoldLimit copy() {
        return new HoldLimit(endNanos, toldNanos, cause, detail);
    }

    /** @param soon when the end is near, where the owner wants to be told; false if that one is over by then */
    void arm(TimeSource time, BooleanSupplier soon, Runnable end) {
        if (toldNanos == endNanos) {
            arm(time, endNanos, end);
        } else {
            arm(time, toldNanos, () -> {
                if (soon.getAsBoolean()) {
                    arm(time, endNanos, end);
                }
            });
        }
    }

    /** For what is due later. */
    void arm(TimeSource time, long atNanos, Runnable due) {
        timer = time.at(atNanos, due);
    }

    void cancel() {
        TimeSource.Scheduled armed = timer;
        if (armed != null) {
            armed.cancel();
        }
    }
}
