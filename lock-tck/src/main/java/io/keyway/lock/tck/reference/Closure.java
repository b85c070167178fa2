// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;

/**
 * When a store that has forgotten its grants may grant again: by the end of the longest term that it has given, whoever
 * holds what it forgot has stopped (LK-1510).
 */
final class Closure {

    private long longestTerm;
    private boolean closed;
    private long until;

    void given(Duration term) {
        longestTerm = Math.max(longestTerm, term.toNanos());
    }

    /** Returns when it opens. */
    long begin(long now) {
        long end = now + longestTerm;
        if (!closed || end - until > 0) {
            until = end;
        }
        closed = true;
        longestTerm = 0;
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
