// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.process;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;

/**
 * How long tests wait on the machine's clock, where they have to. Each time is named as it is for an idle machine, and
 * is longer on one that is slow or busy. There are two factors, since they cost differently. A limit is waited for by
 * what fails, so it grows with the load of the machine. A lease is waited for by each test that lets one expire, so it
 * is longer only where the machine is slow, or has more to do than a build of its own.
 */
public final class Patience {
    private static final double MOST = 20;
    private static final double MOST_OF_LEASES = 5;
    /** So many threads for each processor want to run, at the most, while a build is alone on a machine. */
    private static final double OF_A_BUILD = 8;

    private static final int STEPS = 2_000_000;

    /** The time in which a processor of 2020 makes those steps, compiled by the first compiler. */
    private static final double FAST_NANOS = 4_000_000;

    private static final long LOOK_AGAIN_NANOS = 250_000_000L;
    private static final double SLOWNESS = slowness();

    private static double highest = 1;
    private static long looked = System.nanoTime() - LOOK_AGAIN_NANOS;

    private Patience() {}

    /** How many times longer this machine takes for work than an idle, fast one: 1 to 20. It never falls. */
    public static synchronized double factor() {
        long now = System.nanoTime();
        if (now - looked >= LOOK_AGAIN_NANOS) {
            looked = now;
            double load = Math.max(1, meanLoad() / Runtime.getRuntime().availableProcessors());
            highest = Math.max(highest, Math.min(MOST, SLOWNESS * load));
        }
        return highest;
    }

    /** A limit of that much time of an idle machine. */
    public static Duration of(Duration idle) {
        return Duration.ofMillis((long) Math.ceil(idle.toMillis() * factor()));
    }

    /** A limit of so many seconds of an idle machine. */
    public static long seconds(long idle) {
        return (long) Math.ceil(idle * factor());
    }

    /** A lease, or another term that tests wait for, which is to be held for as long as the test works. */
    public static Duration lease(Duration idle) {
        return Duration.ofMillis((long) Math.ceil(idle.toMillis() * leaseFactor()));
    }

    /** The same in seconds. */
    public static long leaseSeconds(long idle) {
        return (long) Math.ceil(idle * leaseFactor());
    }

    private static double leaseFactor() {
        return leaseFactor(SLOWNESS, meanLoad(), Runtime.getRuntime().availableProcessors());
    }

    static double leaseFactor(double slowness, double meanLoad, int processors) {
        return Math.min(MOST_OF_LEASES, slowness * Math.max(1, meanLoad / (OF_A_BUILD * processors)));
    }

    /** The fastest of a few rounds of a fixed work, by the processor's time: others who run do not count. */
    private static double slowness() {
        ThreadMXBean threads = ManagementFactory.getThreadMXBean();
        if (!threads.isCurrentThreadCpuTimeSupported()) {
            return 1;
        }
        long best = Long.MAX_VALUE;
        for (int round = 0; round < 3; round++) {
            long before = threads.getCurrentThreadCpuTime();
            long value = work();
            long took = threads.getCurrentThreadCpuTime() - before;
            best = value == 0 ? best : Math.min(best, took);
        }
        return Math.max(1, best / FAST_NANOS);
    }

    private static long work() {
        long value = 88_172_645_463_325_252L;
        for (int step = 0; step < STEPS; step++) {
            value ^= value << 13;
            value ^= value >>> 7;
            value ^= value << 17;
        }
        return value;
    }

    /** Of a minute: the threads that one test starts at once are no load. Negative where nobody says. */
    private static double meanLoad() {
        return ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
    }
}
