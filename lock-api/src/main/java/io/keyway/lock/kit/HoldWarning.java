// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The report of one lease held longer than {@code warnAfter}, with the stack of whoever acquired it. */
final class HoldWarning {

    private static final Logger LOG = System.getLogger(HoldWarning.class.getName());

    private final Duration warnAfter;
    private final Throwable acquirer;
    private volatile TimeSource.@Nullable Scheduled timer;

    /** Takes the stack of this moment, which costs microseconds: only where {@code warnAfter} is set. */
    HoldWarning(Duration warnAfter, LockKey key) {
        this.warnAfter = warnAfter;
        this.acquirer = new AcquiredHere(key);
    }

    void arm(TimeSource time, long grantedAt, Runnable report) {
        timer = time.at(grantedAt + Waits.nanos(warnAfter), report);
    }

    void cancel() {
        TimeSource.Scheduled armed = timer;
        if (armed != null) {
            armed.cancel();
        }
    }

    void log(LockKey key, long token, long heldNanos) {
        LOG.log(
                Level.WARNING,
                "The " + key + " (token " + token + ") has been held for "
                        + ResolvedOptions.text(Duration.ofMillis(heldNanos / 1_000_000))
                        + ", longer than its warnAfter of "
                        + ResolvedOptions.text(warnAfter) + "; the stack below acquired it",
                acquirer);
    }

    private static final class AcquiredHere extends RuntimeException {
        private static final long serialVersionUID = 1L;

        AcquiredHere(LockKey key) {
            super(key.toString());
        }
    }
}
