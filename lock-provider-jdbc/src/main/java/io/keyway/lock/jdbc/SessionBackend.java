// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.Feature;
import io.keyway.lock.Guarantees;
import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.jdbc.Lanes.Purpose;
import io.keyway.lock.jdbc.LocalLocks.Held;
import io.keyway.lock.jdbc.LocalLocks.One;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.BorrowingBackend;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Incarnation;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.VirtualThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Session mode: each lock is an advisory lock of PostgreSQL, which one of a few connections has, until it gives it back
 * or ends. What this client has is in {@link LocalLocks}; who waits at the server is up to {@link SessionWaits}.
 */
final class SessionBackend implements BorrowingBackend {

    /** A waiter asks again within this time, whatever it hears: hints may be lost. */
    private static final Duration RECHECK = Duration.ofSeconds(5);

    /** One that nobody waits for at the server, since a holder that dies tells nobody. */
    private static final Duration RECHECK_UNSEEN = Duration.ofSeconds(2);

    private static final Logger LOG = LoggerFactory.getLogger(SessionBackend.class);

    /** What the channel is made of on which releases are told. */
    private static final LockName LISTENERS = LockName.of("releases");

    private final JdbcSettings settings;
    private final Dialect dialect;
    private final AdvisorySql sql;
    private final Connections connections;
    private final DbSessions sessions;
    private final LocalLocks local = new LocalLocks();
    private final SessionCalls calls;
    private final SessionWaits waits;
    private final AtomicBoolean connected = new AtomicBoolean();
    private AdvisoryKey.@Nullable Numbers numbers;
    private String channel = "";
    private @Nullable Signals signals;

    SessionBackend(JdbcSettings settings, Dialect dialect) {
        this.settings = settings;
        this.dialect = dialect;
        this.sql = new AdvisorySql(settings.table());
        this.connections = new Connections(settings, dialect, false);
        int most = settings.get(JdbcOptions.CONNECTIONS) - 1;
        this.sessions = new DbSessions(settings, connections, dialect, most, this::lost);
        this.calls = new SessionCalls(connections, sessions, local, sql, this::reached, this::missed);
        this.waits = new SessionWaits(settings, connections, sessions, local, sql, dialect, most - 1, this::lookAfter);
    }

    @Override
    public void start(Signals told, Incarnation client) throws Exception {
        signals = told;
        Deadline deadline = Deadline.after(settings.connectTimeout());
        new Schema(settings, dialect, settings.table(), sql::raise).prepare(connections, deadline);
        Optional<String> found = connections.call(Purpose.ASKING, deadline, connection -> {
            List<String> dangers = AdvisorySql.watchful(connection, settings.requestTimeout());
            Schema.warn(settings, dangers);
            return sql.qualified(connection);
        });
        String sequence = found.orElseThrow(() ->
                new NotExecutedException("the sequence " + settings.table().tokens() + " is gone again"));
        TransactionPoolers.refuse(settings, connections, deadline);
        numbers = AdvisoryKey.under(sequence);
        String listeners = "s_" + AdvisoryKey.of(sequence, LISTENERS).text();
        channel = PostgresChannel.name(listeners);
        reached();
        waits.start(told, listeners);
    }

    // Requests.

    @Override
    public Attempt attempt(Request request, Duration limit) throws Exception {
        return attempt(request, limit, false);
    }

    @Override
    public Attempt attemptWaiting(Request request, Duration limit) throws Exception {
        return attempt(request, limit, true);
    }

    @Override
    public void lend(Request request, Duration limit) {
        waits.lend(request, limit);
    }

    /** {@code lends} is whether its thread comes to wait for it. */
    private Attempt attempt(Request request, Duration limit, boolean lends) throws Exception {
        Deadline deadline = Deadline.after(limit);
        AdvisoryKey key = key(request);
        local.begin(key, request.key().name(), deadline);
        Attempt attempt;
        try {
            One before = local.grant(request.id());
            if (before != null) {
                attempt = again(before, deadline);
            } else {
                attempt = switch (local.turn(key, request)) {
                    case ASK -> ask(key, request, deadline, lends);
                    case JOIN -> join(key, request, deadline);
                    case WAIT -> waiting(key, request, RECHECK);
                };
            }
        } finally {
            local.end(key);
        }
        if (attempt instanceof Attempt.Granted && request.mode() == LockMode.SHARED) {
            // Readers behind it can join.
            recheck(key);
        }
        return attempt;
    }

    /** An attempt of a request that has its grant already. */
    private Attempt again(One before, Deadline deadline) throws Exception {
        if (before.isOverdue()) {
            throw new NotExecutedException("its grant has run out, and is about to be given back");
        }
        if (!calls.keep(before.held().session, deadline)) {
            throw new SQLException("the session that has the lock was not heard of in time");
        }
        before.renewed();
        return new Attempt.Granted(before.grant());
    }

    private Attempt ask(AdvisoryKey key, Request request, Deadline deadline, boolean lends) throws Exception {
        One one = calls.tryLock(key, request, deadline, false);
        if (one == null && request.queue()) {
            local.waits(key, request);
            if (!waits.begin(key, request, lends)) {
                waits.listen();
                one = local.isListening(key) ? null : calls.tryLock(key, request, deadline, true);
                if (one == null) {
                    return waiting(key, request, RECHECK_UNSEEN);
                }
            }
        }
        return one == null ? waiting(key, request, RECHECK) : new Attempt.Granted(one.grant());
    }

    private Attempt join(AdvisoryKey key, Request request, Deadline deadline) throws Exception {
        Held held = local.held(key);
        One one = held == null ? null : calls.join(held, request, deadline);
        return one == null ? waiting(key, request, RECHECK_UNSEEN) : new Attempt.Granted(one.grant());
    }

