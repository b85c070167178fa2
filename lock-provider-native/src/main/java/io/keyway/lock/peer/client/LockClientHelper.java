// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.peer.kernel.Belief;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.ClientView;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.SessionLayer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.GrantHandle;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import org.jspecify.annotations.Nullable;

/**
 * The caching helper of one lock name at one client: it asks the manager for its users, keeps the lock between them,
 * and gives it back. A repaired form of the source's LockClientHelper; docs/algorithms/lease.md numbers the repairs. It
 * has one grant at a time; {@link GrantClient} has several and caches none.
 *
 * <p><b>States.</b> <i>At rest</i>. <i>Waiting</i>: the first of the local waiters ({@link LocalWaiters}) has a request
 * at the manager; the others follow when it has been served, with the time that they have waited, so that their place
 * is that of their call. <i>Active</i>: a grant is in use. <i>Cached</i>: it is idle, and user threads take it without
 * a message until it is recalled, evicted, too long unused or out of tokens. A grant of a member that restarted is
 * <i>frozen</i>: belief stays where it was until the new member has confirmed it.
 *
 * <p><b>Messages.</b> ACQUIRE, WITHDRAW and RELEASE go to the manager; GRANTED, NOT_GRANTED and PLACE come back. RECALL
 * is answered by ACCEPTED if the lock lies idle. If not the grant is <i>wanted</i> from then on: it goes straight back
 * at its release, and DENIED says so to whom that is of use. REVOKE ends the grant; one that breaks it is answered by
 * REVOKED, at once or, with a guard, when the user says that it has stopped. REASSERT claims a frozen grant, REASSERTED
 * confirms it. QUERY is answered by USE.
 *
 * <p><b>Invariants.</b> No deadline is stored: the session carries the lease, and {@link GrantHandle} answers whether
 * it is believed. A grant that nobody waits for goes back at once, by its token. The handle is closed, by
 * compare-and-set against user threads, before a message says that the grant is over; a closed handle is never opened
 * again. Each end that a user did not ask for is told once. Of a grant that lapsed in use the manager hears when the
 * user says that it has stopped, or had a quarter of the ttl to do so ({@link UnconfirmedEnds}). A release that a user
 * waits for is done when the member has it ({@link UnconfirmedReleases}).
 */
public class LockClientHelper implements Machine {
    /** What the users of this name see. */
    public enum Phase {
        REST,
        WAITING,
        ACTIVE,
        CACHED
    }

    private static final int IDLE = 0;
    private static final int FROZEN = 1;
    private static final int STATUS = 2;
    private static final int GRACE = 3;
    private static final int OWED = 4;

    private final Key key;
    private final LockSettings settings;
    private LocalWaiters waiters;
    private @Nullable ClientGrant grant;
    private @Nullable StatusClient questions;
    private @Nullable UnconfirmedReleases releases;
    private @Nullable UnconfirmedEnds ends;
    /** The ttl with which this key awaits its session; 0 if it does not. */
    private long awaiting;

    /** A helper at rest. */
    public LockClientHelper(Key key, LockSettings settings) {
        this(key, settings, new LocalWaiters(key, settings.cache()));
    }

    LockClientHelper(Key key, LockSettings settings, LocalWaiters waiters) {
        this.key = key;
        this.settings = settings;
        this.waiters = waiters;
    }

    private StatusClient questions() {
        StatusClient all = questions == null ? new StatusClient(key, STATUS) : questions;
        questions = all;
        return all;
    }

    private UnconfirmedReleases releases() {
        UnconfirmedReleases all = releases == null ? new UnconfirmedReleases(key) : releases;
        releases = all;
        return all;
    }

    private UnconfirmedEnds ends() {
        UnconfirmedEnds all = ends == null ? new UnconfirmedEnds(key, GRACE) : ends;
        ends = all;
        return all;
    }

    public Phase phase() {
        if (grant != null) {
            return grant.handle.idle() ? Phase.CACHED : Phase.ACTIVE;
        }
        return waiters.isEmpty() ? Phase.REST : Phase.WAITING;
    }

