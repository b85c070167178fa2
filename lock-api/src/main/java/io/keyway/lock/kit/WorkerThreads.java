// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * A few daemon threads, started as they are needed. Routine calls leave two of them free, so that ten thousand
 * heartbeats, or a store that hangs in them, do not hold up a new request; and all calls but those that renew or end a grant
 * leave one free, so that many who ask for locks cost nobody a lease.
 */
final class WorkerThreads implements Workers {

    static final int THREADS = 8;
    private static final int ROUTINE = THREADS - 2;
    private static final int ASKING = THREADS - 1;

    /** What a thread runs: the later ones leave threads to those before. */
    private enum Kind {
        FIRST,
        URGENT,
        ROUTINE
    }

    private record Call(Runnable work, Kind kind) {}

    private static final Logger LOG = System.getLogger(WorkerThreads.class.getName());

    private final String prefix;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<Runnable> first = new ArrayDeque<>();
    private final Deque<Runnable> urgent = new ArrayDeque<>();
    private final Deque<Runnable> routine = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private int idle;
    private int routineRunning;
    private int urgentRunning;
    private boolean closed;

    WorkerThreads(String client) {
        this.prefix = "keyway-" + client + "-store-";
    }

    @Override
    public void first(Runnable call) {
        enqueue(first, call);
    }

    @Override
    public void urgent(Runnable call) {
        enqueue(urgent, call);
    }

    @Override
    public void routine(Runnable call) {
        enqueue(routine, call);
    }

    @Override
    public void close(Duration limit) {
        List<Thread> running;
        lock.lock();
        try {
            closed = true;
            first.clear();
            urgent.clear();
            routine.clear();
            running = List.copyOf(threads);
            work.signalAll();
        } finally {
            lock.unlock();
        }
        Joins.interruptAndJoin(running, limit);
    }

    private void enqueue(Deque<Runnable> queue, Runnable call) {
        lock.lock();
        try {
            if (closed) {
                return;
            }
            queue.add(call);
            if (idle > 0) {
                work.signal();
            }
            int routineTakeable = Math.min(routine.size(), ROUTINE - routineRunning);
            int takeable =
                    first.size() + Math.min(urgent.size() + routineTakeable, ASKING - urgentRunning - routineRunning);
            if (idle < takeable && threads.size() < THREADS) {
                startOne();
            }
        } finally {
            lock.unlock();
        }
    }

    /** What waits goes to those that run, or waits for the next attempt to start one. */
    private void startOne() {
        Thread thread = new Thread(this::run, prefix + (threads.size() + 1));
        thread.setDaemon(true);
        try {
            thread.start();
            threads.add(thread);
        } catch (OutOfMemoryError e) {
            LOG.log(Level.ERROR, "No thread could be started for the calls of " + prefix + "*", e);
        }
    }

    private void run() {
        Call call = null;
        while (true) {
            lock.lock();
            try {
                if (call != null) {
                    count(call.kind(), -1);
                }
                call = take();
                if (call == null) {
                    return;
                }
            } finally {
                lock.unlock();
            }
            try {
                call.work().run();
            } catch (RuntimeException | Error e) {
                LOG.log(Level.ERROR, "A call of the store failed in an unexpected way; the others go on", e);
            }
        }
    }

    private @Nullable Call take() {
        while (!closed) {
            Call call = next();
            if (call != null) {
                count(call.kind(), 1);
                return call;
            }
            idle++;
            try {
                work.awaitUninterruptibly();
            } finally {
                idle--;
            }
        }
        return null;
    }

    private @Nullable Call next() {
        if (!first.isEmpty()) {
            return new Call(first.remove(), Kind.FIRST);
        }
        if (urgentRunning + routineRunning >= ASKING) {
            return null;
        }
        if (!urgent.isEmpty()) {
            return new Call(urgent.remove(), Kind.URGENT);
        }
        return routine.isEmpty() || routineRunning >= ROUTINE ? null : new Call(routine.remove(), Kind.ROUTINE);
    }

    private void count(Kind kind, int by) {
        switch (kind) {
            case FIRST -> {}
            case URGENT -> urgentRunning += by;
            case ROUTINE -> routineRunning += by;
        }
    }
}
