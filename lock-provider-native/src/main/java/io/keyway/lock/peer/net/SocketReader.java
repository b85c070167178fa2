// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.net;

import io.keyway.lock.peer.net.ReaderRole.Waiting;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedSelectorException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The selector of a client's connections, and what the thread that has the {@link ReaderRole} does with it: it selects,
 * and has what is ready read by a task, with the alarms that are due. Another thread that runs tasks just then reads in
 * its place; meanwhile the reader waits for it.
 */
final class SocketReader {
    /** What is registered; in tasks only. */
    interface Connection {
        /** The socket can be connected, written or read; the buffer is for what is read. */
        void ready(SelectionKey selected, ByteBuffer bytes);

        /** Ends it, whatever has become of it so far. */
        void end();
    }

    private static final Logger LOG = LoggerFactory.getLogger(SocketReader.class);
    private static final long NOT_SELECTING = Long.MIN_VALUE;
    private static final int BYTES = 16 * 1024;
    /** How often it looks whether another thread has run its task before it parks. */
    private static final int SPINS = 200;

    private static final long PARK_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final ClientLoop loop;
    private final Selector selector;
    private final SerialTasks tasks;
    private final AlarmQueue alarms;
    private final ShortLook look = new ShortLook();
    private final ByteBuffer bytes = ByteBuffer.allocateDirect(BYTES);
    private final List<SelectionKey> ready = new ArrayList<>();
    private final Consumer<SelectionKey> collect = ready::add;
    private final Runnable pump = this::pump;
    private final Runnable pumped = this::pumped;

    /** When its select ends, or {@link #NOT_SELECTING}. */
    private volatile long until = NOT_SELECTING;
    /** What it has found is still to be read; whoever runs the tasks does it. */
    private volatile boolean pumping;
    /** The reader, parked until that is done. */
    private volatile @Nullable Thread parked;
    /** What went wrong with that. */
    private volatile @Nullable Error failure;

    SocketReader(ClientLoop loop, SerialTasks tasks, AlarmQueue alarms) throws IOException {
        this.loop = loop;
        this.tasks = tasks;
        this.alarms = alarms;
        this.selector = Selector.open();
    }

    /** Where channels are registered: in a task, before {@link #changed}. */
    Selector selector() {
        return selector;
    }

    /** What is registered has changed: a select that has begun must know. From any thread. */
    void changed() {
        if (until != NOT_SELECTING) {
            wakeUp();
        }
    }

    /** There may be an earlier alarm than the select knows. From any thread. */
    void alarmed() {
        if (alarms.next() < until) {
            wakeUp();
        }
    }

    /** Ends the select, or the next one. From any thread. */
    void wakeUp() {
        selector.wakeup();
    }

    /**
     * One select, and what came by it.
     *
     * @param latest when the select ends without anything, on the clock of the alarms
     * @param one whether this is the only thread that waits, so that its core has nothing else to do for them
     */
    void read(Waiting reader, long latest, boolean one) {
        if (pumping) {
            park(reader.thread); // of a thread that failed between finding and reading
        }
        if (!one || !look.pays() || !look(reader)) {
            await(reader, latest);
        }
        if (!ready.isEmpty() || alarms.next() <= loop.now()) {
            haveItRead(reader.thread);
        }
    }

    /** Does not count as selecting, since it looks for news itself; false if there was nothing. */
    private boolean look(Waiting reader) {
        long begun = loop.now();
        do {
            select(0);
            if (!ready.isEmpty()) {
                look.ended(true);
                return true;
            }
            if (tasks.left()) {
                look.ended(true);
                return true;
            }
            if (reader.done() || loop.ended()) {
                return true;
            }
        } while (loop.now() - begun < ShortLook.NANOS);
        look.ended(false);
        return false;
    }

    private void await(Waiting reader, long latest) {
        long end = latest;
        until = end;
        reader.at = Waiting.SELECTING;
        try {
            // Only now: whoever has news from here on ends the select.
            long alarm = alarms.next();
            if (alarm < end) {
                end = alarm;
                until = end;
            }
            if (!reader.done() && !loop.ended() && !tasks.left()) {
                select(end);
            }
        } finally {
            reader.at = Waiting.RUNNING;
            until = NOT_SELECTING;
        }
    }

    private void select(long end) {
        try {
            long nanos = end == AlarmQueue.NEVER ? end : end - loop.now();
            if (nanos <= 0) {
                selector.selectNow(collect);
            } else if (end == AlarmQueue.NEVER) {
                selector.select(collect);
            } else {
                selector.select(collect, TimeUnit.NANOSECONDS.toMillis(nanos - 1) + 1);
            }
        } catch (ClosedSelectorException e) {
            LOG.trace("the client has ended", e);
        } catch (IOException e) {
            LOG.error("a client cannot read", e);
            LockSupport.parkNanos(PARK_NANOS);
        }
    }

    private void haveItRead(Thread me) {
        boolean queued = false;
        pumping = true;
        try {
            tasks.add(pump);
            queued = true;
        } finally {
            if (!queued) {
                pumping = false;
            }
        }
        loop.drain(me);
        for (int spins = 0; pumping && spins < SPINS; spins++) {
            Thread.onSpinWait();
        }
        if (pumping) {
            park(me);
        }
        Error failed = failure;
        if (failed != null) {
            failure = null;
            SerialTasks.complain("a client could not take all that came", failed);
        }
    }

    private void park(Thread me) {
        boolean interrupted = false;
        parked = me;
        while (pumping) {
            LockSupport.parkNanos(this, PARK_NANOS);
            interrupted |= Thread.interrupted();
            if (pumping) {
                loop.helpWaiting(me); // should whoever was at it have left it
            }
        }
        parked = null;
        if (interrupted) {
            me.interrupt();
        }
    }

    private void pump() {
        boolean queued = false;
        try {
            for (SelectionKey key : ready) {
                pump(key);
            }
            alarms.moveDue(loop.now(), tasks);
        } catch (Error e) {
            failure = e; // the connection knows
        } finally {
            ready.clear();
            try {
                tasks.add(pumped); // after the turns for which this was read
                queued = true;
            } finally {
                pumping = queued;
            }
        }
    }

    private void pump(SelectionKey key) {
        try {
            ((Connection) key.attachment()).ready(key, bytes);
        } catch (RuntimeException e) {
            SerialTasks.complain("a connection of a client failed", e);
            close(key.channel());
        }
    }

    private void pumped() {
        pumping = false;
        Thread waiting = parked;
        if (waiting != null) {
            try {
                LockSupport.unpark(waiting);
            } catch (StackOverflowError e) {
                failure = e; // it wakes up by itself soon
            }
        }
    }

    /** Ends all connections: of those that are under way nobody else knows. In a task. */
    void close() {
        if (selector.isOpen()) {
            for (SelectionKey key : selector.keys()) {
                if (key.attachment() instanceof Connection connection) {
                    connection.end();
                }
                close(key.channel());
            }
            close(selector);
        }
    }

    private static void close(Closeable open) {
        try {
            open.close();
        } catch (IOException e) {
            LOG.debug("{} cannot be closed", open, e);
        }
    }
}
