// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.cli.supervisor.CommandClock;
import java.util.function.LongConsumer;

/** Time that passes only where somebody pauses, at once; a step of the test happens in each pause. */
final class StepClock implements CommandClock {
    private final LongConsumer step;
    private long now;

    StepClock(LongConsumer step) {
        this.step = step;
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public void pause(long nanos) {
        synchronized (this) {
            now += nanos;
        }
        step.accept(nanos);
    }

    @Override
    public void await(Object monitor, long nanos) {
        pause(nanos);
    }
}
