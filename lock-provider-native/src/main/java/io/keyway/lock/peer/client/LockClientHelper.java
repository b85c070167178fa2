// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
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
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.Tokens;
import io.keyway.lock.spi.Answer;
import io.keyway.lock.spi.TreeModes;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The caching helper of one lock name at one client: it asks the manager for its users, keeps the lock between them,
 * and gives it back. A repaired form of the source's LockClientHelper; docs/algorithms/lease.md numbers the repairs. It
 * has one exclusive grant, or any number of shared ones or of permits, each with tokens and a handle of its own: what
 * concerns a grant finds it by its token and leaves the others as they are. Nothing is counted here: who may hold
 * together is the manager's business.
 *
 * <p><b>States.</b> <i>At rest</i>. <i>Waiting</i>: of the local waiters ({@link LocalWaiters}) the first ones have
 * requests at the manager, up to the first who wants the lock for itself; the others follow when that one has been
 * served, with the time that they have waited, so that their place is that of their call. Nobody asks while this client
 * has the lock for itself. <i>Active</i>: a grant is in use. <i>Cached</i>: it is idle, and user threads take it
 * without a message until it is recalled, evicted, too long unused, out of tokens, or in the way of a local waiter. A
 * grant of a member that restarted is <i>frozen</i>: belief stays where it was until the new member has confirmed it.
 * <i>Converting</i>: the user of a grant wants it in another mode, and goes on as it was until that is granted; then
 * another grant takes its place.
 *
 * <p><b>Messages.</b> ACQUIRE, WITHDRAW and RELEASE go to the manager; GRANTED, NOT_GRANTED and PLACE come back. RECALL
 * is answered by ACCEPTED if the grant lies idle. If not it is <i>wanted</i> from then on: it goes straight back at its
 * release, and DENIED says so to whom that is of use. REVOKE ends the grant; one that breaks it is answered by REVOKED,
 * at once or, with a guard, when the user says that it has stopped. REASSERT claims a frozen grant, REASSERTED confirms
 * it. QUERY is answered by USE.
 *
 * <p><b>Invariants.</b> No deadline is stored: the session carries the lease, and {@link GrantHandle} answers whether
 * it is believed. The session renews by ttl: this key holds each ttl as long as one of its grants has it. A grant that
 * nobody waits for goes back at once, by its token. A handle is closed, by compare-and-set against user threads, before
 * a message says that its grant is over; a closed handle is never opened again. Each end that a user did not ask for is
 * told once. Of a grant that lapsed in use the manager hears when the user says that it has stopped, or had a quarter
 * of the ttl to do so ({@link UnconfirmedEnds}). A release that a user waits for is done when the member has it
 * ({@link UnconfirmedReleases}).
 *
 * <p><b>Changes of mode.</b> A conversion goes to the manager at once and waits behind nobody here. It ends with the
 * grant that it is to change, and a release of that ends both. A writer that wants to be a reader has ceased to be a
 * writer when it asks: it is claimed as a reader after a restart, and if it gives up its grant goes back. A release by
 * the old token that was under way when the new grant came ends the new one.
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
    /** Each waiter asks the manager for itself, and nothing is kept. */
    private final boolean eachAsks;
    /** The machine that follows the cluster; null if nobody does. */
    private final @Nullable Key cluster;

    private LocalWaiters waiters;
    private GrantList grants = new GrantList();
    private @Nullable StatusClient questions;
    private @Nullable UnconfirmedReleases releases;
    private @Nullable UnconfirmedEnds ends;
    /** The ttl with which this key awaits its session; 0 if it does not. */
    private long awaiting;

    /** A helper at rest. */
    public LockClientHelper(Key key, LockSettings settings) {
        this(key, settings, null, new LocalWaiters(key, settings.cache()));
    }

    LockClientHelper(Key key, LockSettings settings, LocalWaiters waiters) {
        this(key, settings, null, waiters);
    }

    private LockClientHelper(Key key, LockSettings settings, @Nullable Key cluster, LocalWaiters waiters) {
        this.key = key;
        this.settings = settings;
        this.cluster = cluster;
        this.eachAsks = cluster != null;
        this.waiters = waiters;
    }

    /**
     * A helper at rest for a manager that has to hear of each request at once, and decides by that alone who is next:
     * it asks for each user, and keeps nothing.
     *
     * @param cluster the machine that is to follow what the member says of its cluster
     */
    public static LockClientHelper askingForEach(Key key, LockSettings settings, Key cluster) {
        return new LockClientHelper(key, settings, cluster, new LocalWaiters(key, false));
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

    /** ACTIVE as long as one grant is in use. */
    public Phase phase() {
        if (grants.isEmpty()) {
            return waiters.isEmpty() ? Phase.REST : Phase.WAITING;
        }
        for (ClientGrant held : grants) {
            if (!held.handle.idle()) {
                return Phase.ACTIVE;
            }
        }
        return Phase.CACHED;
    }

    /** The handle of the first grant; null if there is none. */
    public @Nullable GrantHandle handle() {
        return grants.isEmpty() ? null : grants.get(0).handle;
    }

    /** The handles of all grants, in the order of their tokens. */
    public List<GrantHandle> handles() {
        List<GrantHandle> handles = new ArrayList<>(grants.size());
        grants.forEach(held -> handles.add(held.handle));
        return handles;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Granted granted) {
            granted(from, granted, turn);
        } else if (message instanceof LockMessage.NotGranted refusal) {
            waiters.refused(refusal, turn);
        } else if (message instanceof LockMessage.Place place) {
            waiters.placed(place, turn);
        } else if (message instanceof LockMessage.Blocked blocked) {
            waiters.blocked(blocked, turn);
        } else if (message instanceof LockMessage.Recall recall) {
            recall(from, recall, turn);
        } else if (message instanceof LockMessage.Revoke revoke) {
            revoke(from, revoke, turn);
        } else if (message instanceof LockMessage.Reasserted reasserted) {
            reasserted(reasserted, turn);
        } else if (message instanceof LockMessage.Sought sought) {
            ProbePath.sought(key, sought, grants, waiters, turn);
        } else if (message instanceof LockMessage.Query query) {
            ClientGrant.answer(from, query, grants, waiters.queue(), turn);
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
            for (ClientGrant held : grants.now()) {
                if (held.isBelieved(lapsed.ttl()) && !held.handle.belief().holds(turn.now())) {
                    end(held, LeaseLoss.Cause.EXPIRED, "not confirmed within 3/4 of its ttl", true, turn);
                }
            }
        } else if (call instanceof ClientView.Doubted doubted) {
            grants.doubted(doubted.ttl(), turn);
        } else if (call instanceof ClientView.Certain certain) {
            grants.certain(certain.ttl(), turn);
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
            for (ClientGrant held : grants.now()) {
                if (held.frozen) {
                    end(held, LeaseLoss.Cause.EXPIRED, disowned.why(), false, turn);
                }
            }
        } else if (call instanceof ClientView.SessionOpen open) {
            sessionOpen(open.session(), turn);
        } else if (call instanceof ClientView.Dismissed) {
            if (questions != null) {
                questions.dismissed(turn);
            }
            waiters.dismissed(grants, turn);
        } else if (call instanceof ClientView.Unreachable member) {
            questions().unreachable(member, turn);
            waiters.unreachable(member, turn);
        }
        if (cluster != null && (call instanceof LockCall.Acquire || call instanceof ClientView.SessionOpen)) {
            turn.call(cluster, LockCall.Follow.FOLLOW);
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
            for (ClientGrant held : grants.now()) {
                if (held.frozen && !held.handle.belief().holds(turn.now())) {
                    String why = "the member that serves now did not confirm it in time";
                    end(held, LeaseLoss.Cause.EXPIRED, why, true, turn);
                }
            }
            armFrozen(turn);
        } else if (slot == IDLE) {
            idle(turn);
        }
        settle(turn);
    }

    // Users

    private void asked(LockCall call, Turn turn) {
        if (call instanceof LockCall.Acquire acquire) {
            RefusalCause unlike = acquire.converts() == 0 ? grants.unlike(acquire) : null;
            if (waiters.find(acquire.request()) != null) {
                return;
            } else if (acquire.converts() != 0) {
                convert(acquire, turn);
            } else if (unlike != null) {
                turn.tell(new LockNotice.Failed(key, acquire.request(), unlike.why(key), true, acquire.user()));
            } else {
                ClientGrant alone = eachAsks ? null : grants.exclusive();
                waiters.add(acquire, alone == null || alone.handle.idle() ? null : alone.holder(turn.now()), turn);
            }
        } else if (call instanceof LockCall.Release release) {
            release(release, turn);
        } else if (call instanceof LockCall.Withdraw withdraw) {
            withdraw(withdraw.request(), turn);
        } else if (call instanceof LockCall.Lapse lapse) {
            ClientGrant held = grants.using(lapse.token());
            if (held != null) {
                end(held, LeaseLoss.Cause.EXPIRED, "its deadline passed", true, turn);
            }
        } else if (call instanceof LockCall.Seek seek) {
            ProbePath.seek(key, seek, grants, waiters, turn);
        } else if (call instanceof LockCall.Evict evict) {
            ClientGrant held = grants.of(evict.token());
            if (held != null) {
                held.evicted = true;
            }
        } else if (call instanceof LockCall.ClusterDown || call instanceof LockCall.ClusterUp) {
            grants.clusterDown(call instanceof LockCall.ClusterDown down ? down.why() : null, turn);
        } else {
            questions().called(call, turn);
        }
    }

    private void convert(LockCall.Acquire call, Turn turn) {
        ClientGrant held = grants.using(call.converts());
        if (held == null
                || held.handle.mode() == call.mode()
                || waiters.conversions().converting(held) != null
                // From here on its release comes to the cell.
                || !held.handle.attend(true)
                || !held.handle.active(call.converts())) {
            turn.tell(new LockNotice.Refused(key, call.request(), List.of(), call.user()));
            return;
        }
        held.wants(call.mode());
        waiters.addConversion(call, turn);
    }

    private void withdraw(long request, Turn turn) {
        Waiter waiter = waiters.find(request);
        ClientGrant held = waiter != null && waiter.converts() ? grants.covering(waiter.call.converts()) : null;
        waiters.withdraw(request, turn);
        if (held != null && held.weaker != null) {
            held.handle.close();
            giveBack(held, 0, turn);
        }
    }

    private void release(LockCall.Release call, Turn turn) {
        long token = call.token();
        ClientGrant held = grants.using(token);
        if (held == null) {
            releaseEnded(call, turn);
            return;
        }
        Waiter first = waiters.queue().first();
        if (held.wanted && first != null) {
            turn.goal(LockGoal.HAND_OVER_FORBIDDEN);
        }
        Waiter conversion = waiters.conversions().converting(held);
        if (held.frozen || conversion != null || held.mustReturn() || isInTheWay(held, first)) {
            if (held.handle.closeActive(token) != null) {
                held.unused = call.unused() && !held.cacheable() && held.before == 0;
                if (conversion != null) {
                    waiters.refuseConversion(conversion, false, turn); // its manager hears of the release
                }
                giveBack(held, token, turn);
            }
            return;
        }
        tellReleased(token, Answer.DONE, turn);
        Waiter next = waiters.queue().firstTaker(held);
        if (next != null && held.handle.fresh(turn.now())) {
            long following = held.handle.handOver(token, next.call.user(), turn.now());
            if (following != 0) {
                turn.goal(LockGoal.LOCAL_HAND_OVER);
                waiters.servedFromCache(next, turn);
                tellGranted(next, held, following, turn);
                return;
            }
        }
        held.handle.rest(token, turn.now());
    }

    /** No grant is in use with that token: it is over, or another one has taken its place. */
    private void releaseEnded(LockCall.Release call, Turn turn) {
        long token = call.token();
        ClientGrant after = grants.converted(token);
        if (after != null) {
            if (after.handle.closeActive(after.handle.token()) == null) {
                tellReleased(token, Answer.DONE, turn); // its user has released it by its own token
                return;
            }
            Waiter conversion = waiters.conversions().converting(after);
            if (conversion != null) {
                waiters.refuseConversion(conversion, false, turn);
            }
            giveBack(after, token, turn);
            return;
        }
        stopped(token, call.unused(), turn);
        if (releases == null || !releases.awaits(token)) {
            tellReleased(token, Answer.NOT_HELD, turn);
        }
    }

    private void tellReleased(long token, Answer answer, Turn turn) {
        turn.tell(new LockNotice.ReleaseDone(key, token, answer));
    }

    /** The user of a grant that has ended says that it has stopped. */
    private void stopped(long token, boolean unused, Turn turn) {
        Long ttl = ends == null ? null : ends.released(token, unused, turn);
        if (ttl != null) {
            unhold(ttl, turn);
        }
    }

    // Grants

    private void granted(Peer from, LockMessage.Granted granted, Turn turn) {
        Waiter waiter = waiters.taker(granted.request());
        if (waiter != null && mayJoin(waiter)) {
            waiters.came(waiter, from, granted, turn);
            return;
        }
        turn.goal(LockGoal.UNEXPECTED_GRANT_RETURNED);
        waiters.returnUnused(from, granted.token(), turn);
        if (waiter != null) {
            waiter.sent = 0; // it asks again
        }
    }

    /** Whether a grant for that waiter may stand beside what is here; otherwise one of them is of the past. */
    private boolean mayJoin(Waiter waiter) {
        if (waiter.call.mode().isTree()) {
            return waiter.converts() || (grants.admitLevel(waiter.call.mode()) && waiters.admitLevel(waiter));
        }
        return waiter.converts()
                || (waiter.isExclusive() ? grants.isEmpty() && !waiters.arePending() : !isExclusiveHere());
    }

    private boolean isExclusiveHere() {
        return grants.exclusive() != null || waiters.isExclusivePending();
    }

    private void echoed(Turn turn) {
        for (ClientGrant held : grants) {
            held.confirming = false;
            if (held.frozen && held.reasserted) {
                thaw(held, turn);
            }
        }
        for (Waiter waiter : waiters.pending()) {
            Belief belief = belief(waiter.call.ttl(), turn);
            if (waiter.converts()) {
                converted(waiter, belief, turn);
            } else if (waiters.stands(waiter, belief, turn)) {
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
        if (!waiters.dropSpare(waiter)) {
            ClientGrant held = begin(waiter, belief, turn);
            waiters.served(waiter);
            tellGranted(waiter, held, held.handle.token(), turn);
        } else if (waiter.wanted || waiter.hi == waiter.token) {
            waiters.returnUnused(waiter.session, waiter.token, turn);
        } else {
            add(
                    waiter,
                    GrantHandle.idle(key, waiter.token, waiter.hi, waiter.call, waiter.out, turn.now(), belief),
                    turn);
        }
    }

    /** The grant in the new mode takes the place of the old one, whose handle is closed for good. */
    private void converted(Waiter waiter, Belief belief, Turn turn) {
        ClientGrant old = grants.covering(waiter.call.converts());
        if (old == null) {
            waiters.refuseConversion(waiter, true, turn);
        } else if (old.weaker != null && !belief.holds(turn.now())) {
            end(old, LeaseLoss.Cause.EXPIRED, "not confirmed within 3/4 of its ttl", true, turn);
        } else if (old.weaker != null || waiters.stands(waiter, belief, turn)) {
            turn.goal(LockGoal.CONVERTED);
            old.handle.close();
            gone(old, turn);
            ClientGrant held = begin(waiter, belief, turn);
            held.before = waiter.call.converts();
            waiters.served(waiter);
            tellGranted(waiter, held, held.handle.token(), turn);
        }
    }

    private ClientGrant begin(Waiter waiter, Belief belief, Turn turn) {
        return add(
                waiter,
                GrantHandle.taken(key, waiter.token, waiter.hi, waiter.call, waiter.out, turn.now(), belief),
                turn);
    }

    private ClientGrant add(Waiter waiter, GrantHandle handle, Turn turn) {
        ClientGrant held = new ClientGrant(waiter.session, waiter.call.request(), handle);
        held.wanted = waiter.wanted;
        boolean armed = grants.anyCacheable();
        grants.add(held);
        if (!eachAsks) {
            waiters.forgetPlace();
        }
        turn.client().hold(key, handle.ttl());
        if (!eachAsks) {
            turn.client().heard(Tokens.epoch(waiter.hi));
        }
        if (held.cacheable()) {
            if (!armed) {
                turn.timer(IDLE, turn.now() + settings.cacheFor());
            }
            turn.call(LockKeys.cache(key.algorithm()), new LockCall.Kept(key, handle.token()));
        }
        return held;
    }

    private void tellGranted(Waiter waiter, ClientGrant held, long token, Turn turn) {
        turn.tell(new LockNotice.Granted(key, waiter.call.request(), held.handle, token, waiter.call.user()));
        if (waiters.knowNothing()) {
            waiters.tellAll(held.holder(turn.now()), turn);
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
        if ((held.wanted || !held.cacheable()) && maySend(turn)) {
            // In the queue before the lock moves on: their places are those of their users' calls.
            waiters.requestInTurn(eachAsks, turn);
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
        if (use != null) {
            turn.tell(new LockNotice.Ended(key, use.token(), cause, detail, use.user()));
            long over = held.handle.deadline() - turn.now() < 0 ? held.handle.deadline() : turn.now();
            turn.client().stops(over + held.handle.ttl() / 4);
        }
        gone(held, turn);
        Waiter conversion = waiters.conversions().converting(held);
        if (conversion != null) {
            waiters.refuseConversion(conversion, release, turn);
        }
        if (release && turn.client().exists()) {
            ends().lapsed(held.handle, use != null, turn);
        }
    }

    private void gone(ClientGrant held, Turn turn) {
        grants.drop(held);
        unhold(held.handle.ttl(), turn);
        if (!grants.anyCacheable()) {
            turn.timer(IDLE, Turn.NEVER);
        }
        armFrozen(turn);
        if (held.cacheable()) {
            turn.call(LockKeys.cache(key.algorithm()), new LockCall.Dropped(key, held.handle.token()));
        }
        turn.tell(new LockNotice.Closed(key, held.handle));
    }

    /** The session need not renew that ttl any more, unless another grant has it. */
    private void unhold(long ttl, Turn turn) {
        for (ClientGrant held : grants) {
            if (held.isBelieved(ttl)) {
                return;
            }
        }
        if (ends == null || !ends.holds(ttl)) {
            turn.client().unhold(key, ttl);
        }
    }

    private void idle(Turn turn) {
        long next = Turn.NEVER;
        for (ClientGrant held : grants.now()) {
            boolean idle = held.handle.idle();
            long due = (idle ? held.handle.since() : turn.now()) + settings.cacheFor();
            if (idle && held.cacheable() && turn.now() - due >= 0 && held.handle.closeIdle()) {
                turn.goal(LockGoal.IDLE_RETURN);
                giveBack(held, 0, turn);
            } else if (held.cacheable()) {
                next = Turn.earlier(next, due);
            }
        }
        turn.timer(IDLE, next);
    }

    private void recall(Peer from, LockMessage.Recall recall, Turn turn) {
        long token = recall.token();
        ClientGrant held = grants.of(token);
        if (waiters.recalled(from, recall, turn)) {
            return;
        }
        if (held != null && held.frozen) {
            // In use, or it would have gone back; the echo that thaws it comes behind this message.
            if (held.reasserted) {
                held.wanted = true;
                waiters.deny(from, recall, turn);
            }
        } else if (held != null) {
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
        Waiter pending = waiters.pendingOf(revoke.token());
        if (waiters.revoked(from, revoke, turn)) {
            ClientGrant old = pending == null ? null : grants.covering(pending.call.converts());
            if (old != null) {
                end(old, revoke.cause(), ClientGrant.why(revoke), false, turn);
            }
        } else if (revoke.cause() == LeaseLoss.Cause.BROKEN) {
            broken(from, revoke, turn);
        } else {
            ClientGrant held = grants.of(revoke.token());
            if (held != null) {
                end(held, revoke.cause(), ClientGrant.why(revoke), false, turn);
            }
        }
    }

    private void broken(Peer from, LockMessage.Revoke revoke, Turn turn) {
        long token = revoke.token();
        ClientGrant held = grants.covering(token);
        GrantHandle.Use use = held == null || (held.frozen && !held.reasserted) ? null : held.handle.closeActive(token);
        if (held == null || use == null) {
            if (ends == null || !ends.stops(token)) {
                turn.send(from, new LockMessage.Revoked(key, token, 0, 0));
            }
            return;
        }
        turn.tell(new LockNotice.Ended(key, use.token(), revoke.cause(), ClientGrant.why(revoke), use.user()));
        gone(held, turn);
        Waiter conversion = waiters.conversions().converting(held);
        if (conversion != null) {
            waiters.refuseConversion(conversion, true, turn);
        }
        ends().broken(from, use.token(), held.handle);
        if (settings.stopsBeforeRevoked()) {
            // Held on to, so that the session goes on renewing it.
            turn.client().hold(key, held.handle.ttl());
        } else {
            stopped(use.token(), false, turn);
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
        for (ClientGrant held : grants.now()) {
            if (held.frozen) {
                continue;
            }
            if (!gone.restarted() || !held.handle.belief().holds(turn.now())) {
                end(held, LeaseLoss.Cause.EXPIRED, gone.why(), false, turn);
                continue;
            }
            turn.goal(LockGoal.BELIEF_FROZEN);
            held.frozen = true;
            held.handle.believe(new Belief(held.handle.ttl(), held.handle.deadline()));
            if (closeForRecall(held.handle)) {
                giveBack(held, 0, turn);
            } else {
                held.doubt(gone.why(), turn);
            }
        }
        armFrozen(turn);
    }

    private void armFrozen(Turn turn) {
        turn.timer(FROZEN, grants.nextFrozen());
    }

    private void sessionOpen(Peer session, Turn turn) {
        if (releases != null) {
            releases.opened(session, turn);
        }
        if (questions != null) {
            questions.opened(turn);
        }
        for (ClientGrant held : grants) {
            if (held.frozen && held.handle.belief().holds(turn.now())) {
                held.reasserted = false;
                turn.send(session, held.reassertion(key));
            }
        }
    }

    private void reasserted(LockMessage.Reasserted answer, Turn turn) {
        ClientGrant held = grants.of(answer.token());
        if (held != null && held.frozen) {
            held.reasserted = true;
            held.wanted = answer.wanted();
            turn.client().afterEcho(key);
        }
    }

    /** The grant is one of the new session from here on. */
    private void thaw(ClientGrant held, Turn turn) {
        held.thaw(turn.client().session());
        held.handle.believe(belief(held.handle.ttl(), turn));
        armFrozen(turn);
        turn.client().hold(key, held.handle.ttl());
        held.certain(turn);
    }

    // After each event

    private void settle(Turn turn) {
        for (int i = 0; i < grants.size(); ) {
            ClientGrant held = grants.get(i);
            boolean settled = serve(held, turn);
            // Once more if not, or, where it has gone, the next one that stands there now.
            i += settled ? 1 : 0;
        }
        if (turn.client().exists()) {
            waiters.requestConversions(grants, turn);
            waiters.requestSoftly(turn);
        }
        if (maySend(turn)) {
            waiters.requestInTurn(eachAsks, turn);
            waiters.requestAsks(turn);
        }
        await(turn);
    }

    /** Whether who waits may ask the manager. */
    private boolean maySend(Turn turn) {
        return turn.client().exists() && (eachAsks || !isExclusiveHere());
    }

    /**
     * Lets the lock be used, kept or returned; false if a user thread came between, or the grant has gone, and the
     * place has to be looked at again.
     */
    private boolean serve(ClientGrant held, Turn turn) {
        GrantHandle handle = held.handle;
        if (!handle.idle()) {
            if (!eachAsks && !waiters.asks().isEmpty()) {
                waiters.refuseAsks(held, turn);
            }
            return handle.attend(held.frozen
                    || held.mustReturn()
                    || waiters.queue().first() != null
                    || !waiters.conversions().isEmpty());
        }
        if (held.mustReturn() || isInTheWay(held, waiters.next())) {
            if (handle.isUsedUp()) {
                turn.goal(LockGoal.RANGE_USED_UP);
            }
            if (handle.closeIdle()) {
                giveBack(held, 0, turn);
            }
            return false;
        }
        Waiter next = waiters.taker(held);
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
            waiters.servedFromCache(next, turn);
            tellGranted(next, held, token, turn);
        }
        return false;
    }

    /** Whether that grant, if nobody uses it, keeps {@code next} out, who is the next to be served. */
    private boolean isInTheWay(ClientGrant held, @Nullable Waiter next) {
        if (waiters.conversions().areUpgrading(held)) {
            return true;
        }
        if (next == null || held.fits(next)) {
            return false;
        }
        return next.call.mode() == LockMode.PERMITS
                ? grants.permits() + next.call.permits() > next.call.capacity()
                : !TreeModes.together(held.handle.mode(), next.call.mode());
    }

    private void await(Turn turn) {
        boolean owes = (releases != null && !releases.isEmpty()) || (questions != null && !questions.isEmpty());
        long needed = waiters.awaitedTtl(eachAsks);
        if (needed == 0 && (owes || grants.nextFrozen() != Turn.NEVER)) {
            needed = DirectoryClient.TTL;
        }
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
        return awaiting == 0 && grants.isEmpty() && (ends == null || ends.isEmpty());
    }

    /** A helper of the same kind, for {@link #copy}. */
    LockClientHelper fresh(Key of, LockSettings with) {
        return new LockClientHelper(of, with, cluster, waiters);
    }

    @Override
    public LockClientHelper copy() {
        LockClientHelper copy = fresh(key, settings);
        copy.waiters = waiters.copy();
        copy.grants = grants.copy();
        copy.questions = questions == null ? null : questions.copy();
        copy.releases = releases == null ? null : releases.copy();
        copy.ends = ends == null ? null : ends.copy();
        copy.awaiting = awaiting;
        return copy;
    }

    @Override
    public void rebind(SessionLayer sessions) {
        if (sessions instanceof ClientView client) {
            for (ClientGrant held : grants) {
                if (!held.frozen) {
                    held.handle.believe(client.belief(held.handle.ttl()));
                }
            }
        }
    }

    @Override
    public void encode(StateEncoder out) {
        waiters.encode(out);
        out.put(grants.size());
        for (ClientGrant held : grants) {
            held.encode(out);
        }
        // What is made when it is first needed says the same as one that has nothing.
        (questions == null ? new StatusClient(key, STATUS) : questions).encode(out);
        (releases == null ? new UnconfirmedReleases(key) : releases).encode(out);
        (ends == null ? new UnconfirmedEnds(key, GRACE) : ends).encode(out);
        out.put(awaiting).put(grants.isClusterDown());
    }
}
