// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.TimeSource;

/** A clock that stands still, so that no timer is ever due. */
class StillTime implements TimeSource {
    @Override
    public long nanoTime() {
        return 0;
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        return () -> {};
    }
}
