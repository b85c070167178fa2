// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.kit.table.Entry;
import io.keyway.lock.kit.table.Row;
import io.keyway.lock.kit.table.RowBackend;
import io.keyway.lock.kit.table.RowRules;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import io.keyway.lock.spi.TokenFloor;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The store that clients of one name share: rows in memory ({@link RowTable}), changed by the kit's rules. Its verbs
 * are those of a backend, for one session each.
 *
 * <p>A store with a defect, for a test that has to find it, overrides a verb or a decision: those of {@link RowRules},
 * and the forms of them here that know the time.
 */
public class ReferenceStore extends RowRules {

    /** Nothing here waits. */
    private static final Duration LIMIT = Duration.ofHours(1);

    private final LongSupplier clock;
    private final RowTable table;
    private final RowBackend operator;
    private final AtomicLong attempts = new AtomicLong();
    private long lastToken;
    private long floor;

    /** Makes an empty store on that monotonic clock, in nanoseconds; its tokens are higher than {@code tokensAbove}. */
    public ReferenceStore(LongSupplier clock, long tokensAbove) {
        this.clock = clock;
        this.lastToken = tokensAbove;
        this.table = new RowTable(this, clock);
        this.operator = new RowBackend(new SessionRows(this, null), clock);
    }

    /**
     * Returns where the row of a key stands; two keys never share one (LK-103), and no character sorts before the line
     * feed.
     */
    protected String slot(LockKey key) {
        return key.name().value() + (key.kind() == LockKey.Kind.LOCK ? "\n0" : "\n1");
    }

    @Override
    protected final boolean admits(Row row, Request request) {
        return admits(row, request, clock.getAsLong());
    }

    /**
     * Returns whether the request goes together with those that hold, by the capacity that it states itself (LK-1301).
     */
    protected boolean admits(Row row, Request request, long now) {
        return super.admits(row, request);
    }

    @Override
    protected final long term(Request request, boolean holds) {
        long now = clock.getAsLong();
        return expiry(request, holds, now) - now;
    }

    /** Returns until when one that was heard of now is kept: a holder or a waiter. */
    protected long expiry(Request request, boolean holds, long now) {
        return now + request.ttl().toNanos();
    }

    /** Returns the token of the next grant, higher than all before (LK-602); {@code session} is whose it is. */
    protected long nextToken(Session session, LockKey key) {
        return ++lastToken;
    }

    /**
     * Called when a client begins that gives a floor of tokens (LK-608).
     *
     * @throws io.keyway.lock.InvalidLockUrlException if a higher one was given before (LK-609)
     */
    protected void raise(Session session, TokenFloor asked) {
        if (asked.isAbove(floor)) {
            floor = asked.wanted();
            lastToken = Math.max(lastToken, floor);
        }
    }

    /**
     * Called when the store has restarted and forgotten its grants: what is written down stays, as the tokens (LK-603).
     */
    protected void restarted() {}

    /** Returns within what time a waiter asks again though it was told nothing; it also keeps its place by that. */
    protected Duration recheckWithin(Request request) {
        return request.ttl().dividedBy(4);
    }

    /**
     * An alarm rings when somebody who stands before a waiter may be over: nobody has to ask for that, but for a soft
     * writer whose time without readers ends.
     */
    @Override
    protected final Duration recheckWithin(Row row, @Nullable Entry waiter, Request request, Look look) {
        Duration longest = recheckWithin(request);
        Duration needed = super.recheckWithin(row, waiter, request, look);
        return request.isSoft() && needed.compareTo(longest) < 0 ? needed : longest;
    }

    @Override
    protected long rewrittenAfter(Request request) {
        return 0;
    }

    /** As the verb of the backend, for one session; likewise those that follow. */
    public Attempt attempt(Session session, Request request) throws NotExecutedException {
        admit();
        return call(() -> session.rows().attempt(request, LIMIT));
    }

