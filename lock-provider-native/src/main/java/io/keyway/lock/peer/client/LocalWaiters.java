// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.TreeModes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The users of one client who want one lock: those who queue, in order, those who want an answer at once, soft
 * writers, and those who have it and want it in another mode. It is the half of {@link LockClientHelper} before the
 * grant: all answers but the grant itself end here.
 *
 * <p><b>States</b> of a waiter. <i>Here</i>: the manager does not know of it, in this session. <i>Sent</i>: its request
 * is at the manager, or on the way. <i>Pending</i>: a grant came for it, and the echo of its frame is to show how much
 * belief that leaves; if too little, the grant is confirmed once, and goes back the next time, with which the waiter is
 * here again. It is over when it is served, refused, has failed, or was withdrawn by its user. Who was served from the
 * cache while its request was on the way, and may hold beside others, leaves a <i>spare</i> request: what comes of it
 * serves the next, so that a client comes to have as many grants as it has users at a time. A spare is withdrawn as
 * soon as the member has it and did not grant it: nobody waits for nobody.
 *
 * <p><b>Invariants.</b> Each waiter is in one list, and is told one outcome. A grant answers the request that it names,
 * and no other; one that nobody wants goes back by its token. With the session all requests and pending grants are
 * over, and all who wait are here again. Each of those who queue hears once that it waits ({@link PlaceNews}).
 */
class LocalWaiters {
    private final Key key;
    private final boolean cache;
    private WaiterList queue = new WaiterList();
    private WaiterList asks = WaiterList.NONE;
    private WaiterList softWriters = WaiterList.NONE;
    /** Those who have the lock in another mode. */
    private WaiterList conversions = WaiterList.NONE;

    private WaiterList spares = WaiterList.NONE;
    private List<Waiter> pending = List.of();
    /** Who has heard that it waits; null as long as nobody can have waited behind another one. */
    private @Nullable PlaceNews places;

    /** @param cache whether granted locks may be kept */
    LocalWaiters(Key key, boolean cache) {
        this.key = key;
        this.cache = cache;
    }

    private PlaceNews places() {
        PlaceNews all = places == null ? new PlaceNews(key) : places;
        places = all;
        return all;
    }

    /** @param local the user of this client who holds the lock; null if none does */
    void add(LockCall.Acquire call, @Nullable List<Participant> local, Turn turn) {
        Waiter waiter = new Waiter(call, turn.now() - call.waited());
        if (call.waitsSoftly()) {
            softWriters = softWriters.and(waiter);
            return;
        }
        if (!call.queue() && call.quiet() > 0) {
            // It would have to wait for a time without readers.
            turn.tell(new LockNotice.Refused(key, call.request(), List.of(), call.user()));
            return;
        }
        if (!call.queue()) {
            asks = asks.and(waiter);
            return;
        }
        queue.add(waiter);
        if (places != null || local != null || queue.size() > 1) {
            places().joined(waiter, queue, local, turn);
        }
    }

    /** A user of this client who holds the lock wants it in another mode. */
    void addConversion(LockCall.Acquire call, Turn turn) {
        conversions = conversions.and(new Waiter(call, turn.now() - call.waited()));
    }

    /** A user who waits. */
    @Nullable
    Waiter find(long request) {
        Waiter waiter = queue.find(request);
        waiter = waiter == null ? asks.find(request) : waiter;
        waiter = waiter == null ? softWriters.find(request) : waiter;
        return waiter == null ? conversions.find(request) : waiter;
    }

    private @Nullable Waiter remove(long request) {
        Waiter waiter = queue.remove(request);
        waiter = waiter == null ? asks.remove(request) : waiter;
        waiter = waiter == null ? softWriters.remove(request) : waiter;
        waiter = waiter == null ? conversions.remove(request) : waiter;
        if (waiter != null) {
            dropPending(waiter);
        }
        return waiter;
    }

    private void dropPending(Waiter waiter) {
        if (waiter.pending) {
            waiter.pending = false;
            pending = pending.size() == 1 ? List.of() : new ArrayList<>(pending);
            if (!pending.isEmpty()) {
                pending.remove(waiter);
            }
        }
    }

    boolean isEmpty() {
        return anyone() == null;
    }

    /** Those who queue, in order. */
    WaiterList queue() {
        return queue;
    }

    /** Those who want an answer at once, in order. */
    WaiterList asks() {
        return asks;
    }

