// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;

/** An engine that may have a use for the thread of a caller that waits: it saves the change of threads at the end. */
public interface BorrowingEngine extends LockEngine {
    /**
     * Lends the thread that has called {@link #submitWaiting}, and that would only wait: the engine may wait with it.
     * Returns when it has no use for it, at the latest when the request is decided, when the thread is interrupted,
     * which it stays, or a request timeout after the limit.
     *
     * @param request what was submitted
     * @param limit how long the thread may be used, 0 or more
     */
    void lend(Request request, Duration limit);
}
