// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.spi;

import java.time.Duration;

/**
 * A backend with a use for the thread of a caller that waits: of a store at which a connection waits for the lock
 * itself, as for an advisory lock of a database. It saves the change of threads at the end. Only of a backend that is
 * {@link #prompt} the calls come from threads of callers.
 */
public interface BorrowingBackend extends LockBackend {
    /**
     * As {@link #attempt}, by a thread that waits for this request and calls {@link #lend} next, if the answer was that
     * it waits. Its later attempts come from other threads.
     *
     * @param request what is asked for
     * @param limit how long the call may take; it ends earlier when its thread is interrupted
     * @return what it came to
     * @throws Exception a {@link NotExecutedException} if it surely had no effect; anything else leaves the outcome
     *     unknown
     */
    Attempt attemptWaiting(Request request, Duration limit) throws Exception;

    /**
     * Lends a thread that waits for this request, after {@link #attemptWaiting}; whoever has it waits, and tells by
     * {@link Signals#granted} that its turn has come. Returns when the request is decided, when the thread is
     * interrupted, which it stays, or when there is no use for it.
     *
     * @param request what is asked for; it may be over by now
     * @param limit how long the thread may be used, 0 or more; what was begun within it takes no longer than the
     *     request timeout
     */
    void lend(Request request, Duration limit);
}
