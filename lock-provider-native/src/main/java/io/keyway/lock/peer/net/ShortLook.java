// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.util.concurrent.TimeUnit;

/**
 * Whether a thread that is about to wait for its sockets looks at them again and again for a moment before. To wake a
 * core that sleeps takes longer than most answers, and costs more at both ends than the moment does. But who shares a
 * core with the one that is to answer only holds that up, and who is asked rarely wastes the moment. So it is done
 * while that helps nearly always, and tried now and then. For one thread at a time.
 */
final class ShortLook {
    /** About what it takes to wake a core. */
    static final long NANOS = TimeUnit.MICROSECONDS.toNanos(25);

    private static final boolean ALONE = Runtime.getRuntime().availableProcessors() == 1;
    /** A moment in vain outweighs so many that were not. */
    private static final int IN_VAIN = 4;
    /** So many moments in vain, one after the other, end it, however well it went before. */
    private static final int MOST_IN_VAIN = 4;
    /** Then it is tried before each wait of that number. */
    private static final int TRIED_EVERY = 64;

    private int credit;
    private int waits;

    /** Whether it is to look now; {@link #ended} is called after it has. */
    boolean pays() {
        if (credit > 0) {
            return true;
        }
        return !ALONE && ++waits % TRIED_EVERY == 0;
    }

    /** @param found whether there was something */
    void ended(boolean found) {
        credit = found ? Math.min(credit + 1, MOST_IN_VAIN * IN_VAIN) : Math.max(0, credit - IN_VAIN);
    }
}
