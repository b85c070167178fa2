// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.redis;

import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;

/**
 * The end of a call, on the monotonic clock.
 *
 * @param atNanos by {@link System#nanoTime}
 */
record Deadline(long atNanos) {

    static Deadline after(Duration limit) {
        return new Deadline(System.nanoTime() + limit.toNanos());
    }

    long nanos() {
        return atNanos - System.nanoTime();
    }

    /** What is left, at least 1, for a socket, to which 0 is without end; 1 also if nothing is left. */
    int millis() {
        return (int) Math.min(Integer.MAX_VALUE, Math.max(1, nanos() / 1_000_000));
    }

    /** For the time before anything is sent. */
    void check(String doing) throws NotExecutedException {
        if (nanos() <= 0) {
            throw new NotExecutedException("the time was over before " + doing);
        }
    }

    Deadline orSooner(Duration limit) {
        Deadline other = after(limit);
        return other.atNanos - atNanos < 0 ? other : this;
    }
}
