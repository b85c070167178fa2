// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.peer.net.ReaderRole.Waiting;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinWorkerThread;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the cells of one client, and its sockets, on the threads of its users: who asks runs the turn and writes, who
 * waits reads. So while requests follow each other closely, an answer reaches the thread that asked without a switch
 * of threads in the client.
 *
 * <p><em>Turns.</em> Tasks run one at a time. Whoever gives one runs all that are queued, unless somebody does already;
 * then that thread runs it, and so does a reader that is about to look for more: what several threads ask for while one
 * of them is busy leaves in one turn and one write. Nobody waits for this exclusion. A task for which a thread has too
 * little stack left runs again on another one.
 *
 * <p><em>Reading.</em> One thread at a time has the {@link ReaderRole}: it selects, until its own outcome is there, and
 * has what came read by a task. Other threads that wait follow, parked. While no thread of a user waits, one of this
 * object's own reads: what members send unasked is heard by it, at most a millisecond or so late. It takes the role
 * when no user has had it for that long, and keeps it until it has read something after a user came to wait: who asks
 * after a pause of some 2 ms gets its answer from it, by a second switch. While users read it looks each millisecond
 * whether they still do. Virtual threads never read. A thread that waits alone looks for a moment before it lets its
 * core sleep ({@link ShortLook}), and so do the threads of members.
 *
 * <p><em>Time.</em> An alarm is no task of a timer: the thread that selects selects no longer than until the next one.
 * What is set meanwhile for an earlier time ends the select; while requests come it is a short one anyhow, since
 * each request sets an alarm, and none that is nearer.
 *
 * <p><b>Invariants.</b> One task runs at any time, and what is given while one runs is run, by whoever runs it, before
 * that thread goes on. One thread selects at any time, and while anything is to be read or is due, one does or is about
 * to.
 *
 * <p>An interrupt of a thread that has the role ends its select, and no more: the channels do not block, and those that
 * do not are not closed by an interrupt.
 */
