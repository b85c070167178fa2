// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The machine's clock. */
final class RealClock implements CheckClock {
    @Override
    public long now() {
        return System.nanoTime();
    }

    @Override
    public void pass(Duration time) throws InterruptedException {
        long end = System.nanoTime() + time.toNanos();
        for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    @Override
    public boolean isVirtual() {
        return false;
    }
}
