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
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the cells of one client, and its sockets, on the threads of its users: who asks runs the turn and writes, who
 * waits reads. So an answer that nobody else has to do with costs no switch of threads.
 *
 * <p><em>Turns.</em> Tasks run one at a time. Whoever gives one runs all that are queued, unless somebody does already;
 * then that thread runs it. Nobody waits for this exclusion. A task for which a thread has too little stack left runs
 * again on another one.
 *
 * <p><em>Reading.</em> One thread at a time has the {@link ReaderRole}: it selects, until its own outcome is there, and
 * has what came read by a task. Other threads that wait follow, parked. While no thread of a user waits, one of this
 * object's own reads: what members send unasked is heard by it, at most a millisecond or so late. It takes the role
 * only when nobody has had it for that long, so that it costs nothing while users read. Virtual threads never read.
 *
 * <p><em>Time.</em> An alarm is no task of a timer: the thread that selects selects no longer than until the next one.
 * What is set meanwhile for an earlier time ends the select; while requests come it is a short one anyhow, since
 * each request sets an alarm, and none that is nearer.
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
        this.name = name;
        this.clock = clock;
    }

    /** Opens what has to be open before the first task. Once, by one thread. */
    public void start() {
        try {
            reader = new SocketReader(this, tasks, alarms);
        } catch (IOException e) {
            throw new LockUnavailableException("no socket can be opened: " + e.getMessage(), null, null, e);
        }
        Thread thread = new Thread(this::readWhileNobodyWaits, name);
        thread.setDaemon(true);
        own = thread;
        thread.start();
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
            drain(me);
        }
    }

    /** Runs what is queued, unless another thread does. */
    void drain(Thread me) {
        if (!tasks.drain(me, me == own)) {
            help();
        }
    }

    /** Has the thread of this object look for tasks. */
    void help() {
        LockSupport.unpark(own);
        reader().wakeUp();
    }

    /** Runs the task and returns when it is over. Not in a task. */
    public void run(Runnable task) {
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
        Thread me = Thread.currentThread();
        if (tasks.runsOn(me)) {
            throw new IllegalStateException("cannot wait here: this thread runs what the outcome waits for. "
                    + "Wait on another thread, or go on with a stage.");
        }
        SocketReader open = reader;
        if (open != null && !closed) {
            waitReading(new Waiting(me, outcome, open::wakeUp), outcome, until);
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
        }
    }

    /** One select of the thread that has the role, and what came by it. */
    private void read(Waiting waiting, long now, long until) {
        if (!tasks.isEmpty()) {
            drain(waiting.thread); // of a thread that could not go on
        }
        boolean active = now - lastAsked < ACTIVE_NANOS;
        reader().read(waiting, active ? Math.min(until, now + SHORT_NANOS) : until);
    }

    // Reading while nobody waits

    private void readWhileNobodyWaits() {
        Waiting idle = new Waiting(Thread.currentThread(), null, reader()::wakeUp);
        Throwable failed = null;
        while (!closed) {
            try {
                if (failed != null) {
                    LockSupport.parkNanos(SHORT_NANOS);
                    LOG.error("{} goes on after a failure", name, failed);
                    failed = null;
                }
                readWhileNobodyWaits(idle);
            } catch (RuntimeException | Error e) {
                failed = e;
            } finally {
                role.leave(idle);
            }
        }
    }

    private void readWhileNobodyWaits(Waiting idle) {
        long takes = -1;
        while (!closed) {
            if (role.takeIfIdle(idle, takes)) {
                do {
                    read(idle, now(), NEVER);
                    // An interrupt of this thread means nothing, but would end each select at once.
                    Thread.interrupted();
                } while (!closed && !role.followed());
                role.leave(idle);
                takes = -1;
            } else if (role.sleepUntilFree(idle, takes)) {
                while (!closed && role.sleeps()) {
                    LockSupport.parkNanos(this, ACTIVE_NANOS);
                    Thread.interrupted();
                    drain(idle.thread);
                    role.heal();
                }
                takes = -1;
            } else {
                takes = role.takes();
                LockSupport.parkNanos(this, GRACE_NANOS);
                Thread.interrupted();
                drain(idle.thread);
            }
        }
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

    /** Runs no task any more, and ends the thread; who waits goes on waiting without reading. Not in a task. */
    @Override
    public void close() {
        closed = true;
        Thread thread = own;
        if (thread == null) {
            return;
        }
        help();
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        reader().close();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