public final class ClientLoop implements CellExecutor, TimeSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(ClientLoop.class);
    /** After that long without a reader the thread of this object becomes it. */
    private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
    /** How long a select lasts while requests come; no request wants to be looked at again before that. */
    private static final long SHORT_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private static final long ACTIVE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long NEVER = AlarmQueue.NEVER;

    private final String name;
    private final TimeSource clock;
    private final long graceNanos;
    private final long shortNanos;
    private final long origin = System.nanoTime();
    private final ReaderRole role = new ReaderRole();
    private final SerialTasks tasks = new SerialTasks();
    private final AlarmQueue alarms = new AlarmQueue();
    /** When the last task was given by somebody who asks. */
    private volatile long lastAsked = -ACTIVE_NANOS;

    private volatile @Nullable SocketReader reader;
    private volatile @Nullable Thread own;
    private volatile boolean closed;

    /**
     * A loop that has opened nothing and started no thread.
     *
     * @param name of the thread that reads while nobody waits
     * @param clock what tells the time to the cells' users, and has their timers
     */
    public ClientLoop(String name, TimeSource clock) {
        this(name, clock, GRACE_NANOS, SHORT_NANOS);
    }

    /** As above, with other times after which somebody looks who needs not. */
    ClientLoop(String name, TimeSource clock, long graceNanos, long shortNanos) {
        this.name = name;
        this.clock = clock;
        this.graceNanos = graceNanos;
        this.shortNanos = shortNanos;
    }

    /**
     * Opens what has to be open before the first task. Once, by one thread; again if it failed.
     *
     * @throws LockUnavailableException if this process may have no more files, threads or memory
     */
    public void start() {
        SocketReader opened = null;
        try {
            opened = new SocketReader(this, tasks, alarms);
            Thread thread = new Thread(this::readWhileNobodyWaits, name);
            thread.setDaemon(true);
            reader = opened;
            own = thread;
            thread.start();
        } catch (IOException | OutOfMemoryError e) {
            reader = null;
            own = null;
            if (opened != null) {
                opened.close();
            }
            throw new LockUnavailableException("no socket can be opened: " + e.getMessage(), null, null, e);
        }
    }

    // Turns

    @Override
    public void execute(Runnable task) {
        if (closed) {
            throw new RejectedExecutionException(name + " has ended");
        }
        tasks.add(task);
        Thread me = Thread.currentThread();
        if (!tasks.runsOn(me)) {
            lastAsked = now();
            if (!role.looksForTasks()) {
                drain(me);
            }
        }
    }

    @Override
    public void leave(Runnable task) {
        if (closed) {
            throw new RejectedExecutionException(name + " has ended");
        }
        tasks.add(task);
        if (tasks.runsOn(Thread.currentThread()) || role.looksForTasks()) {
            return;
        }
        if (role.free()) {
            LockSupport.unpark(own);
        } else {
            reader().wakeUp(); // whoever leaves the role meanwhile looks for tasks
        }
    }

    /** Runs what is queued, unless another thread does; the rest of much is for the thread of this object. */
    void drain(Thread me) {
        if (!tasks.drain(me, me == own)) {
            help();
        }
    }

    /** For a thread that waits for a task of which nobody may be in charge. */
    void helpWaiting(Thread me) {
        if (me == own) {
            drain(me);
        } else {
            help(); // this one may have too little stack
        }
    }

    /** Has the thread of this object look for tasks: it is parked, or selects, and each has a way of its own to end. */
    private void help() {
        LockSupport.unpark(own);
        reader().wakeUp();
    }

    /** Runs it here, or on another thread if this one runs a task: for what has to wait for other tasks. */
    public void whereItMayWait(Runnable work) {
        if (tasks.runsOn(Thread.currentThread())) {
            Thread thread = new Thread(work, name + "-end");
            thread.setDaemon(true);
            thread.start();
        } else {
            work.run();
        }
    }

    private void checkMayWait() {
        if (tasks.runsOn(Thread.currentThread())) {
            throw new IllegalStateException("cannot wait here: this thread runs what the outcome waits for. "
                    + "Wait on another thread, or go on with a stage.");
        }
    }

    /** Runs the task and returns when it is over. Not in a task. */
    public void run(Runnable task) {
        checkMayWait();
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        execute(() -> {
            try {
                task.run();
            } finally {
                over.complete(null);
            }
        });
        over.join();
    }

    @Override
    public Scheduled after(long nanos, Runnable task) {
        Scheduled alarm = alarms.add(now() + nanos, task);
        reader().alarmed();
        return alarm;
    }

    /** The selector, and who reads. After the start. */
    SocketReader reader() {
        SocketReader open = reader;
        if (open == null) {
            throw new IllegalStateException(name + " has not been started");
        }
        return open;
    }

    boolean ended() {
        return closed;
    }

    /** Nanoseconds since this was made: never negative, so that they can be compared. */
    long now() {
        return System.nanoTime() - origin;
    }

    // Waiting

    @Override
    public <T> T await(CompletableFuture<T> outcome) throws InterruptedException, ExecutionException {
        wait(outcome, NEVER);
        return outcome.get();
    }

    @Override
    public <T> T await(CompletableFuture<T> outcome, long deadlineNanos)
            throws InterruptedException, ExecutionException, TimeoutException {
        // On the clock of the users, which may jump ahead; a deadline without end must not overflow.
        while (!outcome.isDone()) {
            long left = deadlineNanos - nanoTime();
            if (left <= 0) {
                throw new TimeoutException();
            }
            wait(outcome, left < NEVER / 2 ? now() + left : NEVER);
        }
        return outcome.get();
    }

    /** Returns when the outcome is there, or that time has come. */
    private void wait(CompletableFuture<?> outcome, long until) throws InterruptedException {
        if (outcome.isDone()) {
            return;
        }
        checkMayWait();
        SocketReader open = reader;
        if (open != null && !closed) {
            Thread me = Thread.currentThread();
            Waiting waiting = new Waiting(me, outcome, open::wakeUp);
            if (me instanceof ForkJoinWorkerThread) {
                ForkJoinPool.managedBlock(new ReadingBlocker(waiting, outcome, until));
            } else {
                waitReading(waiting, outcome, until);
            }
        }
        try {
            if (until == NEVER) {
                outcome.get();
            } else {
                outcome.get(until - now(), TimeUnit.NANOSECONDS);
            }
        } catch (ExecutionException | CancellationException | TimeoutException e) {
            LOG.trace("the caller looks what it is", e);
        }
    }

    /** A pool makes up for its thread that waits: another task of it may be what ends the wait. */
    private final class ReadingBlocker implements ForkJoinPool.ManagedBlocker {
        private final Waiting waiting;
        private final CompletableFuture<?> outcome;
        private final long until;

        ReadingBlocker(Waiting waiting, CompletableFuture<?> outcome, long until) {
            this.waiting = waiting;
            this.outcome = outcome;
            this.until = until;
        }

        @Override
        public boolean block() throws InterruptedException {
            waitReading(waiting, outcome, until);
            return true;
        }

        @Override
        public boolean isReleasable() {
            return outcome.isDone();
        }
    }

    /** Returns before that only if this loop has ended. */
    private void waitReading(Waiting waiting, CompletableFuture<?> outcome, long until) throws InterruptedException {
        CompletionStage<?> stage = outcome;
        stage.whenComplete(waiting);
        try {
            role.enter(waiting);
            long now = now();
            while (!outcome.isDone() && now < until && !closed) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (waiting.reads) {
                    read(waiting, now, until);
                } else {
                    waiting.park(until - now);
                }
                now = now();
            }
        } finally {
            waiting.over = true; // which needs no stack: should the next line have none, others see it
            role.leave(waiting);
            if (tasks.left() && role.free()) {
                drain(waiting.thread); // what was left to a reader
            }
        }
    }

    /** One select of the thread that has the role, and what came by it. */
    private void read(Waiting waiting, long now, long until) {
        if (!tasks.isEmpty()) {
            drain(waiting.thread); // of a thread that could not go on
        }
        boolean active = now - lastAsked < ACTIVE_NANOS;
        boolean one = waiting.thread != own && role.noFollowers();
        reader().read(waiting, active ? Math.min(until, now + shortNanos) : until, one);
    }

    // Reading while nobody waits

    private void readWhileNobodyWaits() {
        Waiting idle = new Waiting(Thread.currentThread(), null, reader()::wakeUp);
        long takes = -1;
        while (!closed) {
            try {
                takes = readOrWait(idle, takes);
            } catch (RuntimeException | Error e) {
                SerialTasks.complain("the thread that reads for a client goes on after a failure", e);
                LockSupport.parkNanos(this, SHORT_NANOS);
                takes = -1;
            }
        }
    }

    /** Reads while nobody else does, or waits until that is so; returns who has read by then. */
    private long readOrWait(Waiting idle, long takes) {
        if (role.takeIfIdle(idle, takes)) {
            try {
                do {
                    read(idle, now(), NEVER);
                    // An interrupt of this thread means nothing, but would end each select at once.
                    Thread.interrupted();
                } while (!closed && !role.followed());
            } finally {
                role.leave(idle);
            }
            return -1;
        }
        if (role.sleepUntilFree(idle, takes)) {
            while (!closed && role.sleeps()) {
                LockSupport.parkNanos(this, ACTIVE_NANOS);
                Thread.interrupted();
                drain(idle.thread);
                role.heal();
            }
            return -1;
        }
        long seen = role.takes();
        LockSupport.parkNanos(this, graceNanos);
        Thread.interrupted();
        drain(idle.thread);
        return seen;
    }

    // The clock of the users

    @Override
    public long nanoTime() {
        return clock.nanoTime();
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        return clock.at(atNanos, task);
    }

    @Override
    public boolean manual() {
        return clock.manual();
    }

    /**
     * Ends the thread and all connections, and runs no task that comes later; who waits goes on waiting without
     * reading. Not in a task.
     */
    @Override
    public void close() {
        checkMayWait();
        closed = true;
        Thread thread = own;
        if (thread == null) {
            return;
        }
        help();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        CompletableFuture<@Nullable Void> over = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                reader().close();
            } finally {
                over.complete(null);
            }
        });
        tasks.drain(Thread.currentThread(), true);
        while (!over.isDone()) {
            LockSupport.parkNanos(this, GRACE_NANOS);
            tasks.drain(Thread.currentThread(), true); // what another thread has left, which has run its share
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