    /** The first who queues, else the first who wants an answer at once. */
    @Nullable
    Waiter next() {
        return queue.isEmpty() ? asks.first() : queue.first();
    }

    /** Of all who want a grant. */
    private @Nullable Waiter anyone() {
        Waiter next = next();
        return next == null ? softWriters.first() : next;
    }

    /**
     * Who takes the idle grant: the first of those who queue whom it serves, then of those who want an answer at once.
     */
    @Nullable
    Waiter taker(ClientGrant held) {
        Waiter first = queue.firstTaker(held);
        return first == null && queue.allPass(held) ? asks.firstTaker(held) : first;
    }

    /** Those who have the lock and want it in another mode. */
    WaiterList conversions() {
        return conversions;
    }

    // Requests

    /**
     * Sends the requests of those who queue and have not asked: of all, or up to the first who wants the lock for
     * itself.
     */
    void requestInTurn(boolean all, Turn turn) {
        for (Waiter waiter = queue.first(); waiter != null; waiter = waiter.after) {
            request(waiter, turn);
            if (!all && waiter.isExclusive()) {
                return;
            }
        }
    }

    void requestAsks(Turn turn) {
        for (Waiter ask = asks.first(); ask != null; ask = ask.after) {
            request(ask, turn);
        }
    }

    /** Those of soft writers wait at the manager, which alone knows when nobody else wants the lock. */
    void requestSoftly(Turn turn) {
        for (Waiter waiter = softWriters.first(); waiter != null; waiter = waiter.after) {
            request(waiter, turn);
        }
    }

    void requestConversions(GrantList grants, Turn turn) {
        for (Waiter waiter = conversions.first(); waiter != null; waiter = waiter.after) {
            ClientGrant held = grants.covering(waiter.call.converts());
            if (held != null) {
                request(waiter, held.handle.token(), turn);
            }
        }
    }

    /**
     * The ttl by which the member is to hear of this client, for whoever waits for its word: the shortest of those who
     * queue and ask by the same rule, and of changes of mode; 0 if nobody waits.
     */
    long awaitedTtl(boolean all) {
        if (!all && isExclusivePending()) {
            return pending.get(0).call.ttl();
        }
        long shortest = queue.shortestTtl(0, all);
        Waiter ask = asks.first();
        if (all) {
            shortest = asks.shortestTtl(shortest, true);
        } else if (shortest == 0 && ask != null) {
            shortest = ask.call.ttl();
        }
        shortest = softWriters.shortestTtl(shortest, true);
        shortest = conversions.shortestTtl(shortest, true);
        return shortest == 0 ? spares.shortestTtl(0, true) : shortest;
    }

    /** Sends the waiter's request, unless that has been done. */
    void request(Waiter waiter, Turn turn) {
        request(waiter, 0, turn);
    }

    /** {@code converts}: the first token of the grant whose mode is to change; 0 for a new one. */
    private void request(Waiter waiter, long converts, Turn turn) {
        if (waiter.isSent()) {
            return;
        }
        LockCall.Acquire call = waiter.call;
        waiter.sent = turn.send(
                turn.client().session(),
                new LockMessage.Acquire(
                        key,
                        call.request(),
                        call.mode(),
                        call.permits(),
                        call.capacity(),
                        call.perResource(),
                        call.ttl(),
                        !call.queue(),
                        !waiter.told,
                        cache && call.atLeast() == 0,
                        turn.now() - waiter.since,
                        call.patience(),
                        call.atLeast(),
                        converts,
                        call.queue() ? call.quiet() : LockMessage.Acquire.IN_THE_QUEUE,
                        call.owner()));
        if (places != null) {
            places.askForReceipt(queue, turn);
        }
    }

    /** A user gave up. */
    void withdraw(long request, Turn turn) {
        Waiter waiter = find(request);
        if (waiter != null) {
            takeBack(waiter, turn);
            remove(request);
            turn.tell(new LockNotice.Withdrawn(key, request, waiter.call.user()));
        }
    }

    /** The grant whose mode was to change is over: whoever wished for that gets nothing. */
    void refuseConversion(Waiter waiter, boolean tellManager, Turn turn) {
        if (tellManager) {
            takeBack(waiter, turn);
        }
        remove(waiter.call.request());
        turn.tell(new LockNotice.Refused(key, waiter.call.request(), List.of(), waiter.call.user()));
    }

