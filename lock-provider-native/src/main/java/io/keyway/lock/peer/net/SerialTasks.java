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

    /** More calls than it takes to get to a task. */
    private static final int FRAMES = 64;
    /** So many tasks, most of them of others, are run by a thread that has something else to do. */
    private static final int SHARE = 64;

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

    /** Something is queued, and nobody is at it. */
    boolean left() {
        return !isEmpty() && runner == null;
    }

    /** Whether that thread, the current one, is in a task. */
    boolean runsOn(Thread me) {
        return runner == me;
    }

    /**
     * Runs what is queued, unless another thread does.
     *
     * @param me the current thread, which is in no task
     * @param last whether it runs again itself what it has too little stack for, and all that others give meanwhile
     * @return false if another thread has to come along, since this one has too little stack left, or has run its share
     */
    boolean drain(Thread me, boolean last) {
        // Who has run the tasks looks once more after saying that it does not any longer: nothing is left behind.
        if (!last && !hasStack()) {
            return false;
        }
        for (int share = SHARE; !isEmpty() && RUNNER.compareAndSet(this, null, me); ) {
            boolean goesOn = true;
            try {
                for (Runnable task = next(); task != null; task = goesOn ? next() : null) {
                    goesOn = (tried(task) && --share > 0) || last;
                }
            } finally {
                runner = null;
            }
            if (!goesOn) {
                return isEmpty();
            }
        }
        return true;
    }

    /** Whether the queue can be emptied here at all: a task that is taken from it and does not begin is lost. */
    private static boolean hasStack() {
        try {
            return depth(FRAMES) == FRAMES;
        } catch (StackOverflowError e) {
            return false;
        }
    }

    private static int depth(int frames) {
        return frames == 0 ? 0 : depth(frames - 1) + 1;
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
            complain("a task of a client failed twice", e);
        } catch (Throwable e) {
            complain("a task of a client failed", e);
        }
        return true;
    }

    /** Whoever logs may fail as well, for lack of memory or by its own fault: the others are served all the same. */
    static void complain(String what, Throwable why) {
        try {
            LOG.error(what, why);
        } catch (Throwable e) {
            // Nothing is left to say it with.
            return;
        }
    }
}
