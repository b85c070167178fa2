// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockException;
import io.keyway.lock.LockMode;
import io.keyway.lock.jdbc.Connections.Borrowed;
import io.keyway.lock.jdbc.LocalLocks.One;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.LockBackend.Signals;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * How the waiters of one client in session mode hear that their turn has come. For as many keys as there are
 * connections without locks, a session waits at the server for the lock itself, so that a hand-over is as fast as
 * PostgreSQL's: on the thread that waits for the request, if that was lent, else on one of its own. For all others the
 * releases of the key are told, by a notification which whoever releases makes if somebody has said that it listens.
 *
 * <p>A session waits in slices: a lock that is had rests on the send of its statement, and must not be old then.
 */
final class SessionWaits {

    private static final Logger LOG = LoggerFactory.getLogger(SessionWaits.class);

    private static final int MOST = 8;
    private static final Duration SHORTEST = Duration.ofMillis(50);
    private static final Duration LOOK_EVERY = Duration.ofMillis(250);
    private static final Duration SLICE = Duration.ofMillis(100);
    private static final Duration LIMIT = Duration.ofSeconds(2);
    private static final Duration IDLE_FOR = Duration.ofSeconds(30);

    /** A session, which is taken, and what it waits for. */
    private record Wait(AdvisoryKey key, DbSession session) {}

    /** A wait for which a thread is about to be lent, and when it began. */
    private record Lent(Wait its, long since) {}

    /** What else has to be done now and then. */
    @FunctionalInterface
    interface Chore {
        void run() throws InterruptedException;
    }

    private final JdbcSettings settings;
    private final Connections connections;
    private final DbSessions sessions;
    private final LocalLocks local;
    private final AdvisorySql sql;
    private final Dialect dialect;
    private final Chore chore;
    private final int threads;
    private final Semaphore idle;
    /** What threads of its own have to do. */
    private final BlockingQueue<Runnable> handed = new LinkedBlockingQueue<>();

    /** By request. */
    private final Map<Long, Lent> lent = new ConcurrentHashMap<>();

    private final Map<AdvisoryKey, Wait> waiting = new ConcurrentHashMap<>();
    private final Semaphore toListen = new Semaphore(0);
    private String listeners = "";
    private @Nullable Signals signals;

    /** {@code most} is how many sessions may wait. */
    SessionWaits(
            JdbcSettings settings,
            Connections connections,
            DbSessions sessions,
            LocalLocks local,
            AdvisorySql sql,
            Dialect dialect,
            int most,
            Chore chore) {
        this.settings = settings;
        this.connections = connections;
        this.sessions = sessions;
        this.local = local;
        this.sql = sql;
        this.dialect = dialect;
        this.chore = chore;
        this.threads = Math.min(MOST, most);
        this.idle = new Semaphore(threads);
    }

    /** {@code channel} is where releases are told. */
    void start(Signals told, String channel) {
        signals = told;
        listeners = channel;
        // A cancellation talks to the server, which whoever interrupts does not wait for.
        sessions.onInterrupt(session -> handed.add(session::cancelWait));
        for (int i = 1; i <= threads; i++) {
            told.background("wait-" + i, this::serve);
        }
        told.background("releases", this::listenWhileNeeded);
        told.background("sessions", this::look);
    }

    // Waiting at the server.

    /**
     * Has a session wait for the first of that key; false if there is none for it. {@code lends} is whether the thread
     * of that request comes to wait with it.
     */
    boolean begin(AdvisoryKey key, Request request, boolean lends) throws NotExecutedException {
        if (!idle.tryAcquire()) {
            return false;
        }
        DbSession session = null;
        boolean begun = false;
        try {
            session = sessions.takeEmpty();
            if (session == null || local.beginWait(key) == null) {
                return session != null;
            }
            Wait wait = new Wait(key, session);
            waiting.put(key, wait);
            if (lends) {
                lent.put(request.id(), new Lent(wait, System.nanoTime()));
            } else {
                handed.add(() -> serve(wait, any -> true));
            }
            begun = true;
            return true;
        } finally {
            if (!begun) {
                idle.release();
                if (session != null) {
                    sessions.give(session);
                }
            }
        }
    }

    /** Nobody wants what the session waits for, or another does. */
    void cancel(AdvisoryKey key) {
        Wait wait = waiting.get(key);
        if (wait != null) {
            wait.session().cancelWait();
        }
    }

    private void serve() throws InterruptedException {
        while (true) {
            handed.take().run();
        }
    }

    /** Waits on this thread, which was lent for that long, if a wait was begun for that request. */
    void lend(Request request, Duration limit) {
        Lent its = lent.remove(request.id());
        if (its != null) {
            long begin = System.nanoTime();
            serve(
                    its.its(),
                    first -> first.id() == request.id()
                            && System.nanoTime() - begin < limit.toNanos()
                            && !Thread.currentThread().isInterrupted());
        }
    }

    /**
     * Waits for as long as that says of the first of the key, asked before each slice; what is left then is done by a
     * thread of its own.
     */
    private void serve(Wait wait, Predicate<Request> goesOn) {
        boolean over = true;
        try {
            over = await(wait, goesOn);
        } catch (NotExecutedException | SQLException | LockException e) {
            LOG.debug("A wait at {} has failed", settings.place(), e);
        } finally {
            if (over) {
                waiting.remove(wait.key());
                local.endWait(wait.key());
                sessions.give(wait.session());
                idle.release();
            }
        }
        if (over) {
            recheck(wait.key());
        } else {
            handed.add(() -> serve(wait, any -> true));
        }
    }

