// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import io.keyway.lock.tck.TckSubject;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;

/** The subject's clock, which stands still but for this class. */
final class VirtualClock implements CheckClock {
    private final TckSubject.Advance advance;
    private final AtomicLong now = new AtomicLong();

    VirtualClock(TckSubject.Advance advance) {
        this.advance = advance;
    }

    @Override
    public long now() {
        return now.get();
    }

    @Override
    public void pass(Duration time) throws InterruptedException {
        try {
            advance.by(time);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw CheckFailure.of("the subject's clock could not be advanced: " + e, e);
        }
        now.addAndGet(time.toNanos());
    }

    @Override
    public boolean isVirtual() {
        return true;
    }
}
