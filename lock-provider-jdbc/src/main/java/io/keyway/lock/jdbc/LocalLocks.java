// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.jdbc;

import io.keyway.lock.LockMode;
import io.keyway.lock.LockName;
import io.keyway.lock.spi.Deadline;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this client has and waits for of each key, in session mode. PostgreSQL gives a session a lock that it has
 * already, so that the server cannot keep two requests of one client apart: that is done here.
 *
 * <p>A key is <b>free</b>, or <b>held</b>: by one session of this client, in one mode, for one grant if that is
 * EXCLUSIVE, for one or more if it is SHARED. Beside that, requests wait in the order in which they came. Invariants:
 *
 * <ol>
 *   <li>The server is asked for a key only while it is free here, so that no session has a lock twice: readers that
 *       join have the lock of the first, with tokens of their own, and the last of them gives it back.
 *   <li>At most one call of a key is under way at the server: it is <b>asked</b>. Another one waits for its end. A
 *       session that waits at the server for a key has <b>begun</b> such a wait; meanwhile nobody asks.
 *   <li>Only the first that waits asks, and a reader joins only if no writer waits before it.
 *   <li>What is held is in the books from before its session is given back until after the server has ended it, or the
 *       session is over.
 *   <li>A request that was withdrawn gets nothing any more.
 * </ol>
 *
 * <p>Two names may have the same key. They exclude each other then, as if they were one name: nobody gets anything that
 * is another's, but one waits for nothing. It is said in the log when it is seen.
 */
final class LocalLocks {

    private static final Logger LOG = LoggerFactory.getLogger(LocalLocks.class);

    /** How many withdrawn requests are remembered: longer than one of their calls can be under way. */
    private static final int WITHDRAWN = 10_000;

    /** A key that this client holds. */
    static final class Held {
        final AdvisoryKey key;
        final DbSession session;
        final LockMode mode;
        private final Set<Long> grants = new LinkedHashSet<>();

        private Held(AdvisoryKey key, DbSession session, LockMode mode) {
            this.key = key;
            this.session = session;
            this.mode = mode;
        }
    }

    /** One grant; {@code askedAt} is the time of the send of the last statement that it rests on. */
    record One(Held held, Request request, long token, long askedAt, AtomicLong renewedAt) {

        /** The client has said that it has it still. */
        void renewed() {
            renewedAt.set(System.nanoTime());
        }

        boolean isOverdue() {
            return System.nanoTime() - renewedAt.get() > request.ttl().toNanos();
        }

        Grant grant() {
            return new Grant(request.id(), request.key(), token, request.ttl());
        }
    }

    private static final class Entry {
        final LockName first;
        final Map<Long, Request> waiting = new LinkedHashMap<>();

        @Nullable
        Held held;

        boolean asked;
        /** For whom a session waits at the server. */
        @Nullable
        Request begun;
        /** The session that is to be told of releases. */
        @Nullable
        DbSession listening;

        Entry(LockName first) {
            this.first = first;
        }

        boolean isOver() {
            return waiting.isEmpty() && held == null && !asked && begun == null && listening == null;
        }
    }

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition change = lock.newCondition();
    private final Map<AdvisoryKey, Entry> entries = new HashMap<>();
    private final Map<Long, One> grants = new HashMap<>();
    private final Map<Long, One> lost = new HashMap<>();
    private final Set<Long> withdrawn = new LinkedHashSet<>();
    private boolean warned;

    /** What a request may do. */
    enum Turn {
        /** Ask the server. */
        ASK,
        /** Have the lock of the readers that this client has. */
        JOIN,
        /** Wait. */
        WAIT
    }

    /** Begins a call of that key, when no other is under way; {@link #end} has to follow. */
    void begin(AdvisoryKey key, LockName name, Deadline deadline) throws NotExecutedException, InterruptedException {
        lock.lockInterruptibly();
        try {
            while (entry(key, name).asked) {
                if (change.awaitNanos(deadline.nanos()) <= 0) {
                    throw new NotExecutedException("another call for " + name + " took too long");
                }
            }
            entry(key, name).asked = true;
        } finally {
            lock.unlock();
        }
    }

    private Entry entry(AdvisoryKey key, LockName name) {
        Entry entry = entries.computeIfAbsent(key, fresh -> new Entry(name));
        if (!entry.first.equals(name) && !warned) {
            warned = true;
            LOG.warn(
                    "The names {} and {} have the same number at PostgreSQL ({}): they exclude each other. Rename one"
                            + " of them, or use lock.mode=table.",
                    entry.first,
                    name,
                    key.number());
        }
        return entry;
    }

    private Entry entry(AdvisoryKey key) {
        Entry entry = entries.get(key);
        if (entry == null) {
            throw new IllegalStateException("a call of a key has begun");
        }
        return entry;
    }

