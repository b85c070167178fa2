// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.kernel.Cell;
import io.keyway.lock.peer.kernel.Driver;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Frame;
import io.keyway.lock.peer.kernel.Input;
import io.keyway.lock.peer.kernel.Notice;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionFrame.AskTrace;
import io.keyway.lock.peer.session.SessionFrame.TracePage;
import io.keyway.lock.peer.trace.CellTrace;
import io.keyway.lock.spi.TimeSource;
import io.netty.channel.EventLoop;
import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs one cell: all sockets are read, then the clock, then due timers, then up to 64 frames, then one flush for each
 * peer. Users come in through one queue. A member's cell runs on the one thread of an event loop, a client's on
 * whichever thread has something for it ({@link ClientLoop}); at any time on one.
 *
 * <p>While a member has deadlines it looks at the clock every 100 ms. One that was stopped, or starved, finds that it
 * looks late: it first moves the deadlines that it set for others by that time, and so reads what clients sent in the
 * meantime before anything of them expires. Not twice in a row, since it has read them in between: however slowly a
 * member runs, half of the time counts.
 *
 * <p><b>Invariants.</b> Turns of a cell never overlap, nor begin within each other. What a turn says is written when
 * the batch is over, in order, and nothing of it before what it depends on is on disk. A member's look at the clock
 * comes after what was in its sockets has been read.
 *
 * <p>An exception in a turn leaves a cell half changed. A member's runs no more; a client's drops its session and goes
 * on with the next one.
 */
public final class CellLoop implements Driver, CellHost {
    private static final Logger LOG = LoggerFactory.getLogger(CellLoop.class);
    private static final int BATCH = 64;
    private static final long LOOK_EVERY = TimeUnit.MILLISECONDS.toNanos(100);
    /** Nonces of a handshake must not be guessed. */
    private static final SecureRandom NONCES = new SecureRandom();

    /** A link's sending half. */
    interface Link {
        void send(Frame frame);

        /** Whether the welcome was said on it. */
        boolean isOpen();

        void flush();

        void hangUp();

        /** As {@link Driver#origin}. */
        default String origin() {
            return "";
        }
    }

    /** What differs between a client's and a member's loop. */
    public interface Surroundings extends CellListener {
        /** Clients: opens a link and calls {@link CellLoop#opened} or {@link CellLoop#closed}. */
        void dial(long link);

        /** Members: forces a record, then posts {@link Input.Forced}. */
        default void persist(DurableRecord record, long ticket) {
            throw new IllegalStateException("clients have nothing to persist");
        }

        /** Clients: as {@link Driver#logicalClock}. */
        default long logicalClock() {
            return 0;
        }

        /** Clients: as {@link Driver#heardClock}. */
        default void heardClock(long logicalClock) {}

        /** Members: what an administrator asks of the log of events. */
        default Optional<TracePage> asked(AskTrace ask) {
            return Optional.empty();
        }

        /** Members: the link of a session has gone, for whatever reason. Not a reason to end anything. */
        default void linkGone(long link) {}

        /**
         * A turn has failed. In a task of the executor.
         *
         * @return what makes a client's cell drop its session; empty for a member's, which must stop: its cell runs no
         *     more
         */
        Optional<Input> failed(Throwable why);
    }

    private final CellExecutor executor;
    private final Runnable turns = this::turns;
    private final Cell cell;
    private final LongSupplier clock;
    private final Surroundings surroundings;
    /**
     * How late a look at the clock may be before the time is added to what was set for others; {@link Long#MAX_VALUE}
     * for clients, who believe by the clock alone.
     */
    private final long tolerance;

    private final ConcurrentLinkedQueue<Input> posted = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean woken = new AtomicBoolean();
    private final ArrayDeque<Input> arrived = new ArrayDeque<>();
    private final Map<Long, Link> links = new HashMap<>();
    private final ArrayDeque<Link> unflushed = new ArrayDeque<>();
    /** Null if none is set; one that is too early does nothing but to set the next. */
    private TimeSource.@Nullable Scheduled alarm;

    private long alarmAt;
    private long lastLook;
    /** The next look is due {@link #LOOK_EVERY} after the last one. */
    private boolean looking;

