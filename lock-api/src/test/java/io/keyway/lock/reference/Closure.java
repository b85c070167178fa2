// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;

/**
 * When a store that has forgotten its grants may grant again: when the last of them has expired, whoever holds what it
 * forgot has stopped (LK-1510). That time is all that it remembers of them.
 */
final class Closure {

    private boolean closed;
    private long until;

    /** Forgets all that is held, the last of it until {@code end}; returns when it opens. */
    long begin(long end) {
        if (!closed || end - until > 0) {
            until = end;
        }
        closed = true;
        return until;
    }

    void refuseWhileClosed(long now) throws NotExecutedException {
        closed &= now - until < 0;
        if (closed) {
            throw new NotExecutedException("the store has lost its memory in a restart and is closed for another "
                    + Duration.ofNanos(until - now).toMillis() + "ms, until whoever held a lock has stopped");
        }
    }
}