    /** The manager is told that nobody wants what that request asked for. */
    private void takeBack(Waiter waiter, Turn turn) {
        if (waiter.pending) {
            returnUnused(waiter.session, waiter.token, turn);
        } else if (waiter.isSent() && turn.client().exists()) {
            sendWithdraw(waiter.call.request(), turn);
        }
    }

    void sendWithdraw(long request, Turn turn) {
        turn.send(turn.client().session(), new LockMessage.Withdraw(key, request));
    }

    /** A grant that nobody wants goes back at once, by its token. */
    void returnUnused(Peer to, long token, Turn turn) {
        turn.send(to, new LockMessage.Release(key, token, token - 1));
    }

    /** Whose request it is: a user who waits, or a spare one. */
    private @Nullable Waiter asker(long request) {
        Waiter waiter = find(request);
        return waiter == null ? spares.find(request) : waiter;
    }

    // Grants that came

    /** The waiter whose request was granted: a grant answers the request that it names, and no other. */
    @Nullable
    Waiter taker(long request) {
        Waiter waiter = asker(request);
        return waiter != null && waiter.isSent() && !waiter.pending ? waiter : null;
    }

    /** A grant came for that waiter. */
    void came(Waiter waiter, Peer from, LockMessage.Granted granted, Turn turn) {
        waiter.session = from;
        waiter.token = granted.token();
        waiter.hi = granted.hi();
        waiter.out = granted.out();
        waiter.wanted = granted.wanted();
        waiter.confirming = false;
        waiter.pending = true;
        pending = pending.isEmpty() ? new ArrayList<>(1) : pending;
        pending.add(waiter);
        turn.client().afterEcho(key);
    }

    /** Those for whom a grant is pending, in the order in which these came. */
    List<Waiter> pending() {
        return pending.isEmpty() ? List.of() : List.copyOf(pending);
    }

    boolean arePending() {
        return !pending.isEmpty();
    }

    /** Whether a grant is pending beside which nothing stands. */
    boolean isExclusivePending() {
        for (int i = 0; i < pending.size(); i++) {
            if (pending.get(i).isExclusive()) {
                return true;
            }
        }
        return false;
    }

