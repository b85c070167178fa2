// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.spi.VirtualThreads;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Which of the threads that wait reads the sockets of a client: one at a time. The others follow in the order in which
 * they came, and whoever leaves the role gives it to the first of them whose outcome is not there yet: in a queue for
 * one lock that is the next to be granted, which then reads its own grant.
 *
 * <p>One thread is told what an idle client hears ({@link #takeIfIdle}); it gives the role away when somebody follows.
 */
final class ReaderRole {
    /** A thread that waits for an outcome. It stops itself only as {@link #at} says. */
    static final class Waiting implements BiConsumer<Object, Throwable> {
        static final int RUNNING = 0;
        static final int SELECTING = 1;
        static final int PARKED = 2;

        final Thread thread;
        /** False for a virtual thread: a select would keep its carrier. */
        final boolean mayRead;

        private final Runnable wakeUp;
        private final @Nullable CompletableFuture<?> outcome;

        /** What another thread has to do that has news: written before the thread looks for news once more. */
        volatile int at = RUNNING;

        /** It has the role. */
        volatile boolean reads;

        /** It waits no longer, and has left or is about to. */
        volatile boolean over;

        private @Nullable Waiting before;
        private @Nullable Waiting after;
        private boolean follows;

        /**
         * The current thread, or one that waits for nothing.
         *
         * @param outcome null for the thread that reads while nobody waits
         * @param wakeUp ends the select of whoever reads
         */
        Waiting(Thread thread, @Nullable CompletableFuture<?> outcome, Runnable wakeUp) {
            this(thread, !VirtualThreads.isVirtual(thread), outcome, wakeUp);
        }

        Waiting(Thread thread, boolean mayRead, @Nullable CompletableFuture<?> outcome, Runnable wakeUp) {
            this.thread = thread;
            this.mayRead = mayRead;
            this.outcome = outcome;
            this.wakeUp = wakeUp;
        }

        boolean done() {
            return outcome != null && outcome.isDone();
        }

        /** The outcome is there. */
        @Override
        public void accept(@Nullable Object value, @Nullable Throwable failure) {
            if (Thread.currentThread() != thread) {
                wake();
            }
        }

        /** Makes the thread look for news. From any thread, after the news. */
        void wake() {
            switch (at) {
                case SELECTING -> wakeUp.run();
                case PARKED -> LockSupport.unpark(thread);
                default -> {
                    // It looks by itself.
                }
            }
        }

        /** Waits until it is woken or that time is over, unless there is news already. Its own thread. */
        void park(long nanos) {
            at = PARKED;
            if (!done() && !reads) {
                LockSupport.parkNanos(this, nanos);
            }
            at = RUNNING;
        }
    }

    private volatile @Nullable Waiting reader;
    private volatile @Nullable Waiting first;
    private @Nullable Waiting last;
    /** How often it was taken by a thread that waits for an outcome. */
    private long takes;
    /** Of them, those that wait now and cannot read. */
    private int others;
    /** Somebody came while the role was taken. */
    private boolean followed;
    /** Who reads while nobody waits sleeps until the role is free. */
    private @Nullable Waiting sleeper;

    /** A thread begins to wait: it gets the role if that is free, or follows. */
    void enter(Waiting waiting) {
        heal();
        Waiting awakened = null;
        synchronized (this) {
            if (!waiting.mayRead) {
                others++;
                awakened = reader == null ? awaken() : null;
            } else if (reader == null) {
                give(waiting);
            } else {
                followed = true;
                append(waiting);
            }
        }
        unpark(awakened);
    }

    /** A thread has waited; if it had the role, the next one gets it. */
    void leave(Waiting waiting) {
        Waiting next = null;
        Waiting awakened = null;
        synchronized (this) {
            if (!waiting.mayRead) {
                others--;
            } else if (reader == waiting) {
                next = release(waiting);
                awakened = next == null ? awaken() : null;
            } else {
                remove(waiting);
            }
        }
        if (next != null) {
            next.wake();
        }
        unpark(awakened);
    }

    /** Leaves for a thread that could not, having no stack left. */
    void heal() {
        Waiting holder = reader;
        if (holder != null && holder.over) {
            leave(holder);
        }
    }

    private @Nullable Waiting release(Waiting waiting) {
        reader = null;
        waiting.reads = false;
        Waiting next = first;
        while (next != null && next.done()) {
            next = next.after; // it goes by itself
        }
        if (next != null) {
            remove(next);
            give(next);
        }
        return next;
    }

    private void give(Waiting waiting) {
        reader = waiting;
        waiting.reads = true;
        takes++;
    }

    /**
     * Whether a thread that waits has the role, and runs: it looks for tasks before it selects, and after it has left
     * the role to nobody. So a task that was given before this was asked is seen. One that has still to wake up may
     * take its time, and is not relied on.
     */
    boolean looksForTasks() {
        Waiting holder = reader;
        return holder != null && holder.outcome != null && holder.at == Waiting.RUNNING && !holder.over;
    }

    /** Nobody has the role. */
    boolean free() {
        return reader == null;
    }

    /** Nobody who could read waits behind the reader. */
    boolean noFollowers() {
        return first == null;
    }

    /** How often threads that wait have had it. */
    synchronized long takes() {
        return takes;
    }

    /**
     * Takes the role for a thread that waits for nothing, if it is free and nobody has had it since {@link #takes} was
     * {@code since}; or at once for those that wait and cannot read.
     */
    synchronized boolean takeIfIdle(Waiting idle, long since) {
        if (reader != null || (takes != since && others <= 0)) {
            return false;
        }
        reader = idle;
        idle.reads = true;
        followed = false;
        return true;
    }

    /** Somebody who can read has come since the role was taken. */
    synchronized boolean followed() {
        return followed;
    }

    /**
     * True if the same thread has had the role since {@link #takes} was {@code since}: then whoever leaves it free
     * unparks that one.
     */
    synchronized boolean sleepUntilFree(Waiting idle, long since) {
        boolean same = reader != null && takes == since;
        sleeper = same ? idle : null;
        return same;
    }

    /** Still asleep. */
    synchronized boolean sleeps() {
        return sleeper != null;
    }

    /** Who takes the role if nobody else does: at once for those who cannot. */
    private @Nullable Waiting awaken() {
        Waiting awakened = sleeper;
        sleeper = null;
        return awakened;
    }

    private static void unpark(@Nullable Waiting waiting) {
        if (waiting != null) {
            LockSupport.unpark(waiting.thread);
        }
    }

    private void append(Waiting waiting) {
        waiting.follows = true;
        waiting.before = last;
        if (last == null) {
            first = waiting;
        } else {
            last.after = waiting;
        }
        last = waiting;
    }

    private void remove(Waiting waiting) {
        if (!waiting.follows) {
            return;
        }
        waiting.follows = false;
        Waiting before = waiting.before;
        Waiting after = waiting.after;
        if (before == null) {
            first = after;
        } else {
            before.after = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.before = before;
        }
        waiting.before = null;
        waiting.after = null;
    }
}
