// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Delays;
import java.io.IOException;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * The statements that are under way, so that each ends soon after its thread is interrupted, which no driver heeds, and
 * soon after its time is over, which a network timeout alone does not see to: it begins anew with each piece of an
 * answer. So threads of users can make them.
 *
 * <p>A statement whose time is over has {@link #GRACE} left, and one whose thread is interrupted {@link
 * #AFTER_INTERRUPT}, in which a server that lives answers, and nothing is lost; then its connection is aborted, and its
 * outcome is unknown.
 */
final class Watched {

    /** What is done on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    /** How long a statement may still take when its time is over, in nanoseconds. */
    private static final long GRACE = TimeUnit.MILLISECONDS.toNanos(250);

    /**
     * The same when its thread is interrupted. Longer: with the connection all locks of its session are lost, those of
     * other threads too, and a machine that has much to do is no server that hangs.
     */
    private static final long AFTER_INTERRUPT = TimeUnit.SECONDS.toNanos(1);

    private final Set<Statement> running = ConcurrentHashMap.newKeySet();
    /** Somebody looks at them when the time of one is over. */
    private final AtomicBoolean looking = new AtomicBoolean();

    /** What an interrupt of its thread closes. */
    private static final class Statement extends AbstractInterruptibleChannel {
        final Connection connection;
        final Deadline deadline;
        private final Runnable interrupted;
        /** It is over, or is aborted: whichever was first. */
        private final AtomicBoolean settled = new AtomicBoolean();

        Statement(Connection connection, Deadline deadline, Runnable interrupted) {
            this.connection = connection;
            this.deadline = deadline;
            this.interrupted = interrupted;
        }

        void enter() {
            begin();
        }

        void leave() {
            settled.set(true);
            try {
                end(true);
            } catch (IOException e) {
                // It was interrupted, and still is: whoever made it finds that.
            }
        }

        @Override
        protected void implCloseChannel() {
            interrupted.run();
            Delays.after(AFTER_INTERRUPT, this::abort);
        }

        /** On a thread of its own: a driver may wait for the thread that writes to that connection. */
        void abort() {
            if (settled.compareAndSet(false, true)) {
                Thread thread = new Thread(this::abortNow, "keyway-abort");
                thread.setDaemon(true);
                thread.start();
            }
        }

        private void abortNow() {
            try {
                connection.abort(Runnable::run);
            } catch (SQLException e) {
                // Then its network timeout has to do.
            }
        }
    }

    /**
     * Does that work.
     *
     * @param deadline when it is to be over
     * @param interrupted run when its thread is interrupted, by whoever does that; it does not block
     */
    <T> T on(Connection connection, Deadline deadline, Runnable interrupted, Work<T> work) throws SQLException {
        Statement statement = new Statement(connection, deadline, interrupted);
        running.add(statement);
        if (!looking.get() && looking.compareAndSet(false, true)) {
            Delays.after(deadline.nanos() + GRACE, this::look);
        }
        statement.enter();
        try {
            return work.on(connection);
        } finally {
            statement.leave();
            running.remove(statement);
        }
    }

    private void look() {
        looking.set(false);
        long next = Long.MAX_VALUE;
        for (Statement statement : running) {
            long left = statement.deadline.nanos();
            if (left == 0) {
                statement.abort();
            } else {
                next = Math.min(next, left);
            }
        }
        if (next != Long.MAX_VALUE && looking.compareAndSet(false, true)) {
            Delays.after(next + GRACE, this::look);
        }
    }
}
