// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.net.CellHost;
import io.keyway.lock.peer.net.CellListener;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A driver that runs the cells of one JVM on one thread and carries frames between them without delay. Time is the
 * machine's, or stands still but for {@link #step}.
 *
 * <p>Everything but the inbox belongs to the world's thread; other threads come in through tasks.
 */
public final class LoopbackWorld implements TimeSource, AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(LoopbackWorld.class);

    private final boolean manual;
    private final Thread thread;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean awake = new AtomicBoolean();
    private final List<LoopbackCell> cells = new ArrayList<>();
    private final Alarms alarms = new Alarms();

    private volatile long manualNow;
    private volatile boolean closed;
    /** Nothing is run any more. */
    private volatile boolean ended;
    /** Why, unless it was closed. */
    private volatile @Nullable Throwable failure;
    /** Who waits for a task: whatever ends the thread, nobody waits forever. */
    private final Map<Thread, CompletableFuture<?>> waiting = new ConcurrentHashMap<>();

    private @Nullable LoopbackCell member;
    private long links;
    private long worked;

    public LoopbackWorld(String name, boolean manual) {
        this.manual = manual;
        this.thread = new Thread(this::run, "keyway-mem-" + name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public boolean manual() {
        return manual;
    }

    @Override
    public long nanoTime() {
        return manual ? manualNow : System.nanoTime();
    }

    @Override
    public Scheduled at(long atNanos, Runnable task) {
        Alarms.Alarm alarm = new Alarms.Alarm(atNanos, task);
        execute(() -> alarms.add(alarm));
        return alarm;
    }

    /** Runs the member, in place of a former one: all links to that one are closed. */
    public void member(Supplier<Cell> cell) {
        member(cell, record -> {});
    }

    /** As {@link #member(Supplier)}; what it forces goes to {@code disk}, on the thread of the world. */
    public void member(Supplier<Cell> cell, Consumer<DurableRecord> disk) {
        await(() -> {
            LoopbackCell former = member;
            if (former != null) {
                former.leave("the member restarts");
            }
            LoopbackCell made = new LoopbackCell(this, cell.get(), notice -> {}, disk);
            member = made;
            cells.add(0, made);
            return made;
        });
    }

    /** Runs a client's cell. */
    public LoopbackClient client(Supplier<Cell> cell, CellListener listener) {
        return await(() -> {
            LoopbackCell made = new LoopbackCell(this, cell.get(), listener, record -> {});
            cells.add(made);
            return new LoopbackClient(made);
        });
    }

    // What a cell needs; on the world's thread

    @Nullable
    LoopbackCell member() {
        return member;
    }

    long nextLink() {
        return ++links;
    }

    void remove(LoopbackCell cell) {
        cells.remove(cell);
    }

    /**
     * Manual time: moves to the next moment at which something is due, but not beyond {@code target}, and runs it.
     *
     * @return true while target is not reached
     */
    public boolean step(long target) {
        return await(() -> {
            settle();
            long before = manualNow;
            long now = before + Math.max(0, Math.min(nextDue(before), target - before));
            manualNow = now;
            settle();
            return target - now > 0;
        });
    }

    /**
     * Manual time: moves to the next moment at which something is due and runs it, unless that is beyond {@code end} or
     * something has happened since {@code seen}, which others have to hear of first.
     */
    public Progress stepOnce(Progress seen, long end) {
        return await(() -> {
            settle();
            if (worked != seen.worked) {
                return new Progress(worked, true);
            }
            long before = manualNow;
            long next = Math.max(0, nextDue(before));
            if (next > end - before) {
                return new Progress(worked, false);
            }
            manualNow = before + next;
            settle();
            return new Progress(worked, true);
        });
    }

    /**
     * How far {@link #stepOnce} came.
     *
     * @param worked how often anything has happened in this world
     * @param more whether more may happen by the end
     */
    public record Progress(long worked, boolean more) {
        /** Before the first step: whatever has happened is to be heard of. */
        public static final Progress NONE = new Progress(-1, true);
    }

    public boolean inWorld() {
        return Thread.currentThread() == thread;
    }

    /** Ends the thread; cells are dropped as they are. */
    @Override
    public void close() {
        closed = true;
        wake();
        if (!inWorld()) {
            joinThread();
        }
    }

    private void joinThread() {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void execute(Runnable task) {
        tasks.add(task);
        wake();
    }

    private <T> T await(Supplier<T> task) {
        if (inWorld()) {
            return task.get();
        }
        CompletableFuture<T> done = new CompletableFuture<>();
        execute(() -> {
            try {
                done.complete(task.get());
            } catch (RuntimeException e) {
                done.completeExceptionally(e);
            }
        });
        waiting.put(Thread.currentThread(), done);
        try {
            if (ended) {
                done.completeExceptionally(end());
            }
            return done.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException failure ? failure : e;
        } finally {
            waiting.remove(Thread.currentThread());
        }
    }

    private IllegalStateException end() {
        return new IllegalStateException("this world has ended", failure);
    }

    private void wake() {
        if (awake.compareAndSet(false, true)) {
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        try {
            turn();
        } catch (RuntimeException | Error e) {
            failure = e;
            throw e;
        } finally {
            ended = true;
            waiting.values().forEach(caller -> caller.completeExceptionally(end()));
        }
    }

    private void turn() {
        while (!closed) {
            awake.set(false);
            settle();
            if (!tasks.isEmpty()) {
                continue;
            }
            long next = manual ? Turn.NEVER : nextDue(nanoTime());
            if (awake.get() || closed) {
                continue;
            }
            if (next == Turn.NEVER) {
                LockSupport.park(this);
            } else if (next > 0) {
                LockSupport.parkNanos(this, next);
            }
        }
    }

    /** Runs all that is due now, until nothing is. */
    private void settle() {
        boolean busy = true;
        while (busy) {
            busy = false;
            for (Runnable task = tasks.poll(); task != null; task = tasks.poll()) {
                task.run();
                busy = true;
            }
            while (alarms.ring(nanoTime(), this::guarded)) {
                worked++;
                busy = true;
            }
            for (int i = 0; i < cells.size(); i++) {
                if (cells.get(i).work()) {
                    worked++;
                    busy = true;
                }
            }
        }
    }

    /** What fails in what a cell or an alarm calls is no matter of the others, who have this world in common. */
    void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a task of {} failed; the others go on", thread.getName(), e);
        }
    }

    /** Nanoseconds until something is due; {@link Turn#NEVER} if nothing ever is. */
    private long nextDue(long now) {
        long next = alarms.nextDue(now);
        for (LoopbackCell cell : cells) {
            long due = cell.nextDue();
            if (due != Turn.NEVER) {
                next = Math.min(next, due - now);
            }
        }
        return next;
    }

    /** A client's cell, as its engine and its tests see it. */
    public final class LoopbackClient implements CellHost {
        private final LoopbackCell cell;

        private LoopbackClient(LoopbackCell cell) {
            this.cell = cell;
        }

        @Override
        public void post(Input input) {
            cell.post(input);
            wake();
        }

        public void cut(boolean cut) {
            await(() -> {
                cell.cut(cut);
                return cut;
            });
        }

        public void dropReplies(int count) {
            await(() -> {
                cell.dropReplies(count);
                return count;
            });
        }

        /** Runs what was posted, then takes the cell away. */
        public void leave() {
            await(() -> {
                settle();
                cell.leave("the client has closed");
                return cell;
            });
        }
    }
}
