// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.netty.channel.EventLoop;
import io.netty.util.concurrent.Future;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs one cell on one event loop: all sockets are read, then the clock, then due timers, then up to 64 frames, then one flush for each peer. No lock and no other thread on that way; users come in
 * through one queue.
 *
 * <p>A member that was stopped, or starved, for a while finds timers late: it first moves the deadlines that it set for others by the whole silence, and so reads what clients sent in the meantime before
 * anything of them expires.
 */
public final class CellLoop implements Driver, CellHost {
    private static final int BATCH = 64;
    /** Nonces of a handshake must not be guessed. */
    private static final SecureRandom NONCES = new SecureRandom();

    /** A link's sending half, on the loop's thread. */
    interface Link {
        void send(Frame frame);

        void flush();

        void hangUp();
    }

    /** What differs between a client's and a member's loop. */
    public interface Surroundings extends CellEars {
        /** Clients: opens a link and calls {@link CellLoop#opened} or {@link CellLoop#closed}. */
        void dial(long link);

        /** Members: forces a record, then posts {@link Input.Forced}. */
        void persist(DurableRecord record, long ticket);

        /** Members: the link of a session has gone, for whatever reason. Not a reason to end anything. */
        default void linkGone(long link) {}
    }

    private final EventLoop loop;
    private final Cell cell;
    private final LongSupplier clock;
    private final Surroundings surroundings;
    /** How late a timer may be before the time is added to what was set for others; {@link Long#MAX_VALUE} for clients, who believe by the clock alone. */
    private final long tolerance;

    private final ConcurrentLinkedQueue<Input> posted = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final ArrayDeque<Input> arrived = new ArrayDeque<>();
    private final Map<Long, Link> links = new HashMap<>();
    private final ArrayDeque<Link> unflushed = new ArrayDeque<>();
    private @Nullable Future<?> alarm;
    private long alarmAt;
    private long lastTurn;
    private boolean closed;

    /** A cell on the machine's monotonic clock. */
    public CellLoop(EventLoop loop, Cell cell, Surroundings surroundings, long tolerance) {
        this(loop, cell, surroundings, tolerance, System::nanoTime);
    }

    public CellLoop(EventLoop loop, Cell cell, Surroundings surroundings, long tolerance, LongSupplier clock) {
        this.clock = clock;
        this.loop = loop;
        this.cell = cell;
        this.surroundings = surroundings;
        this.tolerance = tolerance;
        this.lastTurn = clock.getAsLong();
    }

    @Override
    public void post(Input input) {
        posted.add(input);
        wake();
    }

    EventLoop loop() {
        return loop;
    }

    /** Tells the cell what it has to know before it hears anybody. On the loop's thread. */
    public void begin(List<Input> inputs) {
        for (Input input : inputs) {
            cell.input(input, this);
        }
        cell.flush(this);
        arm();
    }

    /** On the loop's thread. */
    void opened(long number, Link link) {
        links.put(number, link);
        arrived.add(new Input.Opened(number));
        wake();
    }

    /** On the loop's thread. The turn itself runs as a task, after all sockets were read. */
    void arrived(long number, Frame frame) {
        arrived.add(new Input.Arrived(number, frame));
        wake();
    }

    /** A link that was asked for cannot be opened. From any thread. */
    public void refused(long number, String why) {
        post(new Input.Closed(number, why));
    }

    /** On the loop's thread. */
    void closed(long number, String why) {
        if (links.remove(number) != null) {
            surroundings.linkGone(number);
        }
        arrived.add(new Input.Closed(number, why));
        wake();
    }

    /** Runs what is queued, then drops the links and whatever comes later. On the loop's thread. */
    public void shut() {
        turns();
        closed = true;
        if (alarm != null) {
            alarm.cancel(false);
        }
        for (Link link : links.values()) {
            link.hangUp();
        }
        links.clear();
    }

    private void wake() {
        if (woken.compareAndSet(false, true)) {
            loop.execute(this::turns);
        }
    }

    private void turns() {
        woken.set(false);
        if (closed) {
            posted.clear();
            return;
        }
        addStall();
        int budget = BATCH;
        Input input = next();
        if (input == null) {
            cell.input(new Input.Tick(), this);
        }
        while (input != null) {
            cell.input(input, this);
            input = --budget > 0 ? next() : null;
        }
        cell.flush(this);
        surroundings.turned(cell.sessions());
        for (Link link = unflushed.poll(); link != null; link = unflushed.poll()) {
            link.flush();
        }
        lastTurn = clock();
        arm();
        if (!arrived.isEmpty() || !posted.isEmpty()) {
            wake();
        }
    }

    private @Nullable Input next() {
        Input input = arrived.poll();
        return input != null ? input : posted.poll();
    }

    private void addStall() {
        long due = cell.nextDue();
        long now = clock();
        if (due != Turn.NEVER && now - due > tolerance) {
            cell.input(new Input.Stalled(now - lastTurn + tolerance), this);
        }
    }

    private void arm() {
        long due = cell.nextDue();
        Future<?> former = alarm;
        if (former != null && !former.isDone()) {
            if (due != Turn.NEVER && due == alarmAt) {
                return;
            }
            former.cancel(false);
        }
        alarm = null;
        if (due != Turn.NEVER) {
            alarmAt = due;
            alarm = loop.schedule(this::turns, Math.max(0, due - clock()), TimeUnit.NANOSECONDS);
        }
    }

    @Override
    public long clock() {
        return clock.getAsLong();
    }

    @Override
    public long random() {
        return NONCES.nextLong();
    }

    @Override
    public void dial(long link) {
        surroundings.dial(link);
    }

    @Override
    public void transmit(long number, Frame frame) {
        Link link = links.get(number);
        if (link != null) {
            link.send(frame);
            unflushed.add(link);
        }
    }

    @Override
    public void hangUp(long number) {
        Link link = links.remove(number);
        if (link != null) {
            link.hangUp();
            surroundings.linkGone(number);
        }
    }

    @Override
    public void persist(DurableRecord record, long ticket) {
        surroundings.persist(record, ticket);
    }

    @Override
    public void deliver(Notice notice) {
        surroundings.heard(notice);
    }
}