    private void tell(One won) {
        long id = won.request().id();
        signals().granted(won.request(), () -> {
            One one = local.grant(id);
            return Optional.ofNullable(one)
                    .map(it -> new Attempt.Granted(
                            it.grant(), Duration.ofNanos(Math.max(0, System.nanoTime() - it.askedAt()))));
        });
    }

    /** False if it has to go on. */
    private boolean await(Wait wait, Predicate<Request> goesOn) throws NotExecutedException, SQLException {
        AdvisoryKey key = wait.key();
        DbSession session = wait.session();
        Request request = local.beginWait(key);
        while (request != null && !session.isBroken()) {
            if (!goesOn.test(request)) {
                return false;
            }
            LockMode mode = request.mode();
            long ttl = request.ttl().toMillis();
            Duration slice = slice(request);
            long askedAt = System.nanoTime();
            OptionalLong token;
            try {
                token = sessions.on(session, limit(), connection -> {
                    if (session.idleMillis < ttl) {
                        AdvisorySql.idle(connection, ttl);
                        session.idleMillis = ttl;
                    }
                    return sql.await(session, key, mode, slice);
                });
            } catch (NotExecutedException e) {
                token = OptionalLong.empty();
                if (session.isBroken()) {
                    throw e;
                }
                giveBack(session, key, mode);
                if (!(e.getCause() instanceof SQLException ended) || !AdvisorySql.isEndOfWait(ended)) {
                    throw e;
                }
            }
            if (token.isPresent()) {
                One won = local.won(key, session, token.getAsLong(), askedAt);
                if (won != null) {
                    // Before all else: it is in the books, and its owner waits.
                    tell(won);
                    return true;
                }
                giveBack(session, key, mode);
            }
            request = local.beginWait(key);
        }
        return true;
    }

    private void giveBack(DbSession session, AdvisoryKey key, LockMode mode) throws NotExecutedException, SQLException {
        sessions.on(session, limit(), connection -> {
            AdvisorySql.unlock(connection, key, mode, PostgresChannel.name(listeners));
            return true;
        });
    }

    private Deadline limit() {
        return Deadline.after(settings.requestTimeout());
    }

    private Duration slice(Request request) {
        Duration quarter = request.ttl().dividedBy(4);
        Duration half = settings.requestTimeout().dividedBy(2);
        Duration least = quarter.compareTo(half) < 0 ? quarter : half;
        return least.compareTo(SHORTEST) < 0 ? SHORTEST : least;
    }

    private void recheck(AdvisoryKey key) {
        List<Request> next = local.next(key);
        next.forEach(request -> signals().recheck(request.key(), request.id()));
    }

    // Being told.

    /** Releases of some key are to be told. */
    void listen() {
        toListen.release();
    }

    /** What was to be told may be told no more, since a session has ended: whoever waits asks again. */
    void retry() {
        Signals told = signals;
        if (told != null) {
            told.recheckAll();
        }
    }

    private void listenWhileNeeded() throws Exception {
        while (true) {
            toListen.acquire();
            toListen.drainPermits();
            try (Borrowed borrowed = connections.borrow(Deadline.after(LIMIT))) {
                Dialect.Channel channel = dialect.channel(borrowed.connection).orElse(null);
                if (channel != null) {
                    try {
                        listen(borrowed, channel);
                    } finally {
                        // In the pool it would go on to listen.
                        borrowed.discard();
                    }
                }
            } catch (SQLException | NotExecutedException e) {
                if (!local.listening().isEmpty()) {
                    toListen.release();
                }
                throw e;
            }
        }
    }

    private void listen(Borrowed borrowed, Dialect.Channel channel) throws SQLException, InterruptedException {
        borrowed.limit(Deadline.after(LIMIT));
        channel.listen(listeners);
        // What was released before it listened.
        local.listening().keySet().forEach(this::recheck);
        long lastNeeded = System.nanoTime();
        while (System.nanoTime() - lastNeeded < IDLE_FOR.toNanos()) {
            for (String text : channel.next(SLICE)) {
                recheck(AdvisoryKey.parse(text));
            }
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
            if (!local.listening().isEmpty()) {
                lastNeeded = System.nanoTime();
            }
        }
    }

    // Looking after the sessions.

    private void look() throws InterruptedException {
        while (true) {
            TimeUnit.NANOSECONDS.sleep(LOOK_EVERY.toNanos());
            sessions.look();
            chore.run();
            lent.forEach((request, its) -> {
                // Its thread does not come: it has failed on the way.
                if (System.nanoTime() - its.since() > LOOK_EVERY.toNanos() && lent.remove(request, its)) {
                    handed.add(() -> serve(its.its(), any -> true));
                }
            });
            for (Map.Entry<AdvisoryKey, DbSession> vain :
                    local.listeningInVain().entrySet()) {
                listenNoMore(vain.getKey(), vain.getValue());
            }
        }
    }

    private void listenNoMore(AdvisoryKey key, DbSession session) throws InterruptedException {
        if (!sessions.take(session, Deadline.after(SLICE))) {
            return;
        }
        try {
            sessions.on(session, limit(), connection -> {
                AdvisorySql.listenNoMore(connection, key);
                return true;
            });
            local.listensNoMore(key, session);
        } catch (SQLException | NotExecutedException e) {
            LOG.debug("{} still sends notices of releases of {}", settings.place(), key.text(), e);
        } finally {
            sessions.give(session);
        }
    }

    private Signals signals() {
        Signals told = signals;
        if (told == null) {
            throw new IllegalStateException("not started");
        }
        return told;
    }
}
