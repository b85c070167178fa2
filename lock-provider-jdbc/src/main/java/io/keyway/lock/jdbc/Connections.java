// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.jdbc.Watched.Work;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.Properties;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * The connections of one client: a pool of its own, or the application's. However many threads want one, no more than
 * the option says are taken; one of them is kept for what renews or ends a grant, and one for listening.
 *
 * <p>A connection is had for one piece of work, in autocommit and with a network timeout, and given back as it was. One
 * on which a call ran out of time, or ended in a way that nobody knows, is closed.
 */
final class Connections implements AutoCloseable {

    private static final Duration LEAST = Duration.ofMillis(250);

    private final JdbcSettings settings;
    private final Dialect dialect;
    private final Lanes lanes;
    private final Watched watched = new Watched();
    private final @Nullable SharedSource shared;
    private final ReentrantLock opening = new ReentrantLock();
    private @Nullable HikariDataSource own;
    private boolean closed;
    private volatile boolean leavesNothing;
    private volatile boolean sharesSessions;

    /** {@code keeps} is whether renewals and releases need a connection each time, and not one that has the lock. */
    Connections(JdbcSettings settings, Dialect dialect, boolean keeps) {
        this.settings = settings;
        this.dialect = dialect;
        DataSource given = settings.dataSource().orElse(null);
        this.shared = given == null ? null : new SharedSource(given, settings, keeps, threads());
        // One is kept in any case, and where the database tells of changes one listens.
        this.lanes =
                new Lanes(settings.get(JdbcOptions.CONNECTIONS) - (dialect.tells() ? 2 : 1), shared != null && keeps);
    }

    /**
     * Does that piece of work, again if the database has rolled it back and asks for that.
     *
     * @throws NotExecutedException if it surely had no effect
     * @throws SQLException if nobody knows
     */
    <T> T call(Purpose purpose, Deadline deadline, Work<T> work) throws Exception {
        Purpose lane = lanes.take(purpose, deadline);
        if (lane == null) {
            throw busy();
        }
        try {
            return on(lane, deadline, work);
        } finally {
            lanes.give(lane);
        }
    }

    /** As {@link #call}, by a caller that has that lane. */
    <T> T on(Purpose lane, Deadline deadline, Work<T> work) throws Exception {
        try (Borrowed borrowed = borrow(lane, deadline)) {
            deadline.check("a connection to " + settings.place() + " was there");
            borrowed.limit(shared == null ? deadline : shared.limit(borrowed, lane, deadline));
            while (true) {
                try {
                    return watched(borrowed.connection, deadline, work);
                } catch (SQLException e) {
                    failed(borrowed, deadline, e);
                }
            }
        }
    }

    /** That work; on a connection of ours it ends soon after its thread is interrupted or its time is over. */
    <T> T watched(Connection connection, Deadline deadline, Work<T> work) throws SQLException {
        return watched(connection, deadline, () -> {}, work);
    }

    /** The same; {@code interrupted} is run by whoever interrupts its thread. */
    <T> T watched(Connection connection, Deadline deadline, Runnable interrupted, Work<T> work) throws SQLException {
        return prompt() ? watched.on(connection, deadline, interrupted, work) : work.on(connection);
    }

    /** Whether no call outlasts its time or an interrupt: an application's source may do so, and a driver. */
    boolean prompt() {
        return dialect.endsAtAbort() && settings.dataSource().isEmpty();
    }

    /**
     * A pool stands before the server, and what a session keeps may be found by others.
     *
     * @param ofTransactions whether it gives each transaction another session
     */
    void leaveNothing(boolean ofTransactions) {
        // Connections of our own were made so.
        leavesNothing = settings.dataSource().isPresent();
        sharesSessions = ofTransactions;
    }

    /** Whether a connection has another session for each transaction. */
    boolean sharesSessions() {
        return sharesSessions;
    }

    Lanes lanes() {
        return lanes;
    }

    String place() {
        return settings.place();
    }

    NotExecutedException busy() {
        return new NotExecutedException("no connection to " + settings.place() + " was free in time: all "
                + settings.get(JdbcOptions.CONNECTIONS) + " were busy (lock.connections says how many there are)");
    }

