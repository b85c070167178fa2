// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import java.util.concurrent.locks.ReentrantReadWriteLock;

/** Lets users of one process finish what they do, and then stand still for a while. */
final class Pause {
    private final ReentrantReadWriteLock uses = new ReentrantReadWriteLock(true);
    private volatile boolean wanted;

    /** Before each use. */
    void enter() throws InterruptedException {
        uses.readLock().lockInterruptibly();
    }

    void leave() {
        uses.readLock().unlock();
    }

    /** Whether long uses should end now. */
    boolean wanted() {
        return wanted;
    }

    /** Returns when nobody uses anything. */
    void begin() throws InterruptedException {
        wanted = true;
        uses.writeLock().lockInterruptibly();
    }

    void end() {
        wanted = false;
        uses.writeLock().unlock();
    }
}
