// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Attempt;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.NotExecutedException;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The store that clients of one name share, as simple as the rules allow: one table, one lock over it, one clock.
 *
 * <p>A request is granted when it stands first in the queue of its key and fits those that hold; nobody passes anybody
 * (LK-310, LK-1203). A grant ends by its release, by its term counted from the last attempt or renewal that arrived
 * (LK-502), or by a break. A waiter keeps its place by attempts, and loses it after its term (LK-410). Whoever's turn may
 * have come is signalled: when somebody before it leaves, and by an alarm on a waiter's own clock when somebody before it
 * dies, so that no thread of the store's own is needed. Tokens come from one counter that a restart does not touch
 * (LK-603).
 */
public class ReferenceStore extends StoreTurns {

    /** Longer than any call can be under way. */
    private static final long WITHDRAWN_FOR = Duration.ofMinutes(1).toNanos();

    private final Closure closure = new Closure();
    private long attempts;

    /** Makes an empty store on that monotonic clock, in nanoseconds; its tokens are higher than {@code tokensAbove}. */
    public ReferenceStore(LongSupplier clock, long tokensAbove) {
        super(clock, tokensAbove);
    }

    /** As the verb of the backend, for one session; likewise those that follow. */
    public Attempt attempt(Session session, Request request) throws NotExecutedException {
        Turn turn = begin();
        try {
            admit(turn, session, request);
            LockEntry entry = entries.open(slot(request.key()), request.key());
            expire(turn, entry);
            Attempt result = attempt(turn, entry, session, request);
            settle(entry);
            return result;
        } finally {
            end(turn);
        }
    }

    private Attempt attempt(Turn turn, LockEntry entry, Session session, Request request) {
        Place holder = entry.holder(session, request.id());
        if (holder != null) {
            String why = holder.broken;
            if (why == null) {
                holder.expires = expiry(request, true, turn.now);
                return new Attempt.Granted(holder.grant());
            }
            // Its client may believe: this attempt may be one that was lost, and comes late.
            turn.broken(holder, why);
            return Conversion.broken(this, entry, holder, request);
        }
        Place waiter = entry.waiter(session, request.id());
        if (isTurnOf(entry, waiter, request) && admits(entry, request, turn.now)) {
            return new Attempt.Granted(grant(turn, entry, session, request));
        }
        if (request.queue()) {
            if (waiter == null) {
                waiter = new Place(session, request, turn.now);
                entry.enqueue(waiter);
            }
            waiter.expires = expiry(request, false, turn.now);
        }
        return Conversion.waiting(this, entry, waiter, request);
    }

    /** Changes the mode of a grant in one step. */
    public Attempt convert(Session session, Grant held, Request wanted) throws NotExecutedException {
        Turn turn = begin();
        try {
            admit(turn, session, wanted);
            LockEntry entry = look(turn, wanted.key());
            if (entry == null) {
                return new Attempt.Refused(List.of());
            }
            Attempt result = Conversion.attempt(this, entry, session, held, wanted, turn.now);
            if (result instanceof Attempt.Granted) {
                // A writer that has become a reader may leave room for others.
                wake(turn, entry, null);
            }
            settle(entry);
            return result;
        } finally {
            end(turn);
        }
    }

    private Grant grant(Turn turn, LockEntry entry, Session session, Request request) {
        Place holder = new Place(session, request, turn.now);
        holder.token = nextToken(session, request.key());
        holder.expires = expiry(request, true, turn.now);
        holder.keptUntil = keptUntil(request, turn.now);
        holder.outlastsTermUntil = outlastsTermUntil(request, turn.now);
        entry.leave(session, request.id());
        entry.add(holder);
        if (request.mode() != LockMode.EXCLUSIVE) {
            // There may be room for the next, too.
            wake(turn, entry, null);
        }
        return holder.grant();
    }

    /** Extends the grant if it is in force. */
    public Answer renew(Session session, Grant grant) {
        Turn turn = begin();
        try {
            LockEntry entry = look(turn, grant.key());
            Place holder = entry == null ? null : inForce(entry, session, grant);
            if (holder == null) {
                return Answer.NOT_HELD;
            }
            if (holder.broken != null) {
                // Said again, before the answer: the holder learns why.
                turn.broken(holder, holder.broken);
                return Answer.NOT_HELD;
            }
            holder.expires = expiry(holder.request, true, turn.now);
            holder.known();
            return Answer.DONE;
        } finally {
            end(turn);
        }
    }

    /** Ends the grant if it is in force; of one that was broken it says that its holder has stopped. */
    public Answer release(Session session, Grant grant) {
        return finish(session, grant, false);
    }

    /** As {@link #release}, but the place stays for what is left of the time that it was to be held at least. */
    public Answer keep(Session session, Grant grant) {
        return finish(session, grant, true);
    }