    /** Goes on if the work may be done once more. */
    private void failed(Borrowed borrowed, Deadline deadline, SQLException e)
            throws NotExecutedException, SQLException {
        switch (dialect.failure(e)) {
            case REPEAT -> {
                if (deadline.nanos() == 0) {
                    throw new NotExecutedException("rolled back until the time was over: " + e.getMessage(), e);
                }
            }
            case REFUSED -> throw new NotExecutedException(settings.place() + " refused: " + e.getMessage(), e);
            case READ_ONLY -> {
                borrowed.discard();
                throw readOnly(e);
            }
            case UNWELCOME -> throw unwelcome(e);
            case UNKNOWN -> {
                borrowed.discard();
                throw e;
            }
        }
    }

    /**
     * Has all connections of our own that nobody uses closed: they may lead where that one did, while the address leads
     * elsewhere by now.
     */
    NotExecutedException readOnly(SQLException e) {
        opening.lock();
        try {
            if (own != null && !closed) {
                own.getHikariPoolMXBean().softEvictConnections();
            }
        } finally {
            opening.unlock();
        }
        return new NotExecutedException(
                settings.place() + " takes no writes, as a standby does: " + e.getMessage()
                        + ". The next request connects again",
                e);
    }

    InvalidLockUrlException unwelcome(SQLException e) {
        return new InvalidLockUrlException(
                settings.url() + ": the database refuses this user: " + Masked.message(e)
                        + ". Name a user that may connect, and read and write the table "
                        + settings.table().locks()
                        + " and its sequence.",
                null);
    }

    /** Whether that says that the database is not there, or not for us. */
    boolean isUnreachable(Throwable failure) {
        return failure instanceof SQLException e
                && (dialect.failure(e) == Dialect.Failure.UNKNOWN || dialect.failure(e) == Dialect.Failure.READ_ONLY);
    }

    /** A connection for as long as the caller wants it, beside all others, as for listening. */
    Borrowed borrow(Deadline deadline) throws NotExecutedException {
        SharedSource source = shared;
        return source == null ? own() : ready(() -> source.take(deadline));
    }

    private Borrowed borrow(Purpose lane, Deadline deadline) throws NotExecutedException {
        SharedSource source = shared;
        return source == null ? own() : ready(() -> source.take(lane, deadline));
    }

    /** Whether the application has taken all connections, as far as is known. */
    boolean isFull() {
        return shared != null && shared.isFull();
    }

    private Borrowed own() throws NotExecutedException {
        HikariDataSource pool = pool();
        return ready(() -> new Borrowed(pool.getConnection(), pool, null));
    }

