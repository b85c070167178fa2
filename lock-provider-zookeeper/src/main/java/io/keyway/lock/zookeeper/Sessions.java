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
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
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
    private final BlockingQueue<Session> ended = new LinkedBlockingQueue<>();
    private volatile @Nullable Session closing;
    private boolean closed;

    /**
     * Makes the sessions of one client; connects to nothing.
     *
     * @param onlyTerm the term of all sessions; if empty, it is what each request asks for
     * @param spread sessions for each term
     */
    Sessions(
            ZooKeeperTarget target, List<ACL> acl, Optional<Duration> onlyTerm, int spread, Session.Listener listener) {
        this.terms = new Session.Terms(target, acl);
        this.onlyTerm = onlyTerm;
        this.spread = spread;
        this.listener = listener;
    }

    /** The handles of sessions that are over are closed by a thread of the kit's, since that may wait. */
    void closeEndedOnesIn(LockBackend.Signals signals) {
        signals.background("sessions", () -> {
            while (true) {
                Session session = ended.take();
                closing = session;
                session.close(CLOSING);
                closing = null;
            }
        });
    }

    /** The session for that key, connected. */
    Session connected(LockKey key, Duration ttl, Limit limit) throws NotExecutedException, InterruptedException {
        Session session = current(key, ttl);
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

    private Session current(LockKey key, Duration ttl) throws NotExecutedException {
        int wanted = (int) Math.min(Integer.MAX_VALUE, onlyTerm.orElse(ttl).toMillis());
        int index = Math.floorMod(key.hashCode(), spread);
        lock.lock();
        try {
            if (closed) {
                throw new NotExecutedException("the client is closed");
            }
            int millis = term(wanted);
            Session[] sessions = byTerm.computeIfAbsent(millis, none -> new Session[spread]);
            Session session = sessions[index];
            if (session != null && session.isLost()) {
                session.abandon();
                ended.add(session);
                session = null;
            }
            if (session == null) {
                session = new Session(terms, millis, listener);
                sessions[index] = session;
            }
            return session;
        } finally {
            lock.unlock();
        }
    }

    private int term(int wanted) {
        if (byTerm.containsKey(wanted) || byTerm.size() < TERMS) {
            return wanted;
        }
        Map.Entry<Integer, @Nullable Session[]> shorter = byTerm.floorEntry(wanted);
        return shorter == null ? byTerm.firstKey() : shorter.getKey();
    }

    /** Ends all sessions. */
    void close() throws InterruptedException {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
        List<Session> sessions = all();
        ended.drainTo(sessions);
        Session interrupted = closing;
        if (interrupted != null) {
            sessions.add(interrupted);
        }
        for (Session session : sessions) {
            session.close(CLOSING);
        }
    }
}
