// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.time.Duration;

/** Where the blocking calls of a store run: never on a caller's thread, never on a timer's. */
interface Workers {

    /** Runs the call, which renews grants, before all others: one thread takes nothing else. */
    void first(Runnable call);

    /**
     * Runs the call, which ends a grant or a request, before the following: one thread takes nothing but these and the
     * first.
     */
    void ending(Runnable call);

    /** Runs the call before those that wait as routine. */
    void urgent(Runnable call);

    /** Runs the call when nothing urgent waits; takes only a part of the threads. */
    void routine(Runnable call);

    /** Interrupts what runs, drops what waits, and joins for at most {@code limit} of real time. */
    void close(Duration limit);
}