    private Borrowed ready(Callable<Borrowed> source) throws NotExecutedException {
        try {
            Borrowed borrowed = source.call();
            if (leavesNothing) {
                borrowed.leaveNothing(dialect);
            }
            return borrowed;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NotExecutedException("interrupted before a connection to " + settings.place() + " was free", e);
        } catch (NotExecutedException e) {
            throw e;
        } catch (Exception e) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof SQLException refused && dialect.failure(refused) == Dialect.Failure.UNWELCOME) {
                    throw unwelcome(refused);
                }
            }
            throw new NotExecutedException("no connection to " + settings.place() + ": " + why(e, shared == null), e);
        }
    }

    /** What the driver said, without what a pool of our own says of itself. */
    private static String why(Exception e, boolean ours) {
        if (!ours || !(e instanceof SQLTransientConnectionException)) {
            return Masked.message(e);
        }
        Throwable said = e.getCause();
        return said == null ? "none could be made in time" : Masked.message(said);
    }

    /** {@return what to give to those who ask for the driver} */
    <T> Optional<T> unwrap(Class<T> type) {
        if (!type.isAssignableFrom(DataSource.class)) {
            return Optional.empty();
        }
        try {
            DataSource given = settings.dataSource().orElse(null);
            return Optional.of(type.cast(given == null ? pool() : given));
        } catch (NotExecutedException e) {
            return Optional.empty();
        }
    }

    private HikariDataSource pool() throws NotExecutedException {
        opening.lock();
        try {
            if (closed) {
                throw new NotExecutedException("the client is closed");
            }
            if (own == null) {
                own = new HikariDataSource(config());
            }
            return own;
        } finally {
            opening.unlock();
        }
    }

    private HikariConfig config() {
        Duration connect = settings.connectTimeout();
        Duration request = settings.requestTimeout();
        // What the database said when it refused is told at the end of this wait, to one who is still there.
        Duration wait = connect.compareTo(request) < 0 ? connect : request.dividedBy(2);
        HikariConfig config = new HikariConfig();
        config.setPoolName("keyway-" + settings.clientName());
        String said = settings.driverUrl().toLowerCase(Locale.ROOT);
        Properties driver = dialect.driver(settings.clientName(), connect, request);
        driver.keySet().removeIf(name -> said.contains(((String) name).toLowerCase(Locale.ROOT) + "="));
        config.setDataSource(new DriverSource(dialect, settings.driverUrl(), driver, request));
        config.setMaximumPoolSize(settings.get(JdbcOptions.CONNECTIONS));
        config.setMinimumIdle(1);
        config.setIdleTimeout(TimeUnit.MINUTES.toMillis(1));
        config.setConnectionTimeout(Math.max(LEAST.toMillis(), wait.toMillis()));
        config.setValidationTimeout(LEAST.toMillis());
        config.setInitializationFailTimeout(-1);
        config.setAutoCommit(true);
        config.setThreadFactory(threads());
        return config;
    }

    private ThreadFactory threads() {
        AtomicInteger made = new AtomicInteger();
        return work -> {
            Thread thread = new Thread(work, "keyway-" + settings.clientName() + "-pool-" + made.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        };
    }

    @Override
    public void close() {
        HikariDataSource pool;
        opening.lock();
        try {
            closed = true;
            pool = own;
        } finally {
            opening.unlock();
        }
        if (pool != null) {
            pool.close();
        }
        if (shared != null) {
            shared.close();
        }
    }

    /** A connection that goes back to its source as it was. */
    static final class Borrowed implements AutoCloseable {
        final Connection connection;
        private final @Nullable HikariDataSource pool;
        private final @Nullable SharedSource shared;
        private final boolean manual;
        private int timeout = -1;
        private boolean discarded;
        private Dialect.@Nullable Undo undo;

        Borrowed(Connection connection, @Nullable HikariDataSource pool, @Nullable SharedSource shared)
                throws SQLException {
            this.connection = connection;
            this.pool = pool;
            this.shared = shared;
            boolean ready = false;
            try {
                this.manual = !connection.getAutoCommit();
                if (manual) {
                    connection.setAutoCommit(true);
                }
                ready = true;
            } finally {
                if (!ready) {
                    connection.close();
                }
            }
        }

        private void leaveNothing(Dialect dialect) throws SQLException {
            boolean ready = undo != null;
            if (ready) {
                return;
            }
            try {
                undo = dialect.leaveNothing(connection)
                        .orElseThrow(() -> new SQLException("this connection hides its driver, others did not"));
                ready = true;
            } finally {
                if (!ready) {
                    discard();
                    close();
                }
            }
        }

        boolean isDiscarded() {
            return discarded;
        }

        /** Gives all that follows so much time. */
        void limit(Deadline deadline) {
            try {
                if (timeout < 0) {
                    timeout = connection.getNetworkTimeout();
                }
                connection.setNetworkTimeout(Runnable::run, deadline.millis());
            } catch (SQLException e) {
                // A driver without timeouts, such as one of a database in this process.
                timeout = -1;
            }
        }

        /** It is closed, and not given to anybody again. */
        void discard() {
            discarded = true;
            try {
                connection.abort(Runnable::run);
            } catch (SQLException e) {
                // It is of no use any more.
            }
            if (pool != null) {
                pool.evictConnection(connection);
            }
        }

        @Override
        public void close() {
            if (!discarded && !isAtRest()) {
                discard();
            }
            if (discarded && pool != null) {
                // The pool has none of it any more, and cannot take it back.
                return;
            }
            if (shared == null || !shared.takesBack(this)) {
                restore();
            }
        }

        /** Whether it is open and in no transaction: what came next would be a part of that one. */
        private boolean isAtRest() {
            try {
                return connection.getAutoCommit();
            } catch (SQLException e) {
                return false;
            }
        }

        /** It goes back to the pool that it came from. */
        void restore() {
            try (connection) {
                if (!discarded && timeout >= 0) {
                    connection.setNetworkTimeout(Runnable::run, timeout);
                }
                if (!discarded && undo != null) {
                    undo.run();
                }
                if (!discarded && manual) {
                    connection.setAutoCommit(false);
                }
            } catch (SQLException e) {
                // The pool finds out that it is of no use.
            }
        }
    }
}