    /** Whether nothing that is pending stands in the way of a grant of a tree's level for that waiter. */
    boolean admitLevel(Waiter waiter) {
        for (Waiter other : pending) {
            if (!other.converts() && !TreeModes.together(other.call.mode(), waiter.call.mode())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Whether the pending grant may be used: its echo leaves enough belief. If not, it is confirmed once, and goes back
     * the next time.
     */
    boolean stands(Waiter waiter, Belief belief, Turn turn) {
        if (belief.deadline() - turn.now() >= belief.ttl() / 8) {
            return true;
        }
        if (!waiter.confirming) {
            turn.goal(LockGoal.STALE_GRANT_CONFIRMED);
            waiter.confirming = true;
            turn.client().confirm(key);
        } else {
            turn.goal(LockGoal.STALE_GRANT_RETURNED);
            returnUnused(waiter.session, waiter.token, turn);
            stale(waiter, turn);
        }
        return false;
    }

    /** The pending grant is worth nothing: the waiter asks again; the second time in a row its request fails. */
    private void stale(Waiter waiter, Turn turn) {
        dropPending(waiter);
        waiter.sent = 0;
        if (dropSpare(waiter)) {
            return;
        }
        if (++waiter.stale == 2) {
            long request = waiter.call.request();
            remove(request);
            turn.tell(new LockNotice.Failed(key, request, "round trip exceeds ttl/2", waiter.call.user()));
        }
    }

    /** The lock is this waiter's, by its own request. */
    void served(Waiter waiter) {
        remove(waiter.call.request());
    }

    /** The lock is this waiter's, by the cache: what may still come of its request serves another one. */
    void servedFromCache(Waiter waiter, Turn turn) {
        remove(waiter.call.request());
        if (waiter.isSent() && cache && !waiter.isExclusive()) {
            spares = spares.and(waiter);
            turn.goal(LockGoal.SPARE_REQUEST);
            if (waiter.call.queue()) {
                turn.client().receipt(key, waiter.sent);
            }
        }
    }

    /** The spare request is over; false if it is none. */
    boolean dropSpare(Waiter waiter) {
        long request = waiter.call.request();
        if (!waiter.equals(spares.find(request))) {
            return false;
        }
        dropPending(waiter);
        spares.remove(request);
        return true;
    }

    /** The waiter for whom the grant of that token is pending. */
    @Nullable
    Waiter pendingOf(long token) {
        for (Waiter waiter : pending) {
            if (waiter.token == token) {
                return waiter;
            }
        }
        return null;
    }

    /** Others want a pending grant; true if it is one. */
    boolean recalled(Peer from, LockMessage.Recall recall, Turn turn) {
        Waiter waiter = pendingOf(recall.token());
        if (waiter == null) {
            return false;
        }
        waiter.wanted = true;
        deny(from, recall, turn);
        return true;
    }

    /** The lock is in use, which is said to whom it is of use. */
    void deny(Peer from, LockMessage.Recall recall, Turn turn) {
        if (recall.asks()) {
            turn.send(from, new LockMessage.Denied(key, recall.token()));
        }
    }

    /** A pending grant is over; true if it is one. */
    boolean revoked(Peer from, LockMessage.Revoke revoke, Turn turn) {
        long token = revoke.token();
        Waiter waiter = pendingOf(token);
        if (waiter == null) {
            return false;
        }
        if (revoke.cause() == LeaseLoss.Cause.BROKEN) {
            turn.send(from, new LockMessage.Revoked(key, token, token, token));
        } else if (waiter.call.atLeast() > 0 && !waiter.converts()) {
            returnUnused(from, token, turn);
        }
        if (waiter.converts()) {
            dropPending(waiter);
        } else {
            stale(waiter, turn);
        }
        return true;
    }

    // Answers without a grant

    void refused(LockMessage.NotGranted refusal, Turn turn) {
        Waiter waiter = remove(refusal.request());
        if (waiter == null) {
            spares.remove(refusal.request());
        }
        if (waiter != null) {
            long request = refusal.request();
            turn.tell(
                    refusal.cause() == RefusalCause.HELD
                            ? new LockNotice.Refused(key, request, refusal.holders(), waiter.call.user())
                            : new LockNotice.Failed(
                                    key,
                                    request,
                                    refusal.cause().why(key),
                                    refusal.cause().isLasting(),
                                    waiter.call.user()));
        }
    }

    /**
     * Another user of this client has that grant: who wants an answer at once, whose request was not sent, and who is
     * kept out by it, gets its answer.
     */
    void refuseAsks(ClientGrant held, Turn turn) {
        List<Participant> holders = List.of();
        for (Waiter ask : asks) {
            if (!ask.isSent() && (held.isExclusive() || ask.isExclusive())) {
                holders = holders.isEmpty() ? held.holder(turn.now()) : holders;
                asks.remove(ask.call.request());
                turn.tell(new LockNotice.Refused(key, ask.call.request(), holders, ask.call.user()));
            }
        }
    }

    /** Another member decides on this name; false if that is no request of a waiter. */
    boolean misdirected(long request, Turn turn) {
        Waiter waiter = remove(request);
        if (waiter == null) {
            return false;
        }
        LockCall.Acquire moved = waiter.call.after(turn.now() - waiter.since - waiter.call.waited());
        turn.tell(new LockNotice.Misdirected(key, request, moved, waiter.call.user()));
        return true;
    }

    /** Nobody is left to ask at this member: all are to ask elsewhere. */
    void dismissed(GrantList grants, Turn turn) {
        for (Waiter waiter = anyone(); waiter != null; waiter = anyone()) {
            takeBack(waiter, turn);
            misdirected(waiter.call.request(), turn);
        }
        dropAllSpares(true, turn);
        for (Waiter waiter : conversions) {
            ClientGrant held = grants.covering(waiter.call.converts());
            if (held == null || held.weaker == null) { // a withdrawal of the change to a weaker mode ends the grant
                takeBack(waiter, turn);
                failConversion(waiter, "another member decides on this name by now", false, turn);
            }
        }
    }

    private void failConversion(Waiter waiter, String why, boolean lasting, Turn turn) {
        remove(waiter.call.request());
        turn.tell(new LockNotice.Failed(key, waiter.call.request(), why, lasting, waiter.call.user()));
    }

    private void dropAllSpares(boolean tellManager, Turn turn) {
        for (Waiter spare : spares) {
            if (tellManager) {
                takeBack(spare, turn);
            }
            dropSpare(spare);
        }
    }

    /** The member cannot be reached; if that is final, nobody is served before a configuration is changed. */
    void unreachable(ClientView.Unreachable member, Turn turn) {
        String why = member.why();
        if (!member.final_()) {
            queue.forEach(waiter -> tellTrouble(waiter, why, turn));
            asks.forEach(waiter -> tellTrouble(waiter, why, turn));
            softWriters.forEach(waiter -> tellTrouble(waiter, why, turn));
            conversions.forEach(waiter -> tellTrouble(waiter, why, turn));
            return;
        }
        dropAllSpares(false, turn);
        conversions.forEach(waiter -> failConversion(waiter, why, true, turn));
        for (Waiter waiter = anyone(); waiter != null; waiter = anyone()) {
            remove(waiter.call.request());
            turn.tell(new LockNotice.Failed(key, waiter.call.request(), why, true, waiter.call.user()));
        }
    }

    /** The member says why nobody can be granted what that request asks for. */
    void blocked(LockMessage.Blocked blocked, Turn turn) {
        Waiter waiter = blocked.last() ? remove(blocked.request()) : find(blocked.request());
        if (waiter != null && blocked.last()) {
            turn.tell(new LockNotice.Failed(key, blocked.request(), blocked.why(), waiter.call.user()));
        } else if (waiter != null) {
            boolean queues = waiter.call.queue() && !waiter.call.waitsSoftly() && !waiter.converts();
            places().closed(waiter, queues ? queue : WaiterList.NONE, blocked.why(), turn);
        }
    }

    private void tellTrouble(Waiter waiter, String why, Turn turn) {
        turn.tell(new LockNotice.Trouble(key, waiter.call.request(), why, waiter.call.user()));
    }

    // Places

    /** The waiter whose request it is learns its place; those behind it learn that they wait. */
    void placed(LockMessage.Place now, Turn turn) {
        Waiter asked = find(now.request());
        if (asked != null && asked.call.waitsSoftly()) {
            places().told(asked, now.holders(), turn);
        } else if (asked != null) {
            places().placed(asked, now, queue, turn);
        }
    }

    /** Whether some have not heard that they wait. */
    boolean knowNothing() {
        return queue.someKnowNothing();
    }

    /** Those who know nothing learn that they wait. They came last; the first of all hears from the manager itself. */
    void tellAll(List<Participant> holders, Turn turn) {
        places().tellAll(queue, holders, turn);
    }

    /** The member has that message, and has not granted what it asked for. */
    void received(long number, Turn turn) {
        if (places != null) {
            places.received(number, queue, pending.isEmpty(), turn);
        }
        for (Waiter spare : spares) {
            if (spare.sent == number && !spare.pending) {
                turn.goal(LockGoal.SPARE_WITHDRAWN);
                sendWithdraw(spare.call.request(), turn);
                dropSpare(spare);
            }
        }
    }

    /** The lock is this client's: what was said of places is of no use any more. */
    void forgetPlace() {
        if (places != null) {
            places.forgetPlace();
        }
    }

    // Sessions

    /** The session is over, and all requests and pending grants with it. */
    void unsent() {
        places = places == null ? null : new PlaceNews(key);
        pending.forEach(waiter -> waiter.pending = false);
        pending = List.of();
        spares = WaiterList.NONE;
        conversions.forEach(waiter -> waiter.sent = 0);
        queue.forEach(Waiter::unsent);
        softWriters.forEach(Waiter::unsent);
        asks.forEach(ask -> ask.sent = 0);
    }

    /** Waiters of the same kind, for {@link #copy}. */
    LocalWaiters fresh(Key of, boolean mayCache) {
        return new LocalWaiters(of, mayCache);
    }

    LocalWaiters copy() {
        LocalWaiters copy = fresh(key, cache);
        copy.places = places == null ? null : places.copy();
        copy.queue = queue.copy();
        copy.asks = asks.copy();
        copy.softWriters = softWriters.copy();
        copy.conversions = conversions.copy();
        copy.spares = spares.copy();
        for (Waiter waiter : pending) {
            Waiter same = copy.asker(waiter.call.request());
            if (same != null) {
                copy.pending = copy.pending.isEmpty() ? new ArrayList<>(1) : copy.pending;
                copy.pending.add(same);
            }
        }
        return copy;
    }

    void encode(StateEncoder out) {
        queue.encode(out);
        asks.encode(out);
        softWriters.encode(out);
        conversions.encode(out);
        spares.encode(out);
        (places == null ? new PlaceNews(key) : places).encode(out);
    }
}
