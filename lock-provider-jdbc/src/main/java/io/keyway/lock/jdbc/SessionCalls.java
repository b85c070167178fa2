// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockException;
import io.keyway.lock.jdbc.LocalLocks.Held;
import io.keyway.lock.jdbc.LocalLocks.One;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.sql.SQLException;
import java.util.OptionalLong;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** What session mode asks of the server, each with what that means for the books of {@link LocalLocks}. */
final class SessionCalls {

    private final Connections connections;
    private final DbSessions sessions;
    private final LocalLocks local;
    private final AdvisorySql sql;
    private final Runnable reached;
    private final Consumer<SQLException> missed;

    /** {@code reached} and {@code missed} are told whether the server answers. */
    SessionCalls(
            Connections connections,
            DbSessions sessions,
            LocalLocks local,
            AdvisorySql sql,
            Runnable reached,
            Consumer<SQLException> missed) {
        this.connections = connections;
        this.sessions = sessions;
        this.local = local;
        this.sql = sql;
        this.reached = reached;
        this.missed = missed;
    }

    /**
     * Tries that key on whatever session is idle. {@return the grant; null if another session has it}
     *
     * @param listens whether its releases are to be told from now on
     */
    @Nullable
    One tryLock(AdvisoryKey key, Request request, Deadline deadline, boolean listens) throws Exception {
        while (true) {
            DbSession session = sessions.take(deadline);
            try {
                return tryLock(session, key, request, deadline, listens);
            } catch (NotExecutedException e) {
                if (!session.isBroken()) {
                    throw e;
                }
                // It had ended before; there is another, or will be.
                deadline.check("a session stood");
            } finally {
                sessions.give(session);
            }
        }
    }

    private @Nullable One tryLock(
            DbSession session, AdvisoryKey key, Request request, Deadline deadline, boolean listens) throws Exception {
        long ttl = request.ttl().toMillis();
        if (session.idleMillis < ttl) {
            idle(session, ttl, deadline);
        }
        long askedAt = System.nanoTime();
        OptionalLong token;
        try {
            token = sessions.on(
                    session,
                    deadline,
                    connection -> listens
                            ? sql.tryLockAndListen(connection, key, request.mode())
                            : sql.tryLock(connection, key, request.mode()));
        } catch (NotExecutedException | LockException e) {
            if (session.isBroken()) {
                throw e;
            }
            sessions.on(session, deadline, connection -> {
                AdvisorySql.giveBack(connection, key, request.mode());
                if (listens) {
                    AdvisorySql.listenNoMore(connection, key);
                }
                return true;
            });
            throw e;
        } catch (SQLException e) {
            missed.accept(e);
            throw e;
        }
        reached.run();
        if (listens) {
            local.listens(key, session);
        }
        return token.isPresent() ? local.hold(key, session, request, token.getAsLong(), askedAt) : null;
    }

    private void idle(DbSession session, long millis, Deadline deadline) throws NotExecutedException, SQLException {
        sessions.on(session, deadline, connection -> {
            AdvisorySql.idle(connection, millis);
            return true;
        });
        session.idleMillis = millis;
    }

    /** {@return a further grant of what readers of this client have; null if their session has ended, or is busy} */
    @Nullable
    One join(Held held, Request request, Deadline deadline) throws Exception {
        if (!sessions.take(held.session, deadline)) {
            return null;
        }
        try {
            idle(held.session, Math.max(held.session.idleMillis, request.ttl().toMillis()), deadline);
            long askedAt = System.nanoTime();
            long token = sessions.on(held.session, deadline, sql::next);
            return local.hold(held.key, held.session, request, token, askedAt);
        } finally {
            sessions.give(held.session);
        }
    }

    /** Whether the session was heard of just now; the server waits anew for it. */
    boolean keep(DbSession session, Deadline deadline) throws InterruptedException {
        if (!sessions.take(session, deadline)) {
            return false;
        }
        try {
            long askedAt = System.nanoTime();
            long ttl = local.longestTtl(session);
            idle(session, ttl, deadline);
            local.confirmed(session, askedAt);
            reached.run();
            return true;
        } catch (NotExecutedException e) {
            return false;
        } catch (SQLException e) {
            missed.accept(e);
            return false;
        } finally {
            sessions.give(session);
        }
    }

    /** Whether the server has given it back by this call; else the session has ended before. */
    boolean unlock(AdvisoryKey key, One one, Deadline deadline, String channel) throws Exception {
        DbSession session = one.held().session;
        if (!sessions.take(session, deadline)) {
            if (session.isBroken()) {
                return false;
            }
            throw connections.busy();
        }
        try {
            sessions.on(session, deadline, connection -> {
                AdvisorySql.unlock(connection, key, one.held().mode, channel);
                return true;
            });
            return true;
        } catch (NotExecutedException e) {
            if (session.isBroken()) {
                return false;
            }
            throw e;
        } catch (SQLException e) {
            missed.accept(e);
            throw e;
        } finally {
            sessions.give(session);
        }
    }
}
