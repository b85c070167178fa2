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
 * A few daemon threads, started as they are needed. Routine calls leave three of them free, so that ten thousand
 * heartbeats, or a store that hangs in them, do not hold up a new request; all calls but those that renew or end a
 * grant leave one free, so that many who ask for locks cost nobody a lease; and all but those that renew another one,
 * so that many who give up do not, either.
 */
final class WorkerThreads implements Workers {

    static final int THREADS = 9;
    private static final int ENDING = THREADS - 1;
    private static final int ASKING = ENDING - 1;
    private static final int ROUTINE = ASKING - 1;

    /** What a thread runs: the later ones leave threads to those before. */
    private enum Kind {
        FIRST,
        ENDING,
        URGENT,
        ROUTINE
    }

    private record Call(Runnable work, Kind kind) {}

    private static final Logger LOG = System.getLogger(WorkerThreads.class.getName());

    private final String prefix;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition work = lock.newCondition();
    private final Deque<Runnable> first = new ArrayDeque<>();
    private final Deque<Runnable> ending = new ArrayDeque<>();
    private final Deque<Runnable> urgent = new ArrayDeque<>();
    private final Deque<Runnable> routine = new ArrayDeque<>();
    private final List<Thread> threads = new ArrayList<>();
    private int idle;
    private int routineRunning;
    private int urgentRunning;
    private int endingRunning;
    private boolean closed;

    WorkerThreads(String client) {
        this.prefix = "keyway-" + client + "-store-";
    }

    @Override
    public void first(Runnable call) {
        enqueue(first, call);
    }

    @Override
    public void ending(Runnable call) {
        enqueue(ending, call);
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
            ending.clear();
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
            int askingTakeable = Math.min(urgent.size() + routineTakeable, ASKING - asking());
            int othersTakeable = Math.min(ending.size() + askingTakeable, ENDING - endingRunning - asking());
            if (idle < first.size() + othersTakeable && threads.size() < THREADS) {
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
        if (endingRunning + asking() >= ENDING) {
            return null;
        }
        if (!ending.isEmpty()) {
            return new Call(ending.remove(), Kind.ENDING);
        }
        if (asking() >= ASKING) {
            return null;
        }
        if (!urgent.isEmpty()) {
            return new Call(urgent.remove(), Kind.URGENT);
        }
        return routine.isEmpty() || routineRunning >= ROUTINE ? null : new Call(routine.remove(), Kind.ROUTINE);
    }

    private int asking() {
        return urgentRunning + routineRunning;
    }

    private void count(Kind kind, int by) {
        switch (kind) {
            case FIRST -> {}
            case ENDING -> endingRunning += by;
            case URGENT -> urgentRunning += by;
            case ROUTINE -> routineRunning += by;
        }
    }
}
