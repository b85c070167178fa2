// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.InvalidLockUrlException;
import io.keyway.lock.LockException;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The few connections on which session mode has all of its locks. Whoever takes one has it alone, for one statement. A
 * statement whose outcome nobody knows costs the connection, and so all locks on it: they are told to be lost.
 */
final class DbSessions implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DbSessions.class);

    /** The server had ended the session before it read the statement. */
    private static final String IDLE_TOO_LONG = "57P05";

    private final JdbcSettings settings;
    private final Connections connections;
    private final Dialect dialect;
    private final int most;
    private final Consumer<DbSession> lost;
    private volatile Consumer<DbSession> interrupted = session -> {};
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final List<DbSession> all = new ArrayList<>();

    /** Those that we have given up, and of which the server has not said that they are over. */
    private final List<DbSession> doubtful = new ArrayList<>();

    private int opening;
    private boolean closed;

    /** {@code lost} is told of each session that has ended, by one that holds no lock and may have the session. */
    DbSessions(JdbcSettings settings, Connections connections, Dialect dialect, int most, Consumer<DbSession> lost) {
        this.settings = settings;
        this.connections = connections;
        this.dialect = dialect;
        this.most = most;
        this.lost = lost;
    }

    /** Tells of each thread that is interrupted while it talks, as long as the statement may still end by itself. */
    void onInterrupt(Consumer<DbSession> told) {
        interrupted = told;
    }

    /** Returns one that nobody has: the first that is idle, so that locks gather on few. */
    DbSession take(Deadline deadline) throws NotExecutedException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (true) {
                for (DbSession session : all) {
                    if (session.wanted.get() == 0 && !session.readOnly && session.use.tryAcquire()) {
                        return session;
                    }
                }
                if (closed || deadline.nanos() == 0) {
                    throw closed ? new NotExecutedException("the client is closed") : connections.busy();
                }
                if (all.size() + opening < most) {
                    opening++;
                    break;
                }
                if (change.awaitNanos(deadline.nanos()) <= 0) {
                    throw connections.busy();
                }
            }
        } finally {
            lock.unlock();
        }
        return open(deadline);
    }

    /** Returns one that nobody has and that has no locks, except the first; null if there is none and cannot be. */
    @Nullable
    DbSession takeEmpty() throws NotExecutedException {
        lock.lock();
        try {
            for (int i = all.size() - 1; i > 0; i--) {
                DbSession session = all.get(i);
                if (!session.readOnly && session.use.tryAcquire()) {
                    if (session.locks.get() == 0) {
                        return session;
                    }
                    session.use.release();
                }
            }
            if (closed || all.size() + opening >= most || connections.isFull()) {
                return null;
            }
            opening++;
        } finally {
            lock.unlock();
        }
        return open(Deadline.after(settings.requestTimeout()));
    }

    /** Takes that one; false if it has ended, or was busy until the deadline. */
    boolean take(DbSession session, Deadline deadline) throws InterruptedException {
        lock.lockInterruptibly();
        session.wanted.incrementAndGet();
        try {
            while (!session.isBroken()) {
                if (session.use.tryAcquire()) {
                    return true;
                }
                if (change.awaitNanos(deadline.nanos()) <= 0) {
                    return false;
                }
            }
            return false;
        } finally {
            session.wanted.decrementAndGet();
            change.signalAll();
            lock.unlock();
        }
    }

    /** Gives it back. */
    void give(DbSession session) {
        if (session.readOnly && session.locks.get() == 0) {
            end(session, new SQLException("its server takes no writes", SqlText.READ_ONLY));
        }
        lock.lock();
        try {
            if (!session.isBroken()) {
                session.usedAt = System.nanoTime();
                session.use.release();
            }
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private DbSession open(Deadline deadline) throws NotExecutedException {
        DbSession session = null;
        boolean late;
        try {
            session = begin(deadline);
        } finally {
            lock.lock();
            try {
                opening--;
                late = closed;
                if (session != null && !late) {
                    all.add(session);
                }
                change.signalAll();
            } finally {
                lock.unlock();
            }
        }
        if (late) {
            session.breakOff();
            throw new NotExecutedException("the client is closed");
        }
        return session;
    }

    private DbSession begin(Deadline deadline) throws NotExecutedException {
        DbSession session = new DbSession(connections.borrow(deadline));
        boolean ready = false;
        try {
            // It has the time of a request, whatever is left of the caller's: others will use it, too.
            Deadline limit = Deadline.after(settings.requestTimeout());
            session.borrowed.limit(limit);
            connections.watched(session.borrowed.connection, limit, connection -> {
                refuseUnfit(connection);
                AdvisorySql.watchful(connection, settings.requestTimeout());
                AdvisorySql.identify(session);
                return true;
            });
            ready = true;
            return session;
        } catch (SQLException e) {
            if (dialect.failure(e) == Dialect.Failure.READ_ONLY) {
                throw connections.readOnly(e);
            }
            throw new NotExecutedException("no session of " + settings.place() + ": " + Masked.message(e), e);
        } finally {
            if (!ready) {
                session.breakOff();
            }
        }
    }

    /** The address may lead to another database than at the start. The locks of a standby exclude nobody elsewhere. */
    private void refuseUnfit(Connection connection) throws SQLException {
        Optional<String> why = dialect.obstacle(connection);
        if (why.isPresent() && AdvisorySql.isReadOnly(connection)) {
            throw new SQLException("it " + why.get(), SqlText.READ_ONLY);
        }
        if (why.isPresent()) {
            throw new InvalidLockUrlException(settings.url() + ": this database " + why.get());
        }
    }

    /**
     * Does that on a session that the caller has taken. The session has at least the time of a request: a caller in
     * haste must not cost others their locks.
     *
     * @throws NotExecutedException if the database has refused it; what it had done before stays
     * @throws SQLException if nobody knows; then the session is over
     */
    <T> T on(DbSession session, Deadline deadline, Watched.Work<T> work) throws NotExecutedException, SQLException {
        Deadline request = Deadline.after(settings.requestTimeout());
        Deadline later = request.nanos() > deadline.nanos() ? request : deadline;
        try {
            session.borrowed.limit(later);
            return connections.watched(session.borrowed.connection, later, () -> interrupted.accept(session), work);
        } catch (SQLException e) {
            if (IDLE_TOO_LONG.equals(e.getSQLState())) {
                end(session, e);
                throw new NotExecutedException(settings.place() + " had ended the session: " + e.getMessage(), e);
            }
            switch (dialect.failure(e)) {
                case UNWELCOME -> throw connections.unwelcome(e);
                case READ_ONLY -> {
                    // It ends with its last lock.
                    session.readOnly = true;
                    throw connections.readOnly(e);
                }
                case REFUSED, REPEAT ->
                    throw new NotExecutedException(settings.place() + " refused: " + e.getMessage(), e);
                case UNKNOWN -> end(session, e);
            }
            throw e;
        }
    }

    /** That session is over, and with it whatever it has. */
    void end(DbSession session, Exception why) {
        boolean first;
        lock.lock();
        try {
            first = all.remove(session);
            if (first && !isServersWord(why)) {
                doubtful.add(session);
            }
        } finally {
            lock.unlock();
        }
        if (first) {
            LOG.debug("A session of {} ended", settings.place(), why);
            session.breakOff();
            lock.lock();
            try {
                change.signalAll();
            } finally {
                lock.unlock();
            }
            lost.accept(session);
        }
    }

    /** Whether the server itself has said that the session is over. */
    private static boolean isServersWord(Exception why) {
        return why instanceof SQLException e
                && e.getSQLState() != null
                && (e.getSQLState().startsWith("57P") && !e.getSQLState().equals("57P03"));
    }

    /** Whether the server may still have something for that session, which has ended here. */
    boolean isDoubtful(DbSession session) {
        lock.lock();
        try {
            return doubtful.contains(session);
        } finally {
            lock.unlock();
        }
    }

    /** Ends at the server what has ended here, so that nobody waits for it. */
    void bury(Deadline deadline) throws InterruptedException {
        List<DbSession> some;
        lock.lock();
        try {
            some = List.copyOf(doubtful);
        } finally {
            lock.unlock();
        }
        for (DbSession session : some) {
            try {
                if (callOn(deadline, connection -> AdvisorySql.terminate(connection, session))) {
                    lock.lock();
                    try {
                        doubtful.remove(session);
                    } finally {
                        lock.unlock();
                    }
                }
            } catch (SQLException | NotExecutedException | LockException e) {
                LOG.debug("A session of {} could not be ended at the server", settings.place(), e);
                return;
            }
        }
    }

    private <T> T callOn(Deadline deadline, Watched.Work<T> work)
            throws NotExecutedException, InterruptedException, SQLException {
        DbSession session = take(deadline);
        try {
            return on(session, deadline, work);
        } finally {
            give(session);
        }
    }

    /** Looks at all that nobody uses: whether the server has ended one, and whether one that is empty may rest. */
    void look() {
        List<DbSession> some;
        lock.lock();
        try {
            some = List.copyOf(all);
        } finally {
            lock.unlock();
        }
        for (DbSession session : some) {
            if (session.use.tryAcquire()) {
                long usedAt = session.usedAt;
                try {
                    lookAt(session, usedAt);
                } finally {
                    give(session);
                    session.usedAt = usedAt;
                }
            }
        }
    }

    private void lookAt(DbSession session, long usedAt) {
        try {
            Connection connection = session.borrowed.connection;
            Dialect.Channel channel = dialect.channel(connection).orElse(null);
            if (channel != null) {
                channel.next(Duration.ofMillis(1));
            }
            long idle = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - usedAt);
            if (session.locks.get() == 0 && session.idleMillis > 0 && idle > session.idleMillis / 4) {
                on(session, Deadline.after(settings.requestTimeout()), it -> {
                    AdvisorySql.idle(it, 0);
                    return true;
                });
                session.idleMillis = 0;
            }
        } catch (SQLException e) {
            end(session, e);
        } catch (NotExecutedException e) {
            LOG.debug("A session of {} could not be returned to rest", settings.place(), e);
        }
    }

    @Override
    public void close() {
        List<DbSession> some;
        lock.lock();
        try {
            closed = true;
            some = List.copyOf(all);
            all.clear();
            change.signalAll();
        } finally {
            lock.unlock();
        }
        some.forEach(DbSession::breakOff);
    }
}