    /** A turn ran out of the stack of a user's thread. */
    private @Nullable StackOverflowError overflow;

    private boolean forgiven;
    private boolean closed;

    /** Null while nothing is written down. */
    private @Nullable CellTrace trace;
    /** Who gets the answer to what was asked last of the member's log. */
    private @Nullable Consumer<TracePage> asker;

    /** A cell on the machine's monotonic clock. */
    public CellLoop(EventLoop loop, Cell cell, Surroundings surroundings, long tolerance) {
        this(loop, cell, surroundings, tolerance, System::nanoTime);
    }

    public CellLoop(EventLoop loop, Cell cell, Surroundings surroundings, long tolerance, LongSupplier clock) {
        this(new EventLoopExecutor(loop), cell, surroundings, tolerance, clock);
    }

    /** A client's cell. */
    public CellLoop(ClientLoop loop, Cell cell, Surroundings surroundings, LongSupplier clock) {
        this(loop, cell, surroundings, Long.MAX_VALUE, clock);
    }

    private CellLoop(CellExecutor executor, Cell cell, Surroundings surroundings, long tolerance, LongSupplier clock) {
        this.clock = clock;
        this.executor = executor;
        this.cell = cell;
        this.surroundings = surroundings;
        this.tolerance = tolerance;
        this.lastLook = clock.getAsLong();
    }

    @Override
    public void post(Input input) {
        posted.add(input);
        wake();
    }

    /** Where Netty's channels of this cell belong. */
    EventLoop loop() {
        if (executor instanceof EventLoopExecutor on) {
            return on.loop();
        }
        throw new IllegalStateException("this cell runs without Netty");
    }

    /** Tells the cell what it has to know before it hears anybody. In a task of its executor. */
    public void begin(List<Input> inputs) {
        for (Input input : inputs) {
            cell.input(input, this);
        }
        cell.flush(this);
        lastLook = clock();
        arm();
    }

    /** Has the task run by its executor, not by this thread if that runs tasks of another one. From any thread. */
    void leave(Runnable task) {
        executor.leave(task);
    }

    /** In a task of its executor. */
    void opened(long number, Link link) {
        if (closed) {
            link.hangUp();
            return;
        }
        links.put(number, link);
        arrived.add(new Input.Opened(number));
        wake();
    }

    /** Writes down what happens from now on, or no more. In a task of its executor, or before the first. */
    public void trace(@Nullable CellTrace to) {
        trace = to;
    }

    /**
     * Clients: asks the member for its log of events. In a task of its executor.
     *
     * @return false if there is no session with a member now
     */
    public boolean ask(AskTrace question, Consumer<TracePage> answered) {
        for (Link link : links.values()) {
            if (link.isOpen()) {
                asker = answered;
                link.send(question);
                link.flush();
                return true;
            }
        }
        return false;
    }

    /** In a task of its executor. The turn is another one, after all sockets were read. */
    void arrived(long number, Frame frame) {
        if (frame instanceof AskTrace ask) {
            answer(number, ask);
            return;
        }
        if (frame instanceof TracePage page) {
            Consumer<TracePage> to = asker;
            if (to != null) {
                to.accept(page);
            }
            return;
        }
        arrived.add(new Input.Arrived(number, frame));
        wake();
    }

    /** A link that was asked for cannot be opened. From any thread. */
    public void refused(long number, String why) {
        post(new Input.Closed(number, why));
    }

    private void answer(long number, AskTrace ask) {
        Link link = links.get(number);
        if (link != null && link.isOpen()) {
            surroundings.asked(ask).ifPresent(link::send);
            link.flush();
        }
    }

    /** In a task of its executor. */
    void closed(long number, String why) {
        if (links.remove(number) != null) {
            surroundings.linkGone(number);
        }
        arrived.add(new Input.Closed(number, why));
        wake();
    }

    /** A link that was asked for cannot be opened before somebody changes a configuration. In a task. */
    void unfit(long number, String why) {
        arrived.add(new Input.Unfit(number, why));
        wake();
    }

    /** Runs what is queued, then drops the links and whatever comes later. In a task of its executor. */
    public void shut() {
        turns();
        end();
    }

