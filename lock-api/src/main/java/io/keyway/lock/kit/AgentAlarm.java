// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The time at which a transaction's agent wants to decide. Guarded by the transaction's lock, but for the timer. */
final class AgentAlarm {
    private final AgentAlarms alarms;
    private final Runnable ring;
    private boolean armed;
    private volatile long at;
    private volatile TimeSource.@Nullable Scheduled timer;

    AgentAlarm(AgentAlarms alarms, Runnable ring) {
        this.alarms = alarms;
        this.ring = ring;
    }

    /** What is to be done for the alarm to ring by that time; empty if it does already. */
    Optional<Runnable> setBy(long nanos) {
        if (armed && at - nanos <= 0) {
            return Optional.empty();
        }
        armed = true;
        at = nanos;
        return Optional.of(() -> {
            cancel();
            // The time of now: what was decided later, by another thread, may have been done before.
            timer = alarms.at(at, ring);
        });
    }

    void rang() {
        armed = false;
    }

    void cancel() {
        TimeSource.Scheduled former = timer;
        if (former != null) {
            former.cancel();
        }
    }
}