    private Attempt waiting(AdvisoryKey key, Request request, Duration recheck) {
        int ahead = local.ahead(key, request);
        return new Attempt.Waiting(recheck, ahead == 0 ? OptionalInt.empty() : OptionalInt.of(ahead), List.of());
    }

    @Override
    public List<Answer> renew(List<Grant> grants, Duration limit) throws Exception {
        Deadline deadline = Deadline.after(limit);
        Map<Long, One> standing = local.standing(grants);
        Set<DbSession> all = new HashSet<>();
        standing.values().forEach(one -> all.add(one.held().session));
        Set<DbSession> kept = new HashSet<>();
        for (DbSession session : all) {
            if (calls.keep(session, deadline)) {
                kept.add(session);
            }
        }
        List<Answer> answers = new ArrayList<>(grants.size());
        for (Grant grant : grants) {
            One one = standing.get(grant.id());
            if (one == null || one.isOverdue() || local.grant(grant.id()) == null) {
                answers.add(isDoubtful(grant.id()) ? Answer.UNKNOWN : Answer.NOT_HELD);
            } else if (!kept.contains(one.held().session)) {
                answers.add(Answer.UNKNOWN);
            } else {
                one.renewed();
                answers.add(Answer.DONE);
            }
        }
        return answers;
    }

    /** Whether the grant was lost here, and may not be at the server. */
    private boolean isDoubtful(long id) {
        DbSession session = local.lostWith(id);
        return session != null && sessions.isDoubtful(session);
    }

    @Override
    public Answer release(Grant grant, Duration limit) throws Exception {
        return release(grant, limit, false);
    }

    /** {@code overdue} is whether it is to end only if it has not been renewed for its ttl. */
    private Answer release(Grant grant, Duration limit, boolean overdue) throws Exception {
        Deadline deadline = Deadline.after(limit);
        AdvisoryKey key = key(grant.key().name());
        local.begin(key, grant.key().name(), deadline);
        try {
            One one = local.grant(grant.id());
            if (one == null || one.token() != grant.token() || (overdue && !one.isOverdue())) {
                return isDoubtful(grant.id()) ? Answer.UNKNOWN : Answer.NOT_HELD;
            }
            if (local.isLast(one) && !calls.unlock(key, one, deadline, channel)) {
                return isDoubtful(grant.id()) ? Answer.UNKNOWN : Answer.NOT_HELD;
            }
            local.ended(one);
        } finally {
            local.end(key);
        }
        recheck(key);
        return Answer.DONE;
    }

    @Override
    public void withdraw(Request request, Duration limit) throws Exception {
        AdvisoryKey key = key(request);
        if (local.withdraw(key, request)) {
            waits.cancel(key);
        }
        // An attempt may be under way.
        local.begin(key, request.key().name(), Deadline.after(limit));
        local.end(key);
        One one = local.grant(request.id());
        if ((one != null && release(one.grant(), limit) == Answer.UNKNOWN) || isDoubtful(request.id())) {
            throw new SQLException("the server may still have what a session had that has ended here");
        }
        recheck(key);
    }

    /** Ends what the client has been silent about for its ttl, and what only the server has. */
    private void lookAfter() throws InterruptedException {
        Duration limit = settings.requestTimeout();
        for (One one : local.overdue()) {
            try {
                release(one.grant(), limit, true);
            } catch (InterruptedException e) {
                throw e;
            } catch (Exception e) {
                LOG.debug(
                        "{} was not given back, and is tried again",
                        one.request().key(),
                        e);
            }
        }
        sessions.bury(Deadline.after(limit));
    }

    @Override
    public void forgotten(Request request) {
        AdvisoryKey.Numbers made = numbers;
        // Without them there was no session yet, and nothing to remember.
        if (made != null) {
            local.forget(made.of(request.key().name()), request);
        }
    }

    private void recheck(AdvisoryKey key) {
        for (Request request : local.next(key)) {
            signals().recheck(request.key(), request.id());
        }
    }

    private void lost(DbSession session) {
        missed(new SQLException("the session has ended"));
        for (One one : local.lost(session)) {
            signals()
                    .ended(
                            one.request().key(),
                            one.token(),
                            LeaseLoss.Cause.EXPIRED,
                            "its session with " + settings.place()
                                    + " has ended, and with it all locks of the session");
            recheck(one.held().key);
        }
        waits.retry();
    }

    private AdvisoryKey key(Request request) {
        return key(request.key().name());
    }

    private AdvisoryKey key(LockName name) {
        AdvisoryKey.Numbers made = numbers;
        if (made == null) {
            throw new IllegalStateException("not started");
        }
        return made.of(name);
    }

    private Signals signals() {
        Signals told = signals;
        if (told == null) {
            throw new IllegalStateException("not started");
        }
        return told;
    }

    private void reached() {
        if (!connected.get() && connected.compareAndSet(false, true)) {
            signals().connected(settings.place());
        }
    }

    private void missed(SQLException e) {
        if (connected.compareAndSet(true, false)) {
            signals().disconnected(settings.place(), Masked.message(e));
        }
    }

    // The rest.

    /** An interrupt of a virtual thread ends the connection that it waits for, and so all locks of that session. */
    @Override
    public boolean prompt() {
        return connections.prompt() && !VirtualThreads.isVirtual(Thread.currentThread());
    }

    @Override
    public boolean sessionBound() {
        return true;
    }

    @Override
    public Set<Feature> features() {
        return JdbcGuarantees.SESSION;
    }

    @Override
    public Guarantees guarantees() {
        return JdbcGuarantees.session();
    }

    @Override
    public <T> Optional<T> unwrap(Class<T> type) {
        return Schema.unwrap(type, connections, settings.table());
    }

    @Override
    public void close() {
        sessions.close();
        connections.close();
    }
}
