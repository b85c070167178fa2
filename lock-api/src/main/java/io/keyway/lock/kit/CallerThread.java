// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.util.concurrent.atomic.AtomicReference;

/** A thread that waits for a call of the store and can as well make it: the first call that is offered, or none. */
final class CallerThread {

    private static final int SPINS = 200;
    private static final Runnable LEFT = CallerThread::left;

    private final AtomicReference<Runnable> call = new AtomicReference<>();

    /** Hands it the call; false if it has one, or does not wait any more. */
    boolean offer(Runnable work) {
        return call.compareAndSet(null, work);
    }

    /**
     * Makes the call that is offered, now or in a moment; from then on none is accepted. On the lent thread, once. The
     * moment is for another thread that is about to decide on the call: a few steps of the machine.
     */
    void work() {
        for (int spins = 0; call.get() == null && spins < SPINS; spins++) {
            Thread.onSpinWait();
        }
        Runnable offered = call.getAndSet(LEFT);
        if (offered != null) {
            offered.run();
        }
    }

    /** Stands where no call is accepted any more. */
    private static void left() {}
}