    /** The handle of the present grant; null if there is none. */
    public @Nullable GrantHandle handle() {
        return grant == null ? null : grant.handle;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Granted granted) {
            granted(from, granted, turn);
        } else if (message instanceof LockMessage.NotGranted refusal) {
            waiters.refused(refusal, turn);
        } else if (message instanceof LockMessage.Place place) {
            waiters.placed(place, turn);
        } else if (message instanceof LockMessage.Recall recall) {
            recall(from, recall, turn);
        } else if (message instanceof LockMessage.Revoke revoke) {
            revoke(from, revoke, turn);
        } else if (message instanceof LockMessage.Reasserted reasserted) {
            reasserted(reasserted, turn);
        } else if (message instanceof LockMessage.Query query) {
            ClientGrant asked = grant != null && grant.handle.token() == query.token() ? grant : null;
            ClientGrant.answer(from, query, asked, waiters.queue().participants(turn.now()), turn);
        } else if (!(message instanceof LockMessage.Misdirected m && waiters.misdirected(m.request(), turn))
                && message instanceof LockMessage answer
                && questions != null) {
            questions.received(answer, turn);
        }
        settle(turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall said) {
            asked(said, turn);
        } else if (call instanceof ClientView.Echoed) {
            echoed(turn);
        } else if (call instanceof ClientView.Lapsed lapsed) {
            ClientGrant held = believed(lapsed.ttl());
            if (held != null) {
                end(held, LeaseLoss.Cause.EXPIRED, "not confirmed within 3/4 of its ttl", true, turn);
            }
        } else if (call instanceof ClientView.Doubted doubted) {
            ClientGrant held = believed(doubted.ttl());
            if (held != null) {
                held.doubt("no answer for five eighths of its ttl", turn);
            }
        } else if (call instanceof ClientView.Certain certain) {
            ClientGrant held = believed(certain.ttl());
            if (held != null) {
                held.certain(turn);
            }
        } else if (call instanceof ClientView.Received received) {
            if (releases != null) {
                releases.received(received.number(), turn);
            }
            waiters.received(received.number(), turn);
        } else if (call instanceof ClientView.SessionGone gone) {
            sessionGone(gone, turn);
        } else if (call instanceof ClientView.Disowned disowned) {
            if (releases != null) {
                releases.forget(turn.now(), true);
            }
            if (grant != null && grant.frozen) {
                end(grant, LeaseLoss.Cause.EXPIRED, disowned.why(), false, turn);
            }
        } else if (call instanceof ClientView.SessionOpen open) {
            sessionOpen(open.session(), turn);
        } else if (call instanceof ClientView.Dismissed) {
            if (questions != null) {
                questions.dismissed(turn);
            }
            waiters.dismissed(turn);
        } else if (call instanceof ClientView.Unreachable member) {
            questions().unreachable(member, turn);
            waiters.unreachable(member, turn);
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == OWED && releases != null) {
            turn.timer(OWED, releases.forget(turn.now(), false));
        } else if (slot == STATUS && questions != null) {
            questions.due(turn);
        } else if (slot == GRACE && ends != null) {
            ends.due(turn);
        } else if (slot == FROZEN) {
            if (grant != null && grant.frozen && !grant.handle.belief().holds(turn.now())) {
                String why = "the member restarted and did not confirm it in time";
                end(grant, LeaseLoss.Cause.EXPIRED, why, true, turn);
            }
        } else if (slot == IDLE && grant != null) {
            idle(grant, turn);
        }
        settle(turn);
    }

    // Users

    private void asked(LockCall call, Turn turn) {
        ClientGrant held = grant;
        if (call instanceof LockCall.Acquire acquire) {
            if (waiters.find(acquire.request()) == null) {
                waiters.add(acquire, held == null || held.handle.idle() ? null : held.holder(turn.now()), turn);
            }
        } else if (call instanceof LockCall.Release release) {
            release(release, turn);
        } else if (call instanceof LockCall.Withdraw withdraw) {
            waiters.withdraw(withdraw.request(), turn);
        } else if (call instanceof LockCall.Lapse lapse) {
            if (held != null && held.handle.active(lapse.token())) {
                end(held, LeaseLoss.Cause.EXPIRED, "its deadline passed", true, turn);
            }
        } else if (call instanceof LockCall.Evict) {
            if (held != null) {
                held.evicted = true;
            }
        } else {
            questions().called(call, turn);
        }
    }

    private void release(LockCall.Release call, Turn turn) {
        long token = call.token();
        ClientGrant held = grant;
        if (held == null || !held.handle.active(token)) {
            stopped(token, call.unused(), turn);
            if (releases == null || !releases.awaits(token)) {
                tellReleased(token, Answer.NOT_HELD, turn);
            }
            return;
        }
        Waiter next = waiters.queue().first();
        if (held.wanted && next != null) {
            turn.goal(LockGoal.HAND_OVER_FORBIDDEN);
        }
        if (held.frozen || held.mustReturn() || (next != null && !held.fits(next))) {
            if (held.handle.closeActive(token) != null) {
                held.unused = call.unused() && !held.cacheable();
                giveBack(held, token, turn);
            }
            return;
        }
        tellReleased(token, Answer.DONE, turn);
        if (next != null && held.handle.fresh(turn.now())) {
            long following = held.handle.handOver(token, next.call.user(), turn.now());
            if (following != 0) {
                turn.goal(LockGoal.LOCAL_HAND_OVER);
                tellGranted(next, held.handle, following, turn);
                return;
            }
        }
        held.handle.rest(token, turn.now());
    }

    private void tellReleased(long token, Answer answer, Turn turn) {
        turn.tell(new LockNotice.ReleaseDone(key, token, answer));
    }

    /** The user of a grant that has ended says that it has stopped. */
    private void stopped(long token, boolean unused, Turn turn) {
        Long ttl = ends == null ? null : ends.released(token, unused, turn);
        if (ttl != null && grant == null) {
            turn.client().unhold(key, ttl);
        }
    }

    // Grants

    private void granted(Peer from, LockMessage.Granted granted, Turn turn) {
        Waiter waiter = waiters.taker(granted.request());
        if (waiter == null || grant != null || waiters.arePending()) {
            turn.goal(LockGoal.UNEXPECTED_GRANT_RETURNED);
            waiters.returnUnused(from, granted.token(), turn);
        } else {
            waiters.came(waiter, from, granted, turn);
        }
    }

    private void echoed(Turn turn) {
        ClientGrant held = grant;
        if (held != null) {
            held.confirming = false;
            if (held.frozen && held.reasserted) {
                thaw(held, turn);
            }
        }
        for (Waiter waiter : waiters.pending()) {
            Belief belief = belief(waiter.call.ttl(), turn);
            if (waiters.stands(waiter, belief, turn)) {
                accept(waiter, belief, turn);
            }
        }
    }

    /**
     * The belief on which a grant that just came stands: it runs from the stamp that was echoed, never from the
     * receipt.
     */
    Belief belief(long ttl, Turn turn) {
        return turn.client().belief(ttl);
    }

    private void accept(Waiter waiter, Belief belief, Turn turn) {
        GrantHandle handle = new GrantHandle(key, waiter.token, waiter.hi, waiter.call, turn.now(), belief);
        ClientGrant held = new ClientGrant(waiter.session, waiter.call.request(), handle);
        held.wanted = waiter.wanted;
        grant = held;
        waiters.forgetPlace();
        turn.client().hold(key, handle.ttl());
        if (held.cacheable()) {
            turn.timer(IDLE, turn.now() + settings.cacheFor());
            turn.call(LockKeys.cache(key.algorithm()), new LockCall.Kept(key));
        }
        tellGranted(waiter, handle, handle.token(), turn);
    }

    private void tellGranted(Waiter waiter, GrantHandle handle, long token, Turn turn) {
        waiters.served(waiter);
        turn.tell(new LockNotice.Granted(key, waiter.call.request(), handle, token, waiter.call.user()));
        if (grant != null && waiters.knowNothing()) {
            waiters.tellAll(grant.holder(turn.now()), turn);
        }
    }

    // The way back

    /**
     * The handle is closed: the grant goes to the manager. {@code token}: the use whose release somebody waits for; 0
     * if nobody does.
     */
    private void giveBack(ClientGrant held, long token, Turn turn) {
        gone(held, turn);
        ClientView client = turn.client();
        if (held.frozen) {
            if (client.exists()) {
                turn.send(client.session(), held.release(key));
            } else {
                turn.timer(OWED, releases().owe(held));
            }
            if (token != 0) {
                tellReleased(token, Answer.DONE, turn);
            }
            return;
        }
        Waiter next = waiters.queue().first();
        if ((held.wanted || !held.cacheable()) && next != null && client.exists()) {
            // In the queue before the lock moves on: its place is that of its user's call.
            waiters.request(next, turn);
        }
        long number = turn.send(held.session, held.release(key));
        if (token != 0) {
            releases().sent(number, token, turn);
        }
    }

    /**
     * The grant is over: once seen, for good. {@code release}: the manager does not know it. It hears of it only when
     * the user has had a quarter of the ttl to stop, since it grants the lock at once; or earlier, when the user says
     * that it is done.
     */
    private void end(ClientGrant held, LeaseLoss.Cause cause, String detail, boolean release, Turn turn) {
        GrantHandle.Use use = held.handle.close();
        gone(held, turn);
        if (use != null) {
            turn.tell(new LockNotice.Ended(key, use.token(), cause, detail, use.user()));
        }
        if (release && turn.client().exists()) {
            ends().lapsed(held.handle, use != null, turn);
        }
    }

    /** The grant whose belief moves with the session's, if it is of that ttl; null if there is none. */
    private @Nullable ClientGrant believed(long ttl) {
        return grant != null && !grant.frozen && grant.handle.ttl() == ttl ? grant : null;
    }

    private void gone(ClientGrant held, Turn turn) {
        grant = null;
        turn.client().unhold(key, held.handle.ttl());
        turn.timer(IDLE, Turn.NEVER);
        turn.timer(FROZEN, Turn.NEVER);
        if (held.cacheable()) {
            turn.call(LockKeys.cache(key.algorithm()), new LockCall.Dropped(key));
        }
        turn.tell(new LockNotice.Closed(key, held.handle));
    }

    private void idle(ClientGrant held, Turn turn) {
        boolean idle = held.handle.idle();
        long due = (idle ? held.handle.since() : turn.now()) + settings.cacheFor();
        if (idle && turn.now() - due >= 0 && held.handle.closeIdle()) {
            turn.goal(LockGoal.IDLE_RETURN);
            giveBack(held, 0, turn);
        } else {
            turn.timer(IDLE, due);
        }
    }

    private void recall(Peer from, LockMessage.Recall recall, Turn turn) {
        long token = recall.token();
        ClientGrant held = grant;
        if (waiters.recalled(from, recall, turn)) {
            return;
        }
        if (held != null && held.frozen) {
            // In use, or it would have gone back; the echo that thaws it comes behind this message.
            if (held.reasserted && held.handle.token() == token) {
                held.wanted = true;
                waiters.deny(from, recall, turn);
            }
        } else if (held != null && held.handle.token() == token) {
            held.wanted = true;
            if (closeForRecall(held.handle)) {
                gone(held, turn);
                turn.send(from, new LockMessage.Accepted(key, token, held.handle.used()));
            } else {
                waiters.deny(from, recall, turn);
            }
        } else if (ends != null && ends.contains(token)) {
            waiters.deny(from, recall, turn);
        }
    }

    /** An idle handle is closed before ACCEPTED is sent; true if so. One in use is attended from here on. */
    boolean closeForRecall(GrantHandle handle) {
        while (!handle.closeIdle()) {
            if (handle.attend(true)) {
                return false;
            }
        }
        return true;
    }

    private void revoke(Peer from, LockMessage.Revoke revoke, Turn turn) {
        if (waiters.revoked(from, revoke, turn)) {
            return;
        }
        boolean breaking = revoke.cause() == LeaseLoss.Cause.BROKEN;
        ClientGrant held = grant;
        if (held != null && !breaking && held.handle.token() == revoke.token()) {
            end(held, revoke.cause(), ClientGrant.why(revoke), false, turn);
        } else if (breaking) {
            GrantHandle.Use use =
                    held == null || (held.frozen && !held.reasserted) ? null : held.handle.closeActive(revoke.token());
            if (held == null || use == null) {
                if (ends == null || !ends.stops(revoke.token())) {
                    turn.send(from, new LockMessage.Revoked(key, revoke.token(), 0, 0));
                }
                return;
            }
            gone(held, turn);
            turn.tell(new LockNotice.Ended(key, use.token(), revoke.cause(), ClientGrant.why(revoke), use.user()));
            ends().broken(from, use.token(), held.handle);
            if (settings.stopsBeforeRevoked()) {
                // Held on to, so that the session goes on renewing it.
                turn.client().hold(key, held.handle.ttl());
            } else {
                stopped(use.token(), false, turn);
            }
        }
    }

    // Sessions

    private void sessionGone(ClientView.SessionGone gone, Turn turn) {
        if (ends != null) {
            ends.forget(turn);
        }
        waiters.unsent();
        if (releases != null) {
            releases.lost(turn);
        }
        ClientGrant held = grant;
        if (held == null || held.frozen) {
            return;
        }
        if (!gone.restarted() || !held.handle.belief().holds(turn.now())) {
            end(held, LeaseLoss.Cause.EXPIRED, gone.why(), false, turn);
            return;
        }
        turn.goal(LockGoal.BELIEF_FROZEN);
        held.frozen = true;
        held.handle.believe(new Belief(held.handle.ttl(), held.handle.deadline()));
        if (closeForRecall(held.handle)) {
            giveBack(held, 0, turn);
        } else {
            turn.timer(FROZEN, held.handle.deadline());
            held.doubt("the member was restarted", turn);
        }
    }

    private void sessionOpen(Peer session, Turn turn) {
        if (releases != null) {
            releases.opened(session, turn);
        }
        if (questions != null) {
            questions.opened(turn);
        }
        ClientGrant held = grant;
        if (held != null && held.frozen && held.handle.belief().holds(turn.now())) {
            held.reasserted = false;
            turn.send(session, held.reassertion(key));
        }
    }

    private void reasserted(LockMessage.Reasserted answer, Turn turn) {
        if (grant != null && grant.frozen && grant.handle.token() == answer.token()) {
            grant.reasserted = true;
            grant.wanted = answer.wanted();
            turn.client().afterEcho(key);
        }
    }

    /** The grant is one of the new session from here on. */
    private void thaw(ClientGrant held, Turn turn) {
        ClientGrant thawed = held.thawed(turn.client().session());
        grant = thawed;
        thawed.handle.believe(belief(thawed.handle.ttl(), turn));
        turn.timer(FROZEN, Turn.NEVER);
        turn.client().hold(key, thawed.handle.ttl());
        thawed.certain(turn);
    }

    // After each event

    private void settle(Turn turn) {
        ClientGrant held = grant;
        while (held != null && held == grant && !serve(held, turn)) {}
        if (grant == null && !waiters.arePending() && turn.client().exists()) {
            Waiter first = waiters.queue().first();
            if (first != null) {
                waiters.request(first, turn);
            }
            for (Waiter ask = waiters.asks().first(); ask != null; ask = ask.after) {
                waiters.request(ask, turn);
            }
        }
        await(turn);
    }

    /**
     * Lets the lock be used, kept or returned; false if a user thread came between and the handle has to be looked at
     * again.
     */
    private boolean serve(ClientGrant held, Turn turn) {
        GrantHandle handle = held.handle;
        if (!handle.idle()) {
            if (!waiters.asks().isEmpty()) {
                waiters.refuseAsks(held.holder(turn.now()), turn);
            }
            return handle.attend(
                    held.frozen || held.mustReturn() || waiters.queue().first() != null);
        }
        Waiter next = waiters.next();
        if (held.mustReturn() || (next != null && !held.fits(next))) {
            if (handle.used() >= handle.hi()) {
                turn.goal(LockGoal.RANGE_USED_UP);
            }
            if (handle.closeIdle()) {
                giveBack(held, 0, turn);
            }
            return false;
        }
        if (next == null) {
            return true;
        }
        if (!handle.fresh(turn.now())) {
            if (!held.confirming && turn.client().exists()) {
                held.confirming = true;
                turn.client().confirm(key);
            }
            return true;
        }
        long token = handle.activate(next.call.user(), turn.now());
        if (token != 0) {
            turn.goal(LockGoal.CACHED_REACQUIRE);
            tellGranted(next, handle, token, turn);
        }
        return false;
    }

    private void await(Turn turn) {
        Waiter waiter = waiters.arePending() ? waiters.pending().get(0) : waiters.next();
        boolean owes = (releases != null && !releases.isEmpty()) || (questions != null && !questions.isEmpty());
        long needed =
                waiter != null ? waiter.call.ttl() : owes || (grant != null && grant.frozen) ? DirectoryClient.TTL : 0;
        if (needed == awaiting) {
            return;
        }
        if (awaiting != 0) {
            turn.client().unawait(key, awaiting);
        }
        awaiting = needed;
        if (needed != 0) {
            turn.client().await(key, needed);
        }
    }

    @Override
    public boolean atRest() {
        return awaiting == 0 && grant == null && (ends == null || ends.isEmpty());
    }

    /** A helper of the same kind, for {@link #copy}. */
    LockClientHelper fresh(Key of, LockSettings with) {
        return new LockClientHelper(of, with);
    }

    @Override
    public LockClientHelper copy() {
        LockClientHelper copy = fresh(key, settings);
        copy.waiters = waiters.copy();
        copy.grant = grant == null ? null : grant.copy();
        copy.questions = questions == null ? null : questions.copy();
        copy.releases = releases == null ? null : releases.copy();
        copy.ends = ends == null ? null : ends.copy();
        copy.awaiting = awaiting;
        return copy;
    }

    @Override
    public void rebind(SessionLayer sessions) {
        if (grant != null && !grant.frozen && sessions instanceof ClientView client) {
            grant.handle.believe(client.belief(grant.handle.ttl()));
        }
    }

    @Override
    public void encode(StateEncoder out) {
        waiters.encode(out);
        out.put(grant != null);
        if (grant != null) {
            grant.encode(out);
        }
        // What is made when it is first needed says the same as one that has nothing.
        (questions == null ? new StatusClient(key, STATUS) : questions).encode(out);
        (releases == null ? new UnconfirmedReleases(key) : releases).encode(out);
        (ends == null ? new UnconfirmedEnds(key, GRACE) : ends).encode(out);
        out.put(awaiting);
    }
}
