// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.zookeeper;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.LockBackend;
import io.keyway.lock.spi.NotExecutedException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;

/**
 * The sessions of a client: for each term that is asked for as many as the options say, made when they are first needed.
 * One that is over is replaced by the next call that needs one; never is anything of it taken over.
 */
final class Sessions {
    /** Terms with sessions of their own; whoever asks for one more gets the next shorter one. */
    static final int TERMS = 16;

    private static final Duration CLOSING = Duration.ofSeconds(1);

    private final Session.Terms terms;
    private final Optional<Duration> onlyTerm;
    private final int spread;
    private final Session.Listener listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final TreeMap<Integer, @Nullable Session[]> byTerm = new TreeMap<>();
    private final BlockingQueue<Runnable> tasks = new LinkedBlockingQueue<>();
    private final Set<Session> ending = ConcurrentHashMap.newKeySet();
    private boolean closed;

    /**
     * Makes the sessions of one client; connects to nothing.
     *
     * @param onlyTerm the term of all sessions; if empty, it is what each request asks for
     * @param spread sessions for each term
     */
    Sessions(
            ZooKeeperTarget target,
            List<ACL> acl,
            Paths paths,
            Optional<Duration> onlyTerm,
            int spread,
            Session.Listener listener) {
        this.terms = new Session.Terms(target, acl, paths);
        this.onlyTerm = onlyTerm;
        this.spread = spread;
        this.listener = listener;
    }

    /**
     * Sessions begin and end on a thread of the kit's: the end may wait, and the threads of a handle are named after the one
     * that makes it.
     */
    void runIn(LockBackend.Signals signals) {
        signals.background("sessions", () -> {
            while (true) {
                tasks.take().run();
            }
        });
    }

    /** The session for that key, connected. */
    Session connected(LockKey key, Duration ttl, Limit limit) throws NotExecutedException, InterruptedException {
        Session session = current(key, ttl, limit);
        session.awaitConnected(limit);
        return session;
    }

    /** Any session, connected, for calls that create nothing that lasts. */
    Session any(LockKey key, Duration ttl, Limit limit) throws NotExecutedException, InterruptedException {
        Optional<Session> open = open();
        return open.isPresent() ? open.get() : connected(key, ttl, limit);
    }

    /** A session that is connected, if one is. */
    Optional<Session> open() {
        return all().stream().filter(Session::isConnected).findFirst();
    }

    private List<Session> all() {
        List<Session> all = new ArrayList<>();
        lock.lock();
        try {
            for (Session[] sessions : byTerm.values()) {
                for (Session session : sessions) {
                    if (session != null) {
                        all.add(session);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        return all;
    }

    private Session current(LockKey key, Duration ttl, Limit limit) throws NotExecutedException, InterruptedException {
        int wanted = (int) Math.min(Integer.MAX_VALUE, onlyTerm.orElse(ttl).toMillis());
        int index = Math.floorMod(key.hashCode(), spread);
        if (!lock.tryLock(limit.end().nanos(), TimeUnit.NANOSECONDS)) {
            throw new NotExecutedException("no session was begun in time");
        }
        try {
            if (closed) {
                throw new NotExecutedException("the client is closed");
            }
            int millis = term(wanted);
            Session[] sessions = byTerm.computeIfAbsent(millis, none -> new Session[spread]);
            Session session = sessions[index];
            if (session != null && session.isLost()) {
                session.abandon();
                end(session);
                session = null;
            }
            if (session == null) {
                session = begin(millis, limit);
                sessions[index] = session;
            }
            return session;
        } finally {
            lock.unlock();
        }
    }

    private Session begin(int millis, Limit limit) throws NotExecutedException, InterruptedException {
        CompletableFuture<Session> begun = new CompletableFuture<>();
        tasks.add(() -> {
            try {
                Session session = new Session(terms, millis, listener);
                if (!begun.complete(session)) {
                    end(session);
                }
            } catch (NotExecutedException e) {
                begun.completeExceptionally(e);
            }
        });
        try {
            return begun.get(limit.end().nanos(), TimeUnit.NANOSECONDS);
        } catch (ExecutionException | TimeoutException e) {
            throw new NotExecutedException("no session could be begun", e);
        } finally {
            // One that comes too late is ended.
            begun.cancel(false);
        }
    }

    private void end(Session session) {
        ending.add(session);
        tasks.add(() -> {
            session.close(CLOSING);
            ending.remove(session);
        });
    }

    private int term(int wanted) {
        if (byTerm.containsKey(wanted) || byTerm.size() < TERMS) {
            return wanted;
        }
        Map.Entry<Integer, @Nullable Session[]> shorter = byTerm.floorEntry(wanted);
        return shorter == null ? byTerm.firstKey() : shorter.getKey();
    }

    /** Ends all sessions. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        List<Session> sessions = all();
        sessions.addAll(ending);
        for (Session session : sessions) {
            session.close(CLOSING);
        }
    }
}
