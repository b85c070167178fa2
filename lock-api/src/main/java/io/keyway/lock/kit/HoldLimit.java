// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LeaseLoss.Cause;
import io.keyway.lock.Renewal;
import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The end of a lease that its owner asked for: {@code maxHold}, or the first deadline with {@link Renewal#NONE}. The
 * engine, which may renew all the time, knows nothing of it.
 */
final class HoldLimit {

    final long endNanos;
    final Cause cause;
    final String detail;
    private volatile TimeSource.@Nullable Scheduled timer;

    private HoldLimit(long endNanos, Cause cause, String detail) {
        this.endNanos = endNanos;
        this.cause = cause;
        this.detail = detail;
    }

    /** The nearer of the two ends; null if the options have none. */
    static @Nullable HoldLimit of(ResolvedOptions options, long grantedAt, long firstDeadline) {
        Duration maxHold = options.maxHold();
        boolean once = options.renewal() == Renewal.NONE;
        if (maxHold != null && !(once && firstDeadline - (grantedAt + maxHold.toNanos()) <= 0)) {
            return new HoldLimit(
                    grantedAt + maxHold.toNanos(),
                    Cause.MAX_HOLD,
                    "held for its maxHold of " + ResolvedOptions.text(maxHold));
        }
        return once
                ? new HoldLimit(firstDeadline, Cause.EXPIRED, "its ttl is over, and Renewal.NONE asks for no renewal")
                : null;
    }

    void arm(TimeSource time, Runnable end) {
        arm(time, endNanos, end);
    }

    /** As {@link #arm(TimeSource, Runnable)}, for what is due later. */
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
