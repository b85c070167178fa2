// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.spi.Deadline;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/** How many connections may be in use at once, and for what: one is kept for what renews or ends a grant. */
final class Lanes {

    /** Who asks for a connection. */
    enum Purpose {
        /** Whoever wants a lock, or wants to know something. */
        ASKING,
        /** A renewal or the end of a grant. */
        KEEPING
    }

    /** Guards the lanes, and what waits for one. */
    final ReentrantLock lock = new ReentrantLock();

    /** A lane has become free, or what was done on it has. */
    final Condition change = lock.newCondition();

    private final boolean apart;
    private int asking;
    private boolean keeping = true;

    /**
     * Makes lanes.
     *
     * @param asking how many there are beside the one that is kept
     * @param apart whether renewals and ends of grants have that one alone, since its connection is there for sure
     */
    Lanes(int asking, boolean apart) {
        this.asking = asking;
        this.apart = apart;
    }

    /** {@return what the lane is good for; null if none is free for that purpose} With {@link #lock} held. */
    @Nullable
    Purpose tryTake(Purpose purpose) {
        if (asking > 0 && serves(Purpose.ASKING, purpose)) {
            asking--;
            return Purpose.ASKING;
        }
        if (keeping && serves(Purpose.KEEPING, purpose)) {
            keeping = false;
            return Purpose.KEEPING;
        }
        return null;
    }

    /** {@return whether what is done on that lane may be for that purpose} */
    boolean serves(Purpose lane, Purpose purpose) {
        return lane == purpose || (purpose == Purpose.KEEPING && !apart);
    }

    /** {@return the lane; null if none was free in time} */
    @Nullable
    Purpose take(Purpose purpose, Deadline deadline) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            Purpose lane = tryTake(purpose);
            for (long left = deadline.nanos(); lane == null && left > 0; lane = tryTake(purpose)) {
                left = change.awaitNanos(left);
            }
            return lane;
        } finally {
            lock.unlock();
        }
    }

    /** Gives the lane back. */
    void give(Purpose lane) {
        lock.lock();
        try {
            if (lane == Purpose.ASKING) {
                asking++;
            } else {
                keeping = true;
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
