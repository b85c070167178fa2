// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;

/** Ends threads of ours: real threads, hence real time, whatever clock the leases are on. */
final class Joins {

    private static final Logger LOG = System.getLogger(Joins.class.getName());
    private static final long STEP_MILLIS = 10;

    private Joins() {}

    /** Joins, and interrupts what has not ended when half of the time is over. Keeps the flag. */
    static void join(Thread thread, Duration limit) {
        boolean interrupted = Thread.interrupted();
        long end = System.nanoTime() + limit.toNanos() / 2;
        while (thread.isAlive() && end - System.nanoTime() > 0) {
            try {
                thread.join(Math.max(1, (end - System.nanoTime()) / 1_000_000));
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (thread.isAlive()) {
            interruptAndJoin(List.of(thread), limit.dividedBy(2));
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** Interrupts and joins; interrupts again while it waits, since library code may swallow one. Keeps the flag. */
    static void interruptAndJoin(List<Thread> threads, Duration limit) {
        boolean interrupted = Thread.interrupted();
        long stepsLeft = Math.max(1, limit.toMillis() / STEP_MILLIS);
        for (Thread thread : threads) {
            if (thread == Thread.currentThread()) {
                continue;
            }
            thread.interrupt();
            while (thread.isAlive() && stepsLeft > 0) {
                stepsLeft--;
                try {
                    thread.join(STEP_MILLIS);
                } catch (InterruptedException e) {
                    interrupted = true;
                }
                if (stepsLeft % 10 == 0) {
                    thread.interrupt();
                }
            }
            if (thread.isAlive()) {
                LOG.log(Level.WARNING, "The thread {0} did not end in time: its call ignores the interrupt", thread);
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
