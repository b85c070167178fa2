// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.check;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.locks.LockSupport;

/**
 * Watches whether this process is given the processor: a thread that wants to run every few milliseconds notes when it
 * came late.
 */
final class StallMeter implements AutoCloseable {
    private static final long BEAT = 5_000_000L;
    private static final long WORTH_NOTING = 25_000_000L;
    private static final int KEPT = 10_000;

    private record Stall(long at, long late) {}

    private final ArrayDeque<Stall> stalls = new ArrayDeque<>();
    private final Thread thread;
    private volatile boolean closed;

    StallMeter() {
        thread = new Thread(this::run, "tck-stall-meter");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        long last = System.nanoTime();
        while (!closed) {
            LockSupport.parkNanos(BEAT);
            long now = System.nanoTime();
            long late = now - last - BEAT;
            if (late > WORTH_NOTING) {
                synchronized (stalls) {
                    stalls.add(new Stall(now, late));
                    if (stalls.size() > KEPT) {
                        stalls.poll();
                    }
                }
            }
            last = now;
        }
    }

    /** The longest that this process stood still since that reading of the machine's clock. */
    Duration worstSince(long nanoTime) {
        synchronized (stalls) {
            return Duration.ofNanos(stalls.stream()
                    .filter(stall -> stall.at() - nanoTime >= 0)
                    .mapToLong(Stall::late)
                    .max()
                    .orElse(0));
        }
    }

    /**
     * Whether more processes want to run than the machine has processors, in the last minute's mean; false where the
     * system does not say.
     */
    static boolean machineIsBusy() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage()
                > Runtime.getRuntime().availableProcessors();
    }

    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
    }
}
