// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli;

import io.keyway.lock.cli.supervisor.CommandClock;
import io.keyway.lock.cli.supervisor.Supervision;
import java.time.Duration;

/**
 * Tells the supervisor how long the lease is good for. A lease says nothing when it is extended, so it is asked sixteen
 * times per ttl: what the supervisor knows is at most that much too early, and never too late.
 */
final class LeaseFeed implements Runnable, AutoCloseable {
    private static final long SHORTEST_NANOS = 5_000_000;
    private static final long LONGEST_NANOS = 1_000_000_000;

    private final HeldLocks lease;
    private final Supervision supervision;
    private final CommandClock clock;
    private final long graceNanos;
    private final long periodNanos;
    private final Thread thread = new Thread(this, "keyway-lease-feed");
    private volatile long told;
    private volatile long lookedAt;
    private volatile long longestPause;
    private volatile boolean over;

    private LeaseFeed(HeldLocks lease, Supervision supervision, CommandClock clock) {
        this.lease = lease;
        this.supervision = supervision;
        this.clock = clock;
        this.graceNanos = grace(lease).toNanos();
        this.periodNanos =
                Math.max(SHORTEST_NANOS, Math.min(LONGEST_NANOS, lease.ttl().toNanos() / 16));
        this.lookedAt = clock.nanoTime();
        this.told = lookedAt - periodNanos;
    }

    /** How long a command may take to end by itself once its lease has expired. */
    static Duration grace(HeldLocks lease) {
        return lease.ttl().dividedBy(8);
    }

    /** The supervisor has been told once when this returns. */
    static LeaseFeed begin(HeldLocks lease, Supervision supervision, CommandClock clock) {
        LeaseFeed feed = new LeaseFeed(lease, supervision, clock);
        feed.tell();
        feed.thread.setDaemon(true);
        feed.thread.start();
        return feed;
    }

    @Override
    public void run() {
        try {
            while (lease.isHeld()) {
                clock.pause(periodNanos);
                tell();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            over = true;
        }
    }

    private void tell() {
        // Read before the lease is asked, so that the sum is early if this thread is held up in between.
        long now = clock.nanoTime();
        longestPause = Math.max(longestPause, now - lookedAt);
        lookedAt = now;
        long until = now + lease.remaining().toNanos();
        if (until - told > periodNanos / 2) {
            told = until;
            supervision.leaseUntil(until, graceNanos);
        }
    }

    /** Whether the lease has come to the end that was known last: nobody has extended it since. */
    boolean ranOut() {
        return clock.nanoTime() - told >= 0;
    }

    /**
     * The longest time for which this process did not run, as far as it can be seen here; much more than a period only
     * if it was stopped.
     */
    Duration stoodStill() {
        long last = over ? 0 : clock.nanoTime() - lookedAt;
        return Duration.ofNanos(Math.max(longestPause, last));
    }

    @Override
    public void close() {
        thread.interrupt();
    }
}
