// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.PriorityQueue;

/** A clock that stands still until it is moved; timers run on the thread that moves it, each at its own time. */
public final class ManualTime implements TimeSource {

    private final PriorityQueue<Timer> timers = new PriorityQueue<>();
    private long now = Long.MAX_VALUE - 1_000_000_000L;
    private long sequence;

    /** Makes a clock that is about to overflow: who compares times without taking their difference is found. */
    public ManualTime() {}

    private final class Timer implements Comparable<Timer>, Scheduled {
        final long at;
        final long order;
        final Runnable task;

        Timer(long at, long order, Runnable task) {
            this.at = at;
            this.order = order;
            this.task = task;
        }

        @Override
        public int compareTo(Timer other) {
            int byTime = Long.signum(at - other.at);
            return byTime != 0 ? byTime : Long.compare(order, other.order);
        }

        @Override
        public void cancel() {
            synchronized (ManualTime.this) {
                timers.remove(this);
            }
        }
    }

    @Override
    public boolean manual() {
        return true;
    }

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public synchronized Scheduled at(long atNanos, Runnable task) {
        Timer timer = new Timer(atNanos, sequence++, task);
        timers.add(timer);
        return timer;
    }

    /** Moves the clock on, from timer to timer. */
    public void advance(Duration by) {
        long end = nanoTime() + by.toNanos();
        while (true) {
            Runnable due;
            synchronized (this) {
                Timer first = timers.peek();
                if (first == null || first.at - end > 0) {
                    now = end;
                    return;
                }
                timers.poll();
                if (first.at - now > 0) {
                    now = first.at;
                }
                due = first.task;
            }
            due.run();
        }
    }

    /** Moves the clock as a suspended process sees it: timers are late, and run when it goes on. */
    public void leap(Duration by) {
        synchronized (this) {
            now += by.toNanos();
        }
        advance(Duration.ZERO);
    }

    /** How many tasks are due later. */
    public synchronized int armed() {
        return timers.size();
    }
}