    private Answer finish(Session session, Grant grant, boolean keeps) {
        Turn turn = begin();
        try {
            LockEntry entry = look(turn, grant.key());
            Place holder = entry == null ? null : inForce(entry, session, grant);
            if (entry == null || holder == null) {
                return Answer.NOT_HELD;
            }
            if (!keeps || holder.broken != null || !entry.keep(holder, turn.now)) {
                entry.remove(holder);
                wake(turn, entry, holder);
            }
            settle(entry);
            return holder.broken == null ? Answer.DONE : Answer.NOT_HELD;
        } finally {
            end(turn);
        }
    }

    /** Ends the place and the grant of that request, and refuses what is still under way for it. */
    public void withdraw(Session session, Request request) {
        Turn turn = begin();
        try {
            long term = request.ttl().toNanos();
            session.withdraw(request.id(), turn.now, turn.now + Math.max(4 * term, WITHDRAWN_FOR));
            LockEntry entry = look(turn, request.key());
            if (entry == null) {
                return;
            }
            Place left = entry.leave(session, request.id());
            if (left == null) {
                left = entry.holder(session, request.id());
                if (left != null && !left.undo()) {
                    entry.remove(left);
                }
            }
            if (left != null) {
                wake(turn, entry, left);
            }
            settle(entry);
        } finally {
            end(turn);
        }
    }

    /**
     * Ends the grant of that token, and tells its client. Its place is kept until the client has answered by a release, or
     * its term has passed (LK-1105).
     */
    public boolean breakGrant(LockKey key, long token, String reason) throws NotExecutedException {
        Turn turn = begin();
        try {
            closure.refuseWhileClosed(turn.now);
            LockEntry entry = look(turn, key);
            if (entry != null) {
                for (Place holder : entry.holders()) {
                    if (holder.token == token && holder.kept) {
                        entry.remove(holder);
                        wake(turn, entry, holder);
                        settle(entry);
                        return true;
                    }
                    if (holder.token == token && holder.broken == null) {
                        entry.broke(holder, reason);
                        turn.broken(holder, reason);
                        return true;
                    }
                }
            }
            return false;
        } finally {
            end(turn);
        }
    }

    /** Returns the capacity less the permits that are out, at least 0. */
    public int availablePermits(LockKey key, int capacity) throws NotExecutedException {
        Turn turn = begin();
        try {
            closure.refuseWhileClosed(turn.now);
            LockEntry entry = look(turn, key);
            return entry == null ? capacity : (int) Math.max(0, capacity - entry.permitsOut());
        } finally {
            end(turn);
        }
    }

    /** Returns who holds and who waits; changes nothing. */
    public Optional<LockStatus> show(LockKey key) throws NotExecutedException {
        Turn turn = begin();
        try {
            closure.refuseWhileClosed(turn.now);
            LockEntry entry = entries.find(slot(key));
            return entry == null ? Optional.empty() : entry.status(turn.now);
        } finally {
            end(turn);
        }
    }

    /** Returns one page, in the order of the names; a page costs what it shows, however many names there are. */
    public LockPage list(String prefix, Optional<String> after, int max) throws NotExecutedException {
        Turn turn = begin();
        try {
            closure.refuseWhileClosed(turn.now);
            return entries.page(prefix, after, max, turn.now);
        } finally {
            end(turn);
        }
    }

    /**
     * Forgets all grants and queues, but not the tokens, and is closed until the last of these grants has expired: by then
     * whoever holds what it forgot has stopped (LK-1510).
     */
    public void restart() {
        List<Session> told;
        long opensAt;
        lock.lock();
        try {
            opensAt = closure.begin(entries.lastExpiry(clock.getAsLong()));
            forgetAll();
            restarted();
            told = List.copyOf(sessions);
        } finally {
            lock.unlock();
        }
        for (Session session : told) {
            session.time.at(opensAt, () -> session.tell(client -> client.connected(ReferenceBackend.SERVER)));
        }
    }

    /** Returns how many things it keeps: holders, waiters, and withdrawn requests. */
    public long kept() {
        lock.lock();
        try {
            long now = clock.getAsLong();
            return entries.places(now)
                    + sessions.stream()
                            .mapToLong(session -> session.remembered(now))
                            .sum();
        } finally {
            lock.unlock();
        }
    }

    /** Returns how many attempts arrived. */
    public long attempts() {
        lock.lock();
        try {
            return attempts;
        } finally {
            lock.unlock();
        }
    }

    private void admit(Turn turn, Session session, Request request) throws NotExecutedException {
        attempts++;
        closure.refuseWhileClosed(turn.now);
        if (session.hasWithdrawn(request.id())) {
            throw new NotExecutedException("request " + request.id() + " was withdrawn");
        }
        sweep(turn);
    }
}
