// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.spi.TimeSource;
import java.time.Duration;
import java.util.PriorityQueue;
import java.util.concurrent.locks.ReentrantLock;

/** A clock that stands still until it is moved; timers run on the thread that moves it, each at its own time. */
public final class ManualTime implements TimeSource {

    private final ReentrantLock lock = new ReentrantLock();
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
            lock.lock();
            try {
                timers.remove(this);
            } finally {
                lock.unlock();
            }
        }
    }

    @Override
    public boolean manual() {
        return true;
    }

    @Override
    public long nanoTime() {
        lock.lock();
        try {
            return now;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        lock.lock();
        try {
            Timer timer = new Timer(atNanos, sequence++, task);
            timers.add(timer);
            return timer;
        } finally {
            lock.unlock();
        }
    }

    /** Moves the clock on, from timer to timer. */
    public void advance(Duration by) {
        long end = nanoTime() + by.toNanos();
        while (step(end)) {
            // Each timer at its own time.
        }
    }

    /**
     * As {@link #advance(Duration)}; {@code deliver} waits, before each timer and in the end, for what was caused so
     * far.
     */
    public void advance(Duration by, Runnable deliver) {
        long end = nanoTime() + by.toNanos();
        boolean more = true;
        while (more) {
            deliver.run();
            more = step(end);
        }
        // What listeners asked for at the last moment happens at that moment, too.
        deliver.run();
        advance(Duration.ZERO);
    }

    /** Moves the clock as a suspended process sees it: timers are late, and run when it goes on. */
    public void leap(Duration by) {
        lock.lock();
        try {
            now += by.toNanos();
        } finally {
            lock.unlock();
        }
        advance(Duration.ZERO);
    }

    /** Moves the clock to the next timer, and runs it; or to {@code end}, and is false, if none is due by then. */
    boolean step(long end) {
        Runnable due;
        lock.lock();
        try {
            Timer first = timers.peek();
            if (first == null || first.at - end > 0) {
                if (end - now > 0) {
                    now = end;
                }
                return false;
            }
            timers.poll();
            if (first.at - now > 0) {
                now = first.at;
            }
            due = first.task;
        } finally {
            lock.unlock();
        }
        due.run();
        return true;
    }

    /** Returns how many tasks are due later. */
    public int armed() {
        lock.lock();
        try {
            return timers.size();
        } finally {
            lock.unlock();
        }
    }
}