    /** That call is over. */
    void end(AdvisoryKey key) {
        lock.lock();
        try {
            entry(key).asked = false;
            forgetIfOver(key);
            change.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void forgetIfOver(AdvisoryKey key) {
        Entry entry = entries.get(key);
        if (entry != null && entry.isOver()) {
            entries.remove(key);
        }
    }

    /** What the request may do, in a call; if it waits, and queues, it has a place from now on. */
    Turn turn(AdvisoryKey key, Request request) throws NotExecutedException {
        lock.lock();
        try {
            if (withdrawn.contains(request.id())) {
                throw new NotExecutedException("request " + request.id() + " was withdrawn");
            }
            Entry entry = entry(key);
            Turn turn = turn(entry, request);
            if (turn == Turn.WAIT && request.queue()) {
                entry.waiting.putIfAbsent(request.id(), request);
            }
            return turn;
        } finally {
            lock.unlock();
        }
    }

    private static Turn turn(Entry entry, Request request) {
        boolean shared = request.mode() == LockMode.SHARED;
        for (Request other : entry.waiting.values()) {
            if (other.id() == request.id()) {
                break;
            }
            if (!shared || other.mode() != LockMode.SHARED || entry.held == null) {
                return Turn.WAIT;
            }
        }
        if (entry.held != null) {
            return shared && entry.held.mode == LockMode.SHARED ? Turn.JOIN : Turn.WAIT;
        }
        return entry.begun == null ? Turn.ASK : Turn.WAIT;
    }

    /** The request was asked for in vain; if it queues, it has a place from now on. */
    void waits(AdvisoryKey key, Request request) {
        lock.lock();
        try {
            if (request.queue() && !withdrawn.contains(request.id())) {
                entry(key).waiting.putIfAbsent(request.id(), request);
            }
        } finally {
            lock.unlock();
        }
    }

    /** {@return how many of this client stand before it} */
    int ahead(AdvisoryKey key, Request request) {
        lock.lock();
        try {
            int ahead = 0;
            Entry entry = entries.get(key);
            if (entry != null) {
                ahead += entry.held == null ? 0 : entry.held.grants.size();
                for (long id : entry.waiting.keySet()) {
                    if (id == request.id()) {
                        break;
                    }
                    ahead++;
                }
            }
            return ahead;
        } finally {
            lock.unlock();
        }
    }

    /** The server has given the key to that session, which the caller has, for that request. */
    One hold(AdvisoryKey key, DbSession session, Request request, long token, long askedAt) {
        lock.lock();
        try {
            Entry entry = entry(key);
            Held held = entry.held;
            if (held == null) {
                held = new Held(key, session, request.mode());
                entry.held = held;
                session.locks.incrementAndGet();
            }
            entry.waiting.remove(request.id());
            One one = new One(held, request, token, askedAt, new AtomicLong(System.nanoTime()));
            held.grants.add(request.id());
            grants.put(request.id(), one);
            return one;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the held key that readers join; null if it is over} */
    @Nullable
    Held held(AdvisoryKey key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            return entry == null ? null : entry.held;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the grant of that request; null if there is none} */
    @Nullable
    One grant(long id) {
        lock.lock();
        try {
            return grants.get(id);
        } finally {
            lock.unlock();
        }
    }

    /** That session, which the caller has, was asked at that time, and has what it had. */
    void confirmed(DbSession session, long askedAt) {
        lock.lock();
        try {
            for (Map.Entry<Long, One> grant : grants.entrySet()) {
                One one = grant.getValue();
                if (one.held().session == session) {
                    grant.setValue(new One(one.held(), one.request(), one.token(), askedAt, one.renewedAt()));
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** Whether the server has to end something so that this grant can end. */
    boolean isLast(One one) {
        lock.lock();
        try {
            return one.held().grants.size() == 1
                    && one.held().grants.contains(one.request().id());
        } finally {
            lock.unlock();
        }
    }

    /** The grant is over, at the server too if it was the last of its key. */
    void ended(One one) {
        lock.lock();
        try {
            grants.remove(one.request().id());
            Held held = one.held();
            if (held.grants.remove(one.request().id()) && held.grants.isEmpty()) {
                held.session.locks.decrementAndGet();
                Entry entry = entries.get(held.key);
                if (entry != null && entry.held == held) {
                    entry.held = null;
                    forgetIfOver(held.key);
                }
            }
        } finally {
            lock.unlock();
        }
    }

    /** The session is over: what it held is. {@return the grants that were lost} */
    List<One> lost(DbSession session) {
        lock.lock();
        try {
            List<One> all = new ArrayList<>();
            for (AdvisoryKey key : List.copyOf(entries.keySet())) {
                Entry entry = entry(key);
                if (entry.listening == session) {
                    entry.listening = null;
                }
                if (entry.held != null && entry.held.session == session) {
                    for (long id : entry.held.grants) {
                        One one = Objects.requireNonNull(grants.remove(id));
                        all.add(one);
                        lost.put(id, one);
                    }
                    entry.held.grants.clear();
                    entry.held = null;
                }
                forgetIfOver(key);
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the session that had the grant of that id when it ended; null if none has} */
    @Nullable
    DbSession lostWith(long id) {
        lock.lock();
        try {
            One one = lost.get(id);
            return one == null ? null : one.held().session;
        } finally {
            lock.unlock();
        }
    }

    /** Nobody asks for that request any more. */
    void forget(AdvisoryKey key, Request request) {
        lock.lock();
        try {
            lost.remove(request.id());
            Entry entry = entries.get(key);
            if (entry != null && entry.waiting.remove(request.id()) != null) {
                forgetIfOver(key);
            }
        } finally {
            lock.unlock();
        }
    }

    /** {@return the grants that the client has not renewed for their ttl} */
    List<One> overdue() {
        lock.lock();
        try {
            return grants.values().stream().filter(One::isOverdue).toList();
        } finally {
            lock.unlock();
        }
    }

    /** {@return the grants of those ids and tokens that stand, by id} */
    Map<Long, One> standing(List<Grant> wanted) {
        lock.lock();
        try {
            Map<Long, One> all = new HashMap<>();
            for (Grant grant : wanted) {
                One one = grants.get(grant.id());
                if (one != null && one.token() == grant.token()) {
                    all.put(grant.id(), one);
                }
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** {@return the longest ttl of what the session holds, in milliseconds; 0 if it holds nothing} */
    long longestTtl(DbSession session) {
        lock.lock();
        try {
            return grants.values().stream()
                    .filter(one -> one.held().session == session)
                    .mapToLong(one -> one.request().ttl().toMillis())
                    .max()
                    .orElse(0);
        } finally {
            lock.unlock();
        }
    }

    // Those that wait.

    /**
     * The request gets nothing any more. {@return whether a session waits at the server for it}
     */
    boolean withdraw(AdvisoryKey key, Request request) {
        lock.lock();
        try {
            withdrawn.add(request.id());
            if (withdrawn.size() > WITHDRAWN) {
                withdrawn.remove(withdrawn.iterator().next());
            }
            Entry entry = entries.get(key);
            if (entry == null) {
                return false;
            }
            entry.waiting.remove(request.id());
            forgetIfOver(key);
            return entry.begun != null && entry.begun.id() == request.id();
        } finally {
            lock.unlock();
        }
    }

    /** {@return those that may ask or join now: the first, and readers behind a first one that reads} */
    List<Request> next(AdvisoryKey key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            if (entry == null || entry.begun != null) {
                return List.of();
            }
            List<Request> all = new ArrayList<>();
            for (Request request : entry.waiting.values()) {
                if (turn(entry, request) == Turn.WAIT) {
                    break;
                }
                all.add(request);
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** A session waits at the server for the first of that key. {@return whom it waits for; null for nobody} */
    @Nullable
    Request beginWait(AdvisoryKey key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            if (entry == null || entry.held != null || entry.waiting.isEmpty()) {
                return null;
            }
            entry.begun = entry.waiting.values().iterator().next();
            return entry.begun;
        } finally {
            lock.unlock();
        }
    }

    /**
     * That wait has come to a lock, for the session that waited. {@return the grant of the request for which it was
     * begun; null if that has left} Others may have been asked for after the token was taken, and after a grant that
     * has a higher one.
     */
    @Nullable
    One won(AdvisoryKey key, DbSession session, long token, long askedAt) {
        lock.lock();
        try {
            Request begun = entry(key).begun;
            return begun == null || !entry(key).waiting.containsKey(begun.id())
                    ? null
                    : hold(key, session, begun, token, askedAt);
        } finally {
            lock.unlock();
        }
    }

    /** No session waits for that key any more. */
    void endWait(AdvisoryKey key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            if (entry != null) {
                entry.begun = null;
                forgetIfOver(key);
            }
        } finally {
            lock.unlock();
        }
    }

    // Those that listen.

    /** Whether releases of that key are told already. */
    boolean isListening(AdvisoryKey key) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            return entry != null && entry.listening != null;
        } finally {
            lock.unlock();
        }
    }

    /** Releases of that key are told from now on, as long as that session lasts, which the caller has. */
    void listens(AdvisoryKey key, DbSession session) {
        lock.lock();
        try {
            entry(key).listening = session;
            session.locks.incrementAndGet();
        } finally {
            lock.unlock();
        }
    }

    /** {@return the keys of which releases are told} */
    Map<AdvisoryKey, DbSession> listening() {
        return listening(false);
    }

    /** {@return those of them for which nobody waits} */
    Map<AdvisoryKey, DbSession> listeningInVain() {
        return listening(true);
    }

    private Map<AdvisoryKey, DbSession> listening(boolean inVain) {
        lock.lock();
        try {
            Map<AdvisoryKey, DbSession> all = new HashMap<>();
            entries.forEach((key, entry) -> {
                DbSession session = entry.listening;
                if (session != null && !(inVain && !entry.waiting.isEmpty())) {
                    all.put(key, session);
                }
            });
            return Collections.unmodifiableMap(all);
        } finally {
            lock.unlock();
        }
    }

    /** They are not told any more, which the caller has arranged on that session. */
    void listensNoMore(AdvisoryKey key, DbSession session) {
        lock.lock();
        try {
            Entry entry = entries.get(key);
            if (entry != null && entry.listening == session) {
                entry.listening = null;
                session.locks.decrementAndGet();
                forgetIfOver(key);
            }
        } finally {
            lock.unlock();
        }
    }
}
