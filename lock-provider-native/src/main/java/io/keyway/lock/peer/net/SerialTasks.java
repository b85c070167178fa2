// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tasks that run one at a time, in their order, on the threads that come along: one that finds another at it leaves its
 * task to that one, and nobody waits for the exclusion. What one task has done the next one sees.
 */
final class SerialTasks {
    private static final Logger LOG = LoggerFactory.getLogger(SerialTasks.class);
    private static final VarHandle RUNNER;

    static {
        try {
            RUNNER = MethodHandles.lookup().findVarHandle(SerialTasks.class, "runner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final ConcurrentLinkedQueue<Runnable> queue = new ConcurrentLinkedQueue<>();
    /** Who runs them; null if nobody does. Set back by a plain write, which needs no stack. */
    private volatile @Nullable Thread runner;
    /** Ran out of stack, and runs again before all others. */
    private volatile @Nullable Runnable urgent;
    /** Which one that is, until it has run. Of the tasks. */
    private @Nullable Runnable again;

    /** Queues a task; whoever does calls {@link #drain} next, unless it is itself a task. */
    void add(Runnable task) {
        queue.add(task);
    }

    boolean isEmpty() {
        return urgent == null && queue.isEmpty();
    }

    /** Whether that thread, the current one, is in a task. */
    boolean runsOn(Thread me) {
        return runner == me;
    }

    /**
     * Runs all that is queued, unless another thread does.
     *
     * @param me the current thread, which is in no task
     * @param last whether it runs again itself what it has too little stack for
     * @return false if another thread has to come along, since this one has too little stack left
     */
    boolean drain(Thread me, boolean last) {
        // Who has run the tasks looks once more after saying that it does not any longer: nothing is left behind.
        while (!isEmpty() && RUNNER.compareAndSet(this, null, me)) {
            boolean goesOn = true;
            try {
                for (Runnable task = next(); task != null; task = goesOn ? next() : null) {
                    goesOn = tried(task) || last;
                }
            } finally {
                runner = null;
            }
            if (!goesOn) {
                return false;
            }
        }
        return true;
    }

    private @Nullable Runnable next() {
        Runnable first = urgent;
        if (first != null) {
            urgent = null;
            return first;
        }
        return queue.poll();
    }

    /** What goes wrong is no matter of the thread that happens to run the task; false if it is to run again. */
    private boolean tried(Runnable task) {
        try {
            task.run();
            again = again == task ? null : again;
        } catch (StackOverflowError e) {
            if (again != task) {
                again = task;
                urgent = task;
                return false;
            }
            again = null;
            LOG.error("a task of a client failed twice", e);
        } catch (RuntimeException | Error e) {
            LOG.error("a task of a client failed", e);
        }
        return true;
    }
}