    /** Changes the mode of a grant in one step. */
    public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
        admit();
        return call(() -> session.rows().convert(held, wanted, LIMIT));
    }

    private void admit() throws NotExecutedException {
        attempts.incrementAndGet();
        table.refuseWhileClosed();
        table.sweep();
    }

    /** Extends the grant if it is in force. */
    public Answer renew(Session session, Grant grant) {
        return surely(() -> session.rows().renew(List.of(grant), LIMIT).get(0));
    }

    /** Ends the grant if it is in force; of one that was broken it says that its holder has stopped. */
    public Answer release(Session session, Grant grant) {
        return surely(() -> session.rows().release(grant, LIMIT));
    }

    /** As {@link #release}, but the place stays for what is left of the time that it was to be held at least. */
    public Answer keep(Session session, Grant grant) {
        return surely(() -> session.rows().keep(grant, LIMIT));
    }

    /** Ends the place and the grant of that request, and refuses what is still under way for it. */
    public void withdraw(Session session, Request request) {
        surely(() -> {
            session.rows().withdraw(request, LIMIT);
            return true;
        });
    }

    /** Ends the grant of that token, and tells its client. */
    public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
        table.refuseWhileClosed();
        return call(() -> operator.breakGrant(key, token, reason, LIMIT));
    }

    /** Returns the capacity less the permits that are out, at least 0. */
    public int availablePermits(LockKey key, int capacity) throws NotExecutedException {
        table.refuseWhileClosed();
        return call(() -> operator.availablePermits(key, capacity, LIMIT));
    }

    /** Returns who holds and who waits; changes nothing. */
    public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
        table.refuseWhileClosed();
        return call(() -> operator.show(key, LIMIT));
    }

    /** Returns one page, in the order of the names; a page costs what it shows, however many names there are. */
    public LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException {
        table.refuseWhileClosed();
        return call(() -> operator.list(prefix, after, max, LIMIT));
    }

    private static <T> T call(Callable<T> verb) throws NotExecutedException {
        try {
            return verb.call();
        } catch (NotExecutedException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static <T> T surely(Callable<T> verb) {
        try {
            return call(verb);
        } catch (NotExecutedException e) {
            throw new IllegalStateException(e);
        }
    }

    RowTable table() {
        return table;
    }

    /** A client begins its life; it may give a floor of tokens. */
    public void join(Session session, Optional<TokenFloor> asked) {
        table.join(session, () -> asked.ifPresent(wanted -> raise(session, wanted)));
    }

    /** A client has gone: what it left ends in its time, and alarms ring on the clocks of others. */
    public void leave(Session session) {
        table.leave(session);
    }

    /** Returns the clients that are there. */
    public List<Session> sessions() {
        return table.sessions();
    }

    /** Returns the client of that name in rows, if it is there. */
    protected final Optional<Session> session(String client) {
        return sessions().stream()
                .filter(session -> session.client().equals(client))
                .findFirst();
    }

    /** Returns the highest token that was given. */
    public long lastToken() {
        return lastToken;
    }

    /** Forgets all grants and queues, tells nobody, and goes on: what no store may do. */
    public void forgetAll() {
        table.forgetAll();
    }

    /** Returns whether nothing is held or queued, not even something that has expired. */
    public boolean isEmpty() {
        return table.isEmpty();
    }

    /** Returns whether nobody who lives holds anything or waits. */
    boolean isAtRest() {
        return table.isAtRest();
    }

    /**
     * Forgets all grants and queues, but not the tokens, and is closed until the last of these grants has expired: by
     * then whoever holds what it forgot has stopped (LK-1510).
     */
    public void restart() {
        long opensAt = table.close(this::restarted);
        for (Session session : table.sessions()) {
            session.time().at(opensAt, () -> session.tell(client -> client.connected(ReferenceBackend.SERVER)));
        }
    }

    /** Returns how many things it keeps: holders, waiters, and withdrawn requests. */
    public long kept() {
        return table.kept();
    }

    /** Returns how many attempts arrived. */
    public long attempts() {
        return attempts.get();
    }
}
