// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.memory;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.net.CellHost;
import io.keyway.lock.peer.net.CellListener;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A driver that runs the cells of one JVM on one thread and carries frames between them without delay. Time is the
 * machine's, or stands still but for {@link #step}.
 *
 * <p>Everything but the inbox belongs to the world's thread; other threads come in through tasks.
 */
public final class LoopbackWorld implements TimeSource, AutoCloseable {
    private static final int BATCH = 64;
    private static final int CROWD = 1_000;

    private final boolean manual;
    private final Thread thread;
    private final ConcurrentLinkedQueue<Runnable> tasks = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean awake = new AtomicBoolean();
    private final List<Seat> seats = new ArrayList<>();
    private final PriorityQueue<Alarm> alarms = new PriorityQueue<>();
    private long alarmOrder;
    /** With so many alarms, those that were cancelled are thrown out. */
    private int crowded = CROWD;

    private volatile long manualNow;
    private volatile boolean closed;
    /** Nothing is run any more. */
    private volatile boolean ended;
    /** Why, unless it was closed. */
    private volatile @Nullable Throwable failure;
    /** Who waits for a task: whatever ends the thread, nobody waits for ever. */
    private final Map<Thread, CompletableFuture<?>> waiting = new ConcurrentHashMap<>();

    private @Nullable Seat member;
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
        Alarm alarm = new Alarm(atNanos, task);
        execute(() -> {
            alarm.order = alarmOrder++;
            alarms.add(alarm);
            if (alarms.size() > crowded) {
                // Cancelled ones would keep what they hold until their time comes.
                alarms.removeIf(each -> each.cancelled);
                crowded = Math.max(CROWD, 2 * alarms.size());
            }
        });
        return alarm;
    }

    /** Seats the member, in place of a former one: all links to that one are closed. */
    public void member(Supplier<Cell> cell) {
        member(cell, record -> {});
    }

    /** As {@link #member(Supplier)}; what it forces goes to {@code disk}, on the thread of the world. */
    public void member(Supplier<Cell> cell, Consumer<DurableRecord> disk) {
        await(() -> {
            Seat former = member;
            if (former != null) {
                former.leave("the member restarts");
            }
            Seat seat = new Seat(cell.get(), notice -> {}, disk);
            member = seat;
            seats.add(0, seat);
            return seat;
        });
    }

    /** Seats a client's cell. */
    public ClientSeat client(Supplier<Cell> cell, CellListener ears) {
        return await(() -> {
            Seat seat = new Seat(cell.get(), ears, record -> {});
            seats.add(seat);
            return new ClientSeat(seat);
        });
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
            for (Alarm alarm = alarms.peek(); alarm != null && alarm.at - nanoTime() <= 0; alarm = alarms.peek()) {
                alarms.poll();
                alarm.ring();
                worked++;
                busy = true;
            }
            for (int i = 0; i < seats.size(); i++) {
                if (seats.get(i).work()) {
                    worked++;
                    busy = true;
                }
            }
        }
    }

    /** Nanoseconds until something is due; {@link Turn#NEVER} if nothing ever is. */
    private long nextDue(long now) {
        long next = Turn.NEVER;
        Alarm alarm = alarms.peek();
        if (alarm != null) {
            next = alarm.at - now;
        }
        for (Seat seat : seats) {
            long due = seat.cell.nextDue();
            if (due != Turn.NEVER) {
                next = Math.min(next, due - now);
            }
        }
        return next;
    }

    private static final class Alarm implements Scheduled, Comparable<Alarm> {
        final long at;
        private final Runnable task;
        private volatile boolean cancelled;
        long order;

        Alarm(long at, Runnable task) {
            this.at = at;
            this.task = task;
        }

        void ring() {
            if (!cancelled) {
                task.run();
            }
        }

        @Override
        public void cancel() {
            cancelled = true;
        }

        @Override
        public int compareTo(Alarm other) {
            long difference = at - other.at;
            return difference != 0 ? Long.signum(difference) : Long.compare(order, other.order);
        }
    }

    /** A link between a client's seat and the member's. Both know it by the same number. */
    private static final class Link {
        final long number;
        final Seat client;
        final Seat member;

        Link(long number, Seat client, Seat member) {
            this.number = number;
            this.client = client;
            this.member = member;
        }
    }

    /** A client's seat, as its engine and its tests see it. */
    public final class ClientSeat implements CellHost {
        private final Seat seat;

        private ClientSeat(Seat seat) {
            this.seat = seat;
        }

        @Override
        public void post(Input input) {
            seat.posted.add(input);
            wake();
        }

        public void cut(boolean cut) {
            await(() -> seat.cut = cut);
        }

        public void dropReplies(int count) {
            await(() -> seat.repliesToDrop = count);
        }

        /** Runs what was posted, then takes the seat away. */
        public void leave() {
            await(() -> {
                settle();
                seat.leave("the client has closed");
                return seat;
            });
        }
    }

    private final class Seat implements Driver {
        final Cell cell;
        private final CellListener ears;
        private final Consumer<DurableRecord> disk;
        final ConcurrentLinkedQueue<Input> posted = new ConcurrentLinkedQueue<>();
        private final ArrayDeque<Input> inputs = new ArrayDeque<>();
        private final Map<Long, Link> open = new HashMap<>();
        private final Map<Long, Long> ownNumbers = new HashMap<>();
        boolean cut;
        int repliesToDrop;
        private boolean gone;

        Seat(Cell cell, CellListener ears, Consumer<DurableRecord> disk) {
            this.disk = disk;
            this.cell = cell;
            this.ears = ears;
        }

        boolean work() {
            for (Input input = posted.poll(); input != null; input = posted.poll()) {
                inputs.add(input);
            }
            long due = cell.nextDue();
            boolean late = due != Turn.NEVER && due - clock() <= 0;
            if (gone || (inputs.isEmpty() && !late)) {
                return false;
            }
            if (inputs.isEmpty()) {
                cell.input(new Input.Tick(), this);
            }
            for (int i = 0; i < BATCH && !inputs.isEmpty(); i++) {
                cell.input(inputs.removeFirst(), this);
            }
            cell.flush(this);
            ears.turned(cell.sessions());
            return true;
        }

        void leave(String why) {
            gone = true;
            seats.remove(this);
            for (Link link : new ArrayList<>(open.values())) {
                Seat other = link.client == this ? link.member : link.client;
                other.lose(link, why);
            }
            open.clear();
        }

        private void lose(Link link, String why) {
            Long own = number(link);
            if (own != null && open.remove(own) != null) {
                ownNumbers.remove(link.number);
                inputs.add(new Input.Closed(own, why));
            }
        }

        private @Nullable Long number(Link link) {
            return ownNumbers.get(link.number);
        }

        private void attach(Link link, long own) {
            open.put(own, link);
            ownNumbers.put(link.number, own);
            inputs.add(new Input.Opened(own));
        }

        @Override
        public long clock() {
            return nanoTime();
        }

        @Override
        public long random() {
            return ThreadLocalRandom.current().nextLong();
        }

        @Override
        public void dial(long own) {
            Seat to = member;
            if (cut || to == null) {
                inputs.add(new Input.Closed(own, cut ? "the link is cut" : "there is no member"));
                return;
            }
            Link link = new Link(++links, this, to);
            attach(link, own);
            to.attach(link, link.number);
        }

        @Override
        public void transmit(long own, Frame frame) {
            Link link = open.get(own);
            if (link == null || link.client.cut) {
                return;
            }
            Seat other = link.client == this ? link.member : link.client;
            if (other == link.client && other.repliesToDrop > 0) {
                other.repliesToDrop--;
                return;
            }
            Long theirs = other.number(link);
            if (theirs != null) {
                other.inputs.add(new Input.Arrived(theirs, frame));
            }
        }

        @Override
        public void hangUp(long own) {
            Link link = open.remove(own);
            if (link != null) {
                ownNumbers.remove(link.number);
                Seat other = link.client == this ? link.member : link.client;
                if (!link.client.cut) {
                    other.lose(link, "the other side hung up");
                }
            }
        }

        @Override
        public void persist(DurableRecord record, long ticket) {
            disk.accept(record);
            inputs.add(new Input.Forced(ticket));
        }

        @Override
        public void deliver(Notice notice) {
            ears.heard(notice);
        }
    }
}
