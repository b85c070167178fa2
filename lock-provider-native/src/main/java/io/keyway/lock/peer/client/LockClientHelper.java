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
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.Owner;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The helper of one lock name at one client: it asks the manager for its users, keeps the lock cached between them, and gives it back. A repaired form of the source's LockClientHelper;
 * docs/algorithms/lease.md numbers the repairs.
 *
 * <p>It stores no deadline: the session carries the lease, and {@link GrantHandle} answers whether it is believed. Whoever waits has one request at the manager, the first of the local waiters; the
 * others follow when it has been served, with the time that they have waited, so that their place is that of their call.
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
    private static final int INQUIRY = 2;
    private static final int GRACE = 3;
    private static final int OWED = 4;

    private final Key key;
    private final LockSettings settings;
    private LocalWaiters waiters;
    private StatusClient inquirer;
    private UnconfirmedReleases releases;
    private UnconfirmedEnds endings;
    private @Nullable PendingGrant offer;
    private @Nullable ClientGrant grant;
    /** The ttl with which this key awaits its session; 0 if it does not. */
    private long awaiting;

    public LockClientHelper(Key key, LockSettings settings) {
        this.key = key;
        this.settings = settings;
        this.waiters = new LocalWaiters(key, settings.cache());
        this.inquirer = new StatusClient(key, INQUIRY);
        this.releases = new UnconfirmedReleases(key);
        this.endings = new UnconfirmedEnds(key, GRACE);
    }

    public Phase phase() {
        if (grant != null) {
            return grant.handle.idle() ? Phase.CACHED : Phase.ACTIVE;
        }
        return offer == null && waiters.isEmpty() ? Phase.REST : Phase.WAITING;
    }

    /** The published word of the present grant; null if there is none. */
    public @Nullable GrantHandle handle() {
        return grant == null ? null : grant.handle;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Granted granted) {
            granted(from, granted, turn);
        } else if (message instanceof LockMessage.NotGranted refusal) {
            notGranted(refusal, turn);
        } else if (message instanceof LockMessage.Place place) {
            waiters.placed(place, turn);
        } else if (message instanceof LockMessage.Recall recall) {
            recall(from, recall.token(), turn);
        } else if (message instanceof LockMessage.Revoke revoke) {
            revoke(from, revoke, turn);
        } else if (message instanceof LockMessage.Reasserted reasserted) {
            reasserted(reasserted, turn);
        } else if (message instanceof LockMessage.Query query) {
            query(from, query, turn);
        } else if (message instanceof LockMessage.Misdirected m && waiters.find(m.request()) != null) {
            misdirected(m.request(), turn);
        } else if (message instanceof LockMessage answer) {
            inquirer.received(answer, turn);
        }
        settle(turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof LockCall.Acquire acquire) {
            acquire(acquire, turn);
        } else if (call instanceof LockCall.Release release) {
            release(release, turn);
        } else if (call instanceof LockCall.Withdraw withdraw) {
            withdraw(withdraw.request(), turn);
        } else if (call instanceof LockCall.Lapse lapse) {
            if (grant != null && grant.handle.active(lapse.token())) {
                end(grant, LeaseLoss.Cause.EXPIRED, "its deadline passed", true, turn);
            }
        } else if (call instanceof LockCall.Evict) {
            if (grant != null) {
                grant.evicted = true;
            }
        } else if (call instanceof LockCall question) {
            inquirer.called(question, turn);
        } else if (call instanceof ClientView.Echoed) {
            echoed(turn);
        } else if (call instanceof ClientView.Lapsed lapsed) {
            if (grant != null && !grant.frozen && grant.handle.ttl() == lapsed.ttl()) {
                end(grant, LeaseLoss.Cause.EXPIRED, "not confirmed within 3/4 of its ttl", true, turn);
            }
        } else if (call instanceof ClientView.Doubted doubted) {
            if (grant != null && !grant.frozen && grant.handle.ttl() == doubted.ttl()) {
                doubt(grant, "no answer for five eighths of its ttl", turn);
            }
        } else if (call instanceof ClientView.Certain certain) {
            if (grant != null && !grant.frozen && grant.handle.ttl() == certain.ttl()) {
                certain(grant, turn);
            }
        } else if (call instanceof ClientView.Received received) {
            releases.received(received.number(), turn);
        } else if (call instanceof ClientView.SessionGone gone) {
            sessionGone(gone, turn);
        } else if (call instanceof ClientView.Disowned disowned) {
            releases.forget(turn.now(), true);
            if (grant != null && grant.frozen) {
                end(grant, LeaseLoss.Cause.EXPIRED, disowned.why(), false, turn);
            }
        } else if (call instanceof ClientView.SessionOpen open) {
            sessionOpen(open.session(), turn);
        } else if (call instanceof ClientView.Dismissed) {
            dismissed(turn);
        } else if (call instanceof ClientView.Unreachable unreachable) {
            unreachable(unreachable, turn);
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == OWED) {
            turn.timer(OWED, releases.forget(turn.now(), false));
        } else if (slot == INQUIRY) {
            inquirer.due(turn);
        } else if (slot == GRACE) {
            endings.endGrace(turn);
        } else if (slot == FROZEN) {
            if (grant != null && grant.frozen && !grant.handle.belief().holds(turn.now())) {
                end(grant, LeaseLoss.Cause.EXPIRED, "the member restarted and did not confirm it in time", true, turn);
            }
        } else if (slot == IDLE && grant != null) {
            idle(grant, turn);
        }
        settle(turn);
    }

    // Users

    private void acquire(LockCall.Acquire call, Turn turn) {
        if (waiters.find(call.request()) != null) {
            return;
        }
        waiters.add(call, grant == null || grant.handle.idle() ? null : grant.holder(turn.now()), turn);
    }

    private void release(LockCall.Release call, Turn turn) {
        long token = call.token();
        ClientGrant held = grant;
        if (held == null || !held.handle.active(token)) {
            endings.released(token, call.unused(), held != null, turn);
            if (!releases.awaits(token)) {
                releases.tell(token, Answer.NOT_HELD, turn);
            }
            return;
        }
        LocalWaiters.Waiter next = waiters.first();
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
        releases.tell(token, Answer.DONE, turn);
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

    private void withdraw(long request, Turn turn) {
        LocalWaiters.Waiter waiter = waiters.remove(request);
        if (waiter == null) {
            return;
        }
        if (offer != null && offer.waiter() == waiter) {
            returnUnused(offer.session(), offer.grant().token(), turn);
            offer = null;
        } else if (waiter.sent && turn.client().exists()) {
            sendWithdraw(request, turn);
        }
        turn.tell(new LockNotice.Withdrawn(key, request, waiter.call.user()));
    }

    void sendWithdraw(long request, Turn turn) {
        turn.send(turn.client().session(), new LockMessage.Withdraw(key, request));
    }

    private void unreachable(ClientView.Unreachable member, Turn turn) {
        inquirer.unreachable(member, turn);
        if (member.final_()) {
            waiters.failAll(member.why(), turn);
        } else {
            waiters.trouble(member.why(), turn);
        }
    }

    // Grants

    private void granted(Peer from, LockMessage.Granted granted, Turn turn) {
        LocalWaiters.Waiter waiter = taker(granted.request());
        if (waiter == null || grant != null || offer != null) {
            turn.goal(LockGoal.UNEXPECTED_GRANT_RETURNED);
            returnUnused(from, granted.token(), turn);
            return;
        }
        offer = new PendingGrant(from, waiter, granted);
        turn.client().afterEcho(key);
    }

    /** The waiter whose request was granted: a grant answers the request that it names, and no other. */
    LocalWaiters.@Nullable Waiter taker(long request) {
        LocalWaiters.Waiter waiter = waiters.find(request);
        return waiter != null && waiter.sent ? waiter : null;
    }

    LocalWaiters waiters() {
        return waiters;
    }

    /** A grant that nobody wants goes back at once, by its token. */
    void returnUnused(Peer to, long token, Turn turn) {
        turn.send(to, new LockMessage.Release(key, token, token - 1));
    }

    private void echoed(Turn turn) {
        ClientGrant held = grant;
        if (held != null) {
            held.confirming = false;
            if (held.frozen && held.reasserted) {
                thaw(held, turn);
            }
        }
        PendingGrant offered = offer;
        if (offered == null) {
            return;
        }
        LocalWaiters.Waiter waiter = offered.waiter();
        Belief belief = belief(waiter.call.ttl(), turn);
        if (belief.deadline() - turn.now() >= belief.ttl() / 8) {
            offer = null;
            accept(offered, belief, turn);
        } else if (!offered.confirming()) {
            turn.goal(LockGoal.STALE_GRANT_CONFIRMED);
            offer = offered.nowConfirming();
            turn.client().confirm(key);
        } else {
            turn.goal(LockGoal.STALE_GRANT_RETURNED);
            returnUnused(offered.session(), offered.grant().token(), turn);
            stale(waiter, turn);
        }
    }

    /** The belief on which a grant that just came stands: it runs from the stamp that was echoed, never from the receipt. */
    Belief belief(long ttl, Turn turn) {
        return turn.client().belief(ttl);
    }

    private void stale(LocalWaiters.Waiter waiter, Turn turn) {
        offer = null;
        waiter.sent = false;
        if (++waiter.stale == 2) {
            waiters.remove(waiter.call.request());
            turn.tell(
                    new LockNotice.Failed(key, waiter.call.request(), "round trip exceeds ttl/2", waiter.call.user()));
        }
    }

    private void accept(PendingGrant offered, Belief belief, Turn turn) {
        LocalWaiters.Waiter waiter = offered.waiter();
        GrantHandle word = new GrantHandle(key, offered.grant(), waiter.call, turn.now(), belief);
        ClientGrant held = new ClientGrant(offered.session(), waiter.call.request(), word);
        held.wanted = offered.wanted();
        grant = held;
        waiters.granted();
        turn.client().hold(key, word.ttl());
        if (held.cacheable()) {
            turn.timer(IDLE, turn.now() + settings.cacheFor());
            turn.call(LockKeys.cache(key.algorithm()), new LockCall.Kept(key));
        }
        tellGranted(waiter, word, word.token(), turn);
    }

    private void tellGranted(LocalWaiters.Waiter waiter, GrantHandle word, long token, Turn turn) {
        waiters.remove(waiter.call.request());
        turn.tell(new LockNotice.Granted(key, waiter.call.request(), word, token, waiter.call.user()));
    }

    private void notGranted(LockMessage.NotGranted refusal, Turn turn) {
        LocalWaiters.Waiter waiter = waiters.remove(refusal.request());
        if (waiter == null) {
            return;
        }
        long request = refusal.request();
        turn.tell(
                refusal.cause() == RefusalCause.HELD
                        ? new LockNotice.Refused(key, request, refusal.holders(), waiter.call.user())
                        : new LockNotice.Failed(key, request, refusal.cause().why(), waiter.call.user()));
    }

    /** Nobody is left to ask at this member: all who wait are to ask elsewhere. */
    private void dismissed(Turn turn) {
        inquirer.dismissed(turn);
        for (LocalWaiters.Waiter waiter = waiters.next(); waiter != null; waiter = waiters.next()) {
            long request = waiter.call.request();
            if (offer != null && offer.waiter() == waiter) {
                returnUnused(offer.session(), offer.grant().token(), turn);
                offer = null;
            } else if (waiter.sent && turn.client().exists()) {
                sendWithdraw(request, turn);
            }
            misdirected(request, turn);
        }
    }

    private void misdirected(long request, Turn turn) {
        LocalWaiters.Waiter waiter = waiters.remove(request);
        if (waiter != null) {
            LockCall.Acquire moved = waiter.call.after(turn.now() - waiter.since - waiter.call.waited());
            turn.tell(new LockNotice.Misdirected(key, request, moved, waiter.call.user()));
        }
    }

    // The way back

    /** The word is closed: the grant goes to the manager. {@code token}: the use whose release somebody waits for; 0 if nobody does. */
    private void giveBack(ClientGrant held, long token, Turn turn) {
        gone(held, turn);
        ClientView client = turn.client();
        if (held.frozen) {
            if (client.exists()) {
                turn.send(client.session(), held.release(key));
            } else {
                turn.timer(OWED, releases.owe(held));
            }
            if (token != 0) {
                releases.tell(token, Answer.DONE, turn);
            }
            return;
        }
        LocalWaiters.Waiter next = waiters.first();
        if (held.wanted && next != null && client.exists()) {
            // In the queue before the lock moves on: its place is that of its user's call.
            waiters.request(next, turn);
        }
        long number = turn.send(held.session, held.release(key));
        if (token != 0) {
            releases.sent(number, token, turn);
        }
    }

    /**
     * The grant is over: once seen, for good. {@code release}: the manager does not know it. It hears of it only when the user has had a quarter of the ttl to stop, since it grants the lock at once; or
     * earlier, when the user says that it is done.
     */
    private void end(ClientGrant held, LeaseLoss.Cause cause, String detail, boolean release, Turn turn) {
        GrantHandle.Use use = held.handle.close();
        gone(held, turn);
        if (use != null) {
            turn.tell(new LockNotice.Ended(key, use.token(), cause, detail, use.user()));
        }
        if (release && turn.client().exists()) {
            endings.lapsed(held.handle, use != null, turn);
        }
    }

    private void doubt(ClientGrant held, String why, Turn turn) {
        GrantHandle.Use use = held.handle.use();
        if (use != null) {
            turn.tell(new LockNotice.Doubted(key, use.token(), why, use.user()));
        }
    }

    private void certain(ClientGrant held, Turn turn) {
        GrantHandle.Use use = held.handle.use();
        if (use != null) {
            turn.tell(new LockNotice.Certain(key, use.token(), use.user()));
        }
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

    private void recall(Peer from, long token, Turn turn) {
        if (offer != null && offer.grant().token() == token) {
            offer = offer.nowWanted();
            turn.send(from, new LockMessage.Denied(key, token));
        } else if (grant != null && grant.frozen) {
            // In use, or it would have gone back; the echo that thaws it comes behind this message.
            if (grant.reasserted && grant.handle.token() == token) {
                grant.wanted = true;
                turn.send(from, new LockMessage.Denied(key, token));
            }
        } else if (grant != null && grant.handle.token() == token) {
            ClientGrant held = grant;
            held.wanted = true;
            if (closeForRecall(held.handle)) {
                gone(held, turn);
                turn.send(from, new LockMessage.Accepted(key, token, held.handle.used()));
            } else {
                turn.send(from, new LockMessage.Denied(key, token));
            }
        } else if (endings.contains(token)) {
            turn.send(from, new LockMessage.Denied(key, token));
        }
    }

    /** An idle word is closed before ACCEPTED is sent; true if so. A word in use is attended from here on. */
    boolean closeForRecall(GrantHandle word) {
        while (!word.closeIdle()) {
            if (word.attend(true)) {
                return false;
            }
        }
        return true;
    }

    private void revoke(Peer from, LockMessage.Revoke revoke, Turn turn) {
        boolean breaking = revoke.cause() == LeaseLoss.Cause.BROKEN;
        if (offer != null && offer.grant().token() == revoke.token()) {
            if (breaking) {
                turn.send(from, new LockMessage.Revoked(key, revoke.token(), revoke.token(), revoke.token()));
            } else if (offer.waiter().call.atLeast() > 0) {
                returnUnused(from, revoke.token(), turn);
            }
            stale(offer.waiter(), turn);
            return;
        }
        ClientGrant held = grant;
        if (held != null && !breaking && held.handle.token() == revoke.token()) {
            String why = revoke.cause() == LeaseLoss.Cause.DENIED
                    ? "the member restarted and refused it"
                    : "the member did not hear from this client in time";
            end(held, revoke.cause(), why, false, turn);
        } else if (breaking) {
            GrantHandle.Use use =
                    held == null || (held.frozen && !held.reasserted) ? null : held.handle.closeActive(revoke.token());
            if (held == null || use == null) {
                if (!endings.stops(revoke.token())) {
                    turn.send(from, new LockMessage.Revoked(key, revoke.token(), 0, 0));
                }
                return;
            }
            gone(held, turn);
            turn.tell(new LockNotice.Ended(
                    key, use.token(), LeaseLoss.Cause.BROKEN, broken(revoke.reason()), use.user()));
            endings.broken(from, use.token(), held.handle);
            if (settings.stopsBeforeRevoked()) {
                // Held on to, so that the session goes on renewing it.
                turn.client().hold(key, held.handle.ttl());
            } else {
                endings.released(use.token(), false, false, turn);
            }
        }
    }

    private static String broken(String reason) {
        return reason.isEmpty() ? "broken by an administrator" : "broken: " + reason;
    }

    private void query(Peer from, LockMessage.Query query, Turn turn) {
        ClientGrant held = grant;
        GrantHandle word = held != null && held.handle.token() == query.token() ? held.handle : null;
        ParticipantList waiting = waiters.parties(turn.now());
        List<List<Participant>> parts = waiting.parts();
        for (int i = 0; i < parts.size(); i++) {
            boolean last = i == parts.size() - 1;
            turn.send(
                    from,
                    new LockMessage.Use(
                            key,
                            query.query(),
                            query.token(),
                            word == null ? 0 : word.current(),
                            word == null ? 0 : turn.now() - word.since(),
                            word == null ? NOBODY : word.owner(),
                            parts.get(i),
                            last ? waiting.more() : 0,
                            last));
        }
    }

    private static final Owner NOBODY = new Owner("", Map.of());

    // Sessions

    private void sessionGone(ClientView.SessionGone gone, Turn turn) {
        offer = null;
        endings.forget(turn);
        waiters.unsent();
        releases.lost(turn);
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
            doubt(held, "the member was restarted", turn);
        }
    }

    private void sessionOpen(Peer session, Turn turn) {
        releases.opened(session, turn);
        inquirer.opened(turn);
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
        certain(thawed, turn);
    }

    // After each event

    private void settle(Turn turn) {
        ClientGrant held = grant;
        while (held != null && held == grant && !serve(held, turn)) {}
        if (grant == null && offer == null && turn.client().exists()) {
            LocalWaiters.Waiter first = waiters.first();
            if (first != null) {
                waiters.request(first, turn);
            }
            for (LocalWaiters.Waiter ask : waiters.asks()) {
                waiters.request(ask, turn);
            }
        }
        await(turn);
    }

    /** Lets the lock be used, kept or returned; false if a user thread came between and the word has to be looked at again. */
    private boolean serve(ClientGrant held, Turn turn) {
        GrantHandle word = held.handle;
        if (!word.idle()) {
            if (waiters.firstAsk() != null) {
                waiters.refuseAsks(held.holder(turn.now()), turn);
            }
            return word.attend(held.frozen || held.mustReturn() || waiters.first() != null);
        }
        LocalWaiters.Waiter next = waiters.next();
        if (held.mustReturn() || (next != null && !held.fits(next))) {
            if (word.used() >= word.hi()) {
                turn.goal(LockGoal.RANGE_USED_UP);
            }
            if (word.closeIdle()) {
                giveBack(held, 0, turn);
            }
            return false;
        }
        if (next == null) {
            return true;
        }
        if (!word.fresh(turn.now())) {
            if (!held.confirming && turn.client().exists()) {
                held.confirming = true;
                turn.client().confirm(key);
            }
            return true;
        }
        long token = word.activate(next.call.user(), turn.now());
        if (token != 0) {
            turn.goal(LockGoal.CACHED_REACQUIRE);
            tellGranted(next, word, token, turn);
        }
        return false;
    }

    private void await(Turn turn) {
        LocalWaiters.Waiter waiter = offer == null ? waiters.next() : offer.waiter();
        long needed = waiter != null
                ? waiter.call.ttl()
                : releases.isEmpty() && inquirer.isEmpty() && (grant == null || !grant.frozen)
                        ? 0
                        : DirectoryClient.TTL;
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
        return awaiting == 0 && grant == null && endings.isEmpty();
    }

    /** A helper of the same kind, for {@link #copy}. */
    LockClientHelper fresh(Key of, LockSettings with) {
        return new LockClientHelper(of, with);
    }

    @Override
    public LockClientHelper copy() {
        LockClientHelper copy = fresh(key, settings);
        copy.waiters = waiters.copy();
        copy.inquirer = inquirer.copy();
        copy.grant = grant == null ? null : grant.copy();
        if (offer != null) {
            LocalWaiters.Waiter waiter = copy.waiters.find(offer.waiter().call.request());
            copy.offer = waiter == null ? null : offer.of(waiter);
        }
        copy.endings = endings.copy();
        copy.releases = releases.copy();
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
        inquirer.encode(out);
        out.put(offer != null);
        if (offer != null) {
            offer.encode(out);
        }
        out.put(grant != null);
        if (grant != null) {
            grant.encode(out);
        }
        endings.encode(out);
        releases.encode(out);
        out.put(awaiting);
    }
}
