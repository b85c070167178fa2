// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.TimeSource;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.ReentrantLock;

/** The loops that a backend asked for: one daemon thread each, run again with back-off when they end or fail. */
final class BackgroundLoops {

    private static final Logger LOG = System.getLogger(BackgroundLoops.class.getName());
    private static final long FIRST_PAUSE = Duration.ofMillis(50).toNanos();
    private static final long LAST_PAUSE = Duration.ofSeconds(2).toNanos();
    private static final long LONG_RUN = Duration.ofSeconds(10).toNanos();

    private final String prefix;
    private final TimeSource time;
    private final ReentrantLock lock = new ReentrantLock();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    BackgroundLoops(String client, TimeSource time) {
        this.prefix = "keyway-" + client + "-";
        this.time = time;
    }

    void start(String name, LockBackend.Loop loop) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            Thread thread = new Thread(() -> run(name, loop), prefix + name);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        } finally {
            lock.unlock();
        }
    }

    void close(Duration limit) {
        List<Thread> running;
        lock.lock();
        try {
            closed = true;
            running = List.copyOf(threads);
        } finally {
            lock.unlock();
        }
        Joins.interruptAndJoin(running, limit);
    }

    private void run(String name, LockBackend.Loop loop) {
        long pause = FIRST_PAUSE;
        boolean told = false;
        while (!closed) {
            long begun = time.nanoTime();
            try {
                loop.run();
            } catch (InterruptedException e) {
                if (closed) {
                    return;
                }
            } catch (Throwable e) {
                if (!closed) {
                    if (!told) {
                        // Once for each outage.
                        LOG.log(Level.WARNING, "The loop " + prefix + name + " failed and is run again: " + e);
                        told = true;
                    }
                    LOG.log(Level.DEBUG, "The loop " + prefix + name + " failed", e);
                }
            }
            boolean ranLong = time.nanoTime() - begun > LONG_RUN;
            told &= !ranLong;
            pause = ranLong ? FIRST_PAUSE : Math.min(LAST_PAUSE, 2 * pause);
            if (!pause(pause)) {
                return;
            }
        }
    }

    private boolean pause(long nanos) {
        CountDownLatch over = new CountDownLatch(1);
        TimeSource.Scheduled timer = time.at(time.nanoTime() + nanos, over::countDown);
        try {
            over.await();
            return true;
        } catch (InterruptedException e) {
            timer.cancel();
            return !closed;
        }
    }
}
