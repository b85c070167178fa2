// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockEvent;
import io.keyway.lock.LockListener;
import io.keyway.lock.Subscription;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Delivers events to listeners, and completes the users' futures, on the event executor: user code never runs on a
 * thread of an engine. Listeners see events one at a time and in order, from a bounded queue; what does not fit is
 * counted and logged, because a slow listener must not hold up a lock. A future is never dropped.
 */
final class EventDispatcher {

    static final int CAPACITY = 8192;

    private static final Logger LOG = System.getLogger(EventDispatcher.class.getName());
    private static final int TURN = 256;

    private final Executor executor;
    private final List<LockListener> listeners = new CopyOnWriteArrayList<>();
    private final ReentrantLock lock = new ReentrantLock();
    private final Queue<LockEvent> queue = new ArrayDeque<>();
    private final Set<Thread> inside = ConcurrentHashMap.newKeySet();
    private final Condition settled = lock.newCondition();
    private boolean scheduled;
    private int completing;
    private boolean closed;
    private long dropped;

    EventDispatcher(Executor executor) {
        this.executor = executor;
    }

    Subscription add(LockListener listener) {
        // Wrapped, so that one listener added twice is two subscriptions.
        LockListener subscriber = event -> listener.onEvent(event);
        listeners.add(subscriber);
        return () -> listeners.remove(subscriber);
    }

    void emit(LockEvent event) {
        if (listeners.isEmpty()) {
            return;
        }
        boolean schedule;
        lock.lock();
        try {
            if (closed) {
                return;
            }
            if (queue.size() >= CAPACITY) {
                drop(1);
                return;
            }
            queue.add(event);
            schedule = !scheduled;
            scheduled = true;
        } finally {
            lock.unlock();
        }
        if (schedule) {
            schedule();
        }
    }

    long dropped() {
        lock.lock();
        try {
            return dropped;
        } finally {
            lock.unlock();
        }
    }

    /** Runs {@code task}, which completes a future of the user, on the event executor; here if that one has ended. */
    void complete(Runnable task) {
        count(1);
        AtomicBoolean begun = new AtomicBoolean();
        Runnable counted = () -> {
            if (begun.compareAndSet(false, true)) {
                try {
                    inside(task);
                } finally {
                    count(-1);
                }
            }
        };
        try {
            executor.execute(counted);
        } catch (RuntimeException | Error e) {
            // Whatever an executor of the application throws, and whatever it does later with what it has.
            LOG.log(Level.DEBUG, "The event executor refuses tasks; a future is completed by the caller", e);
            counted.run();
        }
    }

    /** The calling thread is delivering an event or completing a future of this client. */
    boolean isInside() {
        return inside.contains(Thread.currentThread());
    }

    /** Waits until nothing is left to tell, at most {@code limit} of real time; false if it is not, or from inside. */
    boolean flush(Duration limit) {
        if (isInside()) {
            return false;
        }
        boolean interrupted = false;
        lock.lock();
        try {
            long left = limit.toNanos();
            while (scheduled || completing > 0) {
                if (left <= 0) {
                    return false;
                }
                left = settled.awaitNanos(left);
            }
            return true;
        } catch (InterruptedException e) {
            interrupted = true;
            return false;
        } finally {
            lock.unlock();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Delivers nothing more. */
    void close() {
        lock.lock();
        try {
            closed = true;
            queue.clear();
        } finally {
            lock.unlock();
        }
        listeners.clear();
    }

    private void schedule() {
        try {
            executor.execute(() -> inside(this::deliver));
        } catch (RuntimeException | Error e) {
            lock.lock();
            try {
                drop(queue.size());
                queue.clear();
                scheduled = false;
                settled.signalAll();
            } finally {
                lock.unlock();
            }
        }
    }

    /** One turn of the executor; a long queue takes several, so that a shared executor is not monopolized. */
    private void deliver() {
        for (int i = 0; i < TURN; i++) {
            LockEvent event;
            lock.lock();
            try {
                event = queue.poll();
                if (event == null) {
                    scheduled = false;
                    settled.signalAll();
                    return;
                }
            } finally {
                lock.unlock();
            }
            for (LockListener listener : listeners) {
                tell(listener, event);
            }
        }
        schedule();
    }

    private static void tell(LockListener listener, LockEvent event) {
        try {
            listener.onEvent(event);
        } catch (RuntimeException | Error e) {
            LOG.log(Level.WARNING, "A listener failed on " + event, e);
        }
    }

    private void inside(Runnable task) {
        Thread thread = Thread.currentThread();
        boolean entered = inside.add(thread);
        try {
            task.run();
        } finally {
            if (entered) {
                inside.remove(thread);
            }
        }
    }

    private void count(int change) {
        lock.lock();
        try {
            completing += change;
            settled.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void drop(int count) {
        if (dropped == 0 && count > 0) {
            LOG.log(Level.WARNING, "Listeners do not keep up: events are dropped from now on (queue of {0})", CAPACITY);
        }
        dropped += count;
    }
}
