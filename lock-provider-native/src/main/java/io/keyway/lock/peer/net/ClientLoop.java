// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.net.ReaderRole.Waiting;
import io.keyway.lock.spi.TimeSource;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the cells of one client, and its sockets, on the threads of its users: who asks runs the turn and writes, who
 * waits reads. So an answer that nobody else has to do with costs no switch of threads.
 *
 * <p><em>Turns.</em> Tasks run one at a time. Whoever gives one runs all that are queued, unless somebody does already;
 * then that thread runs it. Nobody waits for this exclusion.
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
    private static final long NEVER = Long.MAX_VALUE;
    private static final long NOT_SELECTING = Long.MIN_VALUE;
    private static final int READ_BYTES = 64 * 1024;
    /** How often a reader looks whether another thread has run its task before it parks. */
    private static final int SPINS = 200;

    private static final VarHandle RUNNER;
    /** {@code Thread.isVirtual}, where there is such a thing. */
    private static final @Nullable MethodHandle IS_VIRTUAL;

    static {
        MethodHandle virtual = null;
        try {
            RUNNER = MethodHandles.lookup().findVarHandle(ClientLoop.class, "runner", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
        try {
            virtual = MethodHandles.publicLookup()
                    .findVirtual(Thread.class, "isVirtual", MethodType.methodType(boolean.class));
        } catch (ReflectiveOperationException e) {
            LOG.trace("no virtual threads here", e);
        }
        IS_VIRTUAL = virtual;
    }

    /** A task that is due later; on the clock of {@link #now}. */
    private final class Alarm implements Scheduled {
        final long at;
        final Runnable task;

        Alarm(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        @Override
        public void cancel() {
            if (alarms.remove(this)) {
                armed();
            }
        }
    }

    private final String name;
    private final TimeSource clock;
    private final long origin = System.nanoTime();
    private final ReaderRole role = new ReaderRole();
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final Runnable pump = this::pump;
    private final Runnable pumped = this::pumped;
    private final Runnable wakeUp = this::wakeUp;

    /** Who runs the tasks; null if nobody does. */
    @SuppressWarnings("UnusedVariable") // by its handle
    private volatile @Nullable Thread runner;

    /** Of the tasks. */
    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>(Comparator.comparingLong((Alarm each) -> each.at));
    /** When the first alarm is due. Of the tasks; read by others. */
    private volatile long nextAlarm = NEVER;
    /** When the last task was given by somebody who asks. */
    private volatile long lastAsked = -ACTIVE_NANOS;

    // Of the reader
    private final List<SelectionKey> ready = new ArrayList<>();
    private final Consumer<SelectionKey> collect = ready::add;
    /** When its select ends, or {@link #NOT_SELECTING}. */
    private volatile long selectsUntil = NOT_SELECTING;
    /** What it has found is still to be read; whoever runs the tasks does it. */
    private volatile boolean pumping;
    /** The reader, parked until that is done. */
    private volatile @Nullable Thread pumper;

    private final ByteBuffer bytes = ByteBuffer.allocateDirect(READ_BYTES);
    private volatile @Nullable Selector selector;
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
            selector = Selector.open();
        } catch (IOException e) {
            throw new UncheckedIOException("cannot open a selector: " + e.getMessage(), e);
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
        if (runner != me) {
            lastAsked = now();
            drain(me);
        }
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

    private void drain(Thread me) {
        // Who has the role of the runner looks at the queue once more after giving it up: nothing is left behind.
        while (!tasks.isEmpty() && RUNNER.compareAndSet(this, null, me)) {
            try {
                for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                    tried(task);
                }
            } finally {
                runner = null;
            }
        }
    }

    private static void tried(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            // Not a matter of the thread that happens to run it.
            LOG.error("a task of a client failed", e);
        }
    }

    @Override
    public Scheduled after(long nanos, Runnable task) {
        Alarm alarm = new Alarm(now() + nanos, task);
        alarms.add(alarm);
        armed();
        return alarm;
    }

    private void armed() {
        Alarm next = alarms.peek();
        long at = next == null ? NEVER : next.at;
        nextAlarm = at;
        if (at < selectsUntil) {
            wakeUp();
        }
    }

    /** Where channels are registered: in a task. */
    Selector selector() {
        Selector open = selector;
        if (open == null) {
            throw new IllegalStateException(name + " has not been started");
        }
        return open;
    }

    /** What is registered has changed: a select that has begun must know. */
    void changed() {
        if (selectsUntil != NOT_SELECTING) {
            wakeUp();
        }
    }

    private void wakeUp() {
        selector().wakeup();
    }

    /** Nanoseconds since this was made: never negative, so that they can be compared. */
    private long now() {
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
        Thread me = Thread.currentThread();
        if (runner == me) {
            throw new IllegalStateException("cannot wait here: this thread runs what the outcome waits for. "
                    + "Wait on another thread, or go on with a stage.");
        }
        if (readable()) {
            waitReading(new Waiting(me, !virtual(me), outcome, wakeUp), outcome, until);
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
        role.enter(waiting);
        try {
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
            role.leave(waiting);
        }
    }

    private static boolean virtual(Thread thread) {
        if (IS_VIRTUAL == null) {
            return false;
        }
        try {
            return (boolean) IS_VIRTUAL.invokeExact(thread);
        } catch (Throwable e) {
            throw new IllegalStateException("isVirtual does not throw", e);
        }
    }

    /** False before the start and after the end: what is waited for then comes from elsewhere. */
    private boolean readable() {
        return selector != null && !closed;
    }

    // Reading

    /** One select of the reader, and what came by it. */
    private void read(Waiting reader, long now, long until) {
        if (!tasks.isEmpty()) {
            drain(reader.thread); // of a thread that could not go on
        }
        long end = Math.min(until, now - lastAsked < ACTIVE_NANOS ? now + SHORT_NANOS : NEVER);
        selectsUntil = end;
        reader.at = Waiting.SELECTING;
        try {
            // Only now: whoever has news from here on ends the select.
            long alarm = nextAlarm;
            if (alarm < end) {
                end = alarm;
                selectsUntil = alarm;
            }
            if (!reader.done() && !closed) {
                select(end == NEVER ? NEVER : end - now);
            }
        } finally {
            reader.at = Waiting.RUNNING;
            selectsUntil = NOT_SELECTING;
        }
        if (!ready.isEmpty() || nextAlarm <= now()) {
            haveItRead(reader.thread);
        }
    }

    private void select(long nanos) {
        try {
            if (nanos <= 0) {
                selector().selectNow(collect);
            } else if (nanos == NEVER) {
                selector().select(collect);
            } else {
                selector().select(collect, TimeUnit.NANOSECONDS.toMillis(nanos - 1) + 1);
            }
        } catch (ClosedSelectorException e) {
            LOG.trace("{} has ended", name, e);
        } catch (IOException e) {
            LOG.error("{} cannot read", name, e);
            LockSupport.parkNanos(SHORT_NANOS);
        }
    }

    /** What is ready is read by a task: here, or by whoever runs the tasks just now. */
    private void haveItRead(Thread me) {
        pumping = true;
        tasks.add(pump);
        drain(me);
        for (int spins = 0; pumping && spins < SPINS; spins++) {
            Thread.onSpinWait();
        }
        if (!pumping) {
            return;
        }
        boolean interrupted = false;
        pumper = me;
        while (pumping) {
            LockSupport.parkNanos(this, GRACE_NANOS);
            interrupted |= Thread.interrupted();
            drain(me);
        }
        pumper = null;
        if (interrupted) {
            me.interrupt();
        }
    }

    private void pump() {
        try {
            for (SelectionKey key : ready) {
                ((ClientLink) key.attachment()).ready(key, bytes);
            }
            ready.clear();
            long now = now();
            for (Alarm due = alarms.peek(); due != null && due.at <= now; due = alarms.peek()) {
                alarms.remove();
                tried(due.task);
            }
            armed();
            tasks.add(pumped); // after the turns for which this was read
        } catch (RuntimeException | Error e) {
            pumped();
            throw e;
        }
    }

    private void pumped() {
        pumping = false;
        Thread parked = pumper;
        if (parked != null) {
            LockSupport.unpark(parked);
        }
    }

    private void readWhileNobodyWaits() {
        Waiting idle = new Waiting(Thread.currentThread(), true, null, wakeUp);
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
                    LockSupport.park(this);
                    Thread.interrupted();
                }
                takes = -1;
            } else {
                takes = role.takes();
                LockSupport.parkNanos(this, GRACE_NANOS);
                Thread.interrupted();
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
        Selector open = selector;
        if (thread == null || open == null) {
            return;
        }
        LockSupport.unpark(thread);
        open.wakeup();
        boolean interrupted = false;
        while (thread.isAlive() && thread != Thread.currentThread()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        try {
            open.close();
        } catch (IOException e) {
            LOG.debug("{}: its selector cannot be closed", name, e);
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