    private void end() {
        closed = true;
        if (alarm != null) {
            alarm.cancel();
        }
        for (Link link : links.values()) {
            link.hangUp();
        }
        links.clear();
    }

    private void wake() {
        if (woken.compareAndSet(false, true)) {
            try {
                executor.execute(turns);
            } catch (RejectedExecutionException e) {
                woken.set(false); // what runs it has ended, and with it the cell
                posted.clear();
            } catch (Error e) {
                woken.set(false); // a thread that can do no more; the next one does it
                throw e;
            }
        }
    }

    private void turns() {
        woken.set(false);
        if (closed) {
            posted.clear();
            return;
        }
        Throwable before = overflow;
        if (before != null) {
            overflow = null;
            failed(before);
            return;
        }
        try {
            turn();
        } catch (StackOverflowError e) {
            if (executor instanceof EventLoopExecutor) {
                failed(e);
            } else {
                overflow = e; // what has to be done now takes a stack: this runs again on another thread
                throw e;
            }
        } catch (RuntimeException | Error e) {
            failed(e);
        }
    }

    private void failed(Throwable why) {
        boolean goesOn = false;
        try {
            Optional<Input> next = surroundings.failed(why);
            if (next.isPresent()) {
                cell.abandon();
                cell.input(next.get(), this);
                turn();
                goesOn = true;
            }
        } catch (RuntimeException | Error e) {
            LOG.error("the cell that failed cannot go on", e);
        } finally {
            if (!goesOn) {
                end();
            }
        }
    }

    private void turn() {
        look();
        int budget = BATCH;
        Input input = next();
        if (input == null) {
            give(new Input.Tick());
        }
        while (input != null) {
            give(input);
            input = --budget > 0 ? next() : null;
        }
        cell.flush(this);
        CellTrace log = trace;
        if (log != null) {
            log.turned();
        }
        surroundings.turned(cell.sessions());
        for (Link link = unflushed.poll(); link != null; link = unflushed.poll()) {
            link.flush();
        }
        arm();
        if (!arrived.isEmpty() || !posted.isEmpty()) {
            wake();
        }
    }

    private void give(Input input) {
        CellTrace log = trace;
        if (log != null) {
            log.takes(input);
        }
        cell.input(input, this);
    }

    private @Nullable Input next() {
        Input input = arrived.poll();
        return input != null ? input : posted.poll();
    }

    private void look() {
        long now = clock();
        boolean late = looking && now - lastLook - LOOK_EVERY > tolerance;
        if (late && !forgiven) {
            give(new Input.Stalled(now - lastLook + tolerance));
        }
        forgiven = late && !forgiven;
        lastLook = now;
    }

    private void arm() {
        long due = cell.nextDue();
        looking = due != Turn.NEVER && tolerance != Long.MAX_VALUE;
        if (due == Turn.NEVER) {
            return;
        }
        long at = looking && lastLook + LOOK_EVERY - due < 0 ? lastLook + LOOK_EVERY : due;
        TimeSource.Scheduled former = alarm;
        if (former != null) {
            if (alarmAt - at <= 0) {
                return; // it comes in time, if only to find that nothing is due
            }
            former.cancel();
        }
        alarmAt = at;
        alarm = executor.after(Math.max(0, at - clock()), this::alarmed);
    }

    private void alarmed() {
        alarm = null;
        if (closed) {
            return;
        }
        if (overflow != null) {
            turns();
            return;
        }
        long now = clock();
        long due = cell.nextDue();
        if (due != Turn.NEVER && (now - due >= 0 || (looking && now - lastLook - LOOK_EVERY > tolerance))) {
            turns();
        } else {
            lastLook = now;
            forgiven = false;
            arm();
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
            CellTrace log = trace;
            if (log != null) {
                log.sends(number, frame);
            }
            link.send(frame);
            if (link != unflushed.peekLast()) {
                unflushed.add(link);
            }
        }
    }

    @Override
    public String origin(long number) {
        Link link = links.get(number);
        return link == null ? "" : link.origin();
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
    public long logicalClock() {
        return surroundings.logicalClock();
    }

    @Override
    public void heardClock(long logicalClock) {
        surroundings.heardClock(logicalClock);
    }

    @Override
    public void deliver(Notice notice) {
        surroundings.heard(notice);
    }
}
