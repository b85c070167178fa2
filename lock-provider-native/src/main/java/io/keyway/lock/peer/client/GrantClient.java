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
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.spi.Answer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The helper of one name at one client that has any number of grants of it at the same time, and caches none: for
 * shared locks and permits.
 *
 * <p><b>States</b> of a request: <i>waiting</i> at the manager, each for itself, so that whoever may hold together is
 * granted together; <i>pending</i>, until the echo of its grant shows how much belief it leaves. States of a grant:
 * <i>in use</i>; <i>frozen</i>, when its member has restarted: belief stays where it was until the new member has
 * confirmed this grant.
 *
 * <p><b>Messages.</b> Those of {@link LockClientHelper}. Each grant has its own token and its own handle, and every
 * message about a grant finds it by its token: a release, a revocation, a lapse or a re-assertion of one leaves the
 * others as they are. A RECALL is always denied, for no grant lies idle.
 *
 * <p><b>Invariants.</b> As of {@link LockClientHelper}: no deadline is stored; a grant that nobody waits for goes back
 * at once; a handle is closed before a message says that its grant is over, and never opened again; each end that a
 * user did not ask for is told once; of a grant that lapsed the manager hears when its user has stopped or had a
 * quarter of the ttl to do so. The session renews by ttl: this key holds each ttl as long as one of its grants has it.
 */
public final class GrantClient implements Machine {
    private static final int FROZEN = 1;
    private static final int STATUS = 2;
    private static final int GRACE = 3;
    private static final int OWED = 4;

    private final Key key;
    private final LockSettings settings;
    private final LocalWaiters waiters;
    private final StatusClient questions;
    private final UnconfirmedReleases releases;
    private final UnconfirmedEnds ends;

    /** By token, in the order in which they came. */
    private final Map<Long, ClientGrant> grants = new LinkedHashMap<>(2);

    /** The ttl with which this key awaits its session; 0 if it does not. */
    private long awaiting;

    /** A helper at rest. */
    public GrantClient(Key key, LockSettings settings) {
        this(
                key,
                settings,
                new LocalWaiters(key, false),
                new StatusClient(key, STATUS),
                new UnconfirmedReleases(key),
                new UnconfirmedEnds(key, GRACE));
    }

    private GrantClient(
            Key key,
            LockSettings settings,
            LocalWaiters waiters,
            StatusClient questions,
            UnconfirmedReleases releases,
            UnconfirmedEnds ends) {
        this.key = key;
        this.settings = settings;
        this.waiters = waiters;
        this.questions = questions;
        this.releases = releases;
        this.ends = ends;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Granted granted) {
            Waiter waiter = waiters.taker(granted.request());
            if (waiter == null) {
                turn.goal(LockGoal.UNEXPECTED_GRANT_RETURNED);
                waiters.returnUnused(from, granted.token(), turn);
            } else {
                waiters.came(waiter, from, granted, turn);
            }
        } else if (message instanceof LockMessage.NotGranted refusal) {
            waiters.refused(refusal, turn);
        } else if (message instanceof LockMessage.Blocked blocked) {
            waiters.blocked(blocked, turn);
        } else if (message instanceof LockMessage.Place place) {
            waiters.placed(place, turn);
        } else if (message instanceof LockMessage.Recall recall) {
            recall(from, recall, turn);
        } else if (message instanceof LockMessage.Revoke revoke) {
            revoke(from, revoke, turn);
        } else if (message instanceof LockMessage.Reasserted reasserted) {
            ClientGrant held = grants.get(reasserted.token());
            if (held != null && held.frozen) {
                held.reasserted = true;
                turn.client().afterEcho(key);
            }
        } else if (message instanceof LockMessage.Query query) {
            ClientGrant asked = grants.get(query.token());
            ClientGrant.answer(from, query, asked, waiters.queue().participants(turn.now()), turn);
        } else if (!(message instanceof LockMessage.Misdirected m && waiters.misdirected(m.request(), turn))
                && message instanceof LockMessage answer) {
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
            for (ClientGrant held : believed(lapsed.ttl())) {
                if (!held.handle.belief().holds(turn.now())) {
                    end(held, LeaseLoss.Cause.EXPIRED, "not confirmed within 3/4 of its ttl", true, turn);
                }
            }
        } else if (call instanceof ClientView.Doubted doubted) {
            for (ClientGrant held : believed(doubted.ttl())) {
                held.doubt("no answer for five eighths of its ttl", turn);
            }
        } else if (call instanceof ClientView.Certain certain) {
            for (ClientGrant held : believed(certain.ttl())) {
                held.certain(turn);
            }
        } else if (call instanceof ClientView.Received received) {
            releases.received(received.number(), turn);
            waiters.received(received.number(), turn);
        } else if (call instanceof ClientView.SessionGone gone) {
            sessionGone(gone, turn);
        } else if (call instanceof ClientView.Disowned disowned) {
            releases.forget(turn.now(), true);
            for (ClientGrant held : all()) {
                if (held.frozen) {
                    end(held, LeaseLoss.Cause.EXPIRED, disowned.why(), false, turn);
                }
            }
        } else if (call instanceof ClientView.SessionOpen open) {
            sessionOpen(open.session(), turn);
        } else if (call instanceof ClientView.Dismissed) {
            questions.dismissed(turn);
            waiters.dismissed(turn);
        } else if (call instanceof ClientView.Unreachable member) {
            questions.unreachable(member, turn);
            waiters.unreachable(member, turn);
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == OWED) {
            turn.timer(OWED, releases.forget(turn.now(), false));
        } else if (slot == STATUS) {
            questions.due(turn);
        } else if (slot == GRACE) {
            ends.due(turn);
        } else if (slot == FROZEN) {
            for (ClientGrant held : all()) {
                if (held.frozen && !held.handle.belief().holds(turn.now())) {
                    String why = "the member restarted and did not confirm it in time";
                    end(held, LeaseLoss.Cause.EXPIRED, why, true, turn);
                }
            }
            armFrozen(turn);
        }
        settle(turn);
    }

    // Users

    private void asked(LockCall call, Turn turn) {
        if (call instanceof LockCall.Acquire acquire) {
            if (waiters.find(acquire.request()) == null) {
                waiters.add(acquire, null, turn);
            }
        } else if (call instanceof LockCall.Release release) {
            release(release, turn);
        } else if (call instanceof LockCall.Withdraw withdraw) {
            waiters.withdraw(withdraw.request(), turn);
        } else if (call instanceof LockCall.Lapse lapse) {
            ClientGrant held = grants.get(lapse.token());
            if (held != null) {
                end(held, LeaseLoss.Cause.EXPIRED, "its deadline passed", true, turn);
            }
        } else {
            questions.called(call, turn);
        }
    }

    private void release(LockCall.Release call, Turn turn) {
        long token = call.token();
        ClientGrant held = grants.get(token);
        if (held != null && held.handle.closeActive(token) != null) {
            held.unused = call.unused();
            giveBack(held, turn);
            return;
        }
        stopped(token, call.unused(), turn);
        if (!releases.awaits(token)) {
            releases.tell(token, Answer.NOT_HELD, turn);
        }
    }

    /** The user of a grant that has ended says that it has stopped. */
    private void stopped(long token, boolean unused, Turn turn) {
        Long ttl = ends.released(token, unused, turn);
        if (ttl != null) {
            unhold(ttl, turn);
        }
    }

    // Grants

    private void echoed(Turn turn) {
        for (ClientGrant held : all()) {
            if (held.frozen && held.reasserted) {
                thaw(held, turn);
            }
        }
        for (Waiter waiter : waiters.pending()) {
            Belief belief = turn.client().belief(waiter.call.ttl());
            if (waiters.stands(waiter, belief, turn)) {
                accept(waiter, belief, turn);
            }
        }
    }

    private void accept(Waiter waiter, Belief belief, Turn turn) {
        LockCall.Acquire call = waiter.call;
        GrantHandle handle = new GrantHandle(key, waiter.token, waiter.token, call, turn.now(), belief);
        grants.put(waiter.token, new ClientGrant(waiter.session, call.request(), handle));
        turn.client().hold(key, call.ttl());
        waiters.served(waiter);
        turn.tell(new LockNotice.Granted(key, call.request(), handle, waiter.token, call.user()));
    }

    private List<ClientGrant> all() {
        return List.copyOf(grants.values());
    }

    /** The grants of that ttl whose belief moves with the session's. */
    private List<ClientGrant> believed(long ttl) {
        List<ClientGrant> some = new ArrayList<>();
        for (ClientGrant held : grants.values()) {
            if (!held.frozen && held.handle.ttl() == ttl) {
                some.add(held);
            }
        }
        return some;
    }

    /** The handle is closed: the grant goes to the manager, and a user waits to hear that it has it. */
    private void giveBack(ClientGrant held, Turn turn) {
        long token = held.handle.token();
        gone(held, turn);
        ClientView client = turn.client();
        if (!held.frozen) {
            releases.sent(turn.send(held.session, held.release(key)), token, turn);
            return;
        }
        if (client.exists()) {
            turn.send(client.session(), held.release(key));
        } else {
            turn.timer(OWED, releases.owe(held));
        }
        releases.tell(token, Answer.DONE, turn);
    }

    /** The grant is over: once seen, for good. {@code release}: the manager does not know it. */
    private void end(ClientGrant held, LeaseLoss.Cause cause, String detail, boolean release, Turn turn) {
        GrantHandle.Use use = held.handle.close();
        gone(held, turn);
        if (use != null) {
            turn.tell(new LockNotice.Ended(key, use.token(), cause, detail, use.user()));
        }
        if (release && turn.client().exists()) {
            ends.lapsed(held.handle, use != null, turn);
        }
    }

    private void gone(ClientGrant held, Turn turn) {
        grants.remove(held.handle.token());
        unhold(held.handle.ttl(), turn);
        armFrozen(turn);
        turn.tell(new LockNotice.Closed(key, held.handle));
    }

    /** The session need not renew that ttl any more, unless another grant has it. */
    private void unhold(long ttl, Turn turn) {
        if (believed(ttl).isEmpty() && !ends.holds(ttl)) {
            turn.client().unhold(key, ttl);
        }
    }

    private void recall(Peer from, LockMessage.Recall recall, Turn turn) {
        long token = recall.token();
        ClientGrant held = grants.get(token);
        boolean inUse = held == null ? ends.contains(token) : !held.frozen || held.reasserted;
        if (!waiters.recalled(from, recall, turn) && inUse) {
            waiters.deny(from, recall, turn);
        }
    }

    private void revoke(Peer from, LockMessage.Revoke revoke, Turn turn) {
        if (waiters.revoked(from, revoke, turn)) {
            return;
        }
        long token = revoke.token();
        ClientGrant held = grants.get(token);
        if (revoke.cause() != LeaseLoss.Cause.BROKEN) {
            if (held != null) {
                end(held, revoke.cause(), ClientGrant.why(revoke), false, turn);
            }
            return;
        }
        GrantHandle.Use use = held == null || (held.frozen && !held.reasserted) ? null : held.handle.closeActive(token);
        if (held == null || use == null) {
            if (!ends.stops(token)) {
                turn.send(from, new LockMessage.Revoked(key, token, 0, 0));
            }
            return;
        }
        gone(held, turn);
        turn.tell(new LockNotice.Ended(key, token, revoke.cause(), ClientGrant.why(revoke), use.user()));
        ends.broken(from, token, held.handle);
        if (settings.stopsBeforeRevoked()) {
            // Held on to, so that the session goes on renewing it.
            turn.client().hold(key, held.handle.ttl());
        } else {
            stopped(token, false, turn);
        }
    }

    // Sessions

    private void sessionGone(ClientView.SessionGone gone, Turn turn) {
        ends.forget(turn);
        waiters.unsent();
        releases.lost(turn);
        for (ClientGrant held : all()) {
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
            held.doubt("the member was restarted", turn);
        }
        armFrozen(turn);
    }

    private void armFrozen(Turn turn) {
        long next = Turn.NEVER;
        for (ClientGrant held : grants.values()) {
            if (held.frozen) {
                long at = held.handle.deadline();
                next = next == Turn.NEVER || at - next < 0 ? at : next;
            }
        }
        turn.timer(FROZEN, next);
    }

    private void sessionOpen(Peer session, Turn turn) {
        releases.opened(session, turn);
        questions.opened(turn);
        for (ClientGrant held : grants.values()) {
            if (held.frozen && held.handle.belief().holds(turn.now())) {
                held.reasserted = false;
                turn.send(session, held.reassertion(key));
            }
        }
    }

    /** The grant is one of the new session from here on. */
    private void thaw(ClientGrant held, Turn turn) {
        ClientGrant thawed = held.thawed(turn.client().session());
        long ttl = thawed.handle.ttl();
        grants.put(thawed.handle.token(), thawed);
        thawed.handle.believe(turn.client().belief(ttl));
        armFrozen(turn);
        turn.client().hold(key, ttl);
        thawed.certain(turn);
    }

    // After each event

    private void settle(Turn turn) {
        long shortest = 0;
        boolean mayAsk = turn.client().exists();
        for (Iterable<Waiter> some : List.of(waiters.queue(), waiters.asks())) {
            for (Waiter waiter : some) {
                if (mayAsk) {
                    waiters.request(waiter, turn);
                }
                shortest = shortest == 0 ? waiter.call.ttl() : Math.min(shortest, waiter.call.ttl());
            }
        }
        boolean owes = !releases.isEmpty() || !questions.isEmpty();
        for (ClientGrant held : grants.values()) {
            owes |= held.frozen;
        }
        await(shortest == 0 && owes ? DirectoryClient.TTL : shortest, turn);
    }

    private void await(long needed, Turn turn) {
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
        return awaiting == 0 && grants.isEmpty() && ends.isEmpty();
    }

    @Override
    public GrantClient copy() {
        GrantClient copy =
                new GrantClient(key, settings, waiters.copy(), questions.copy(), releases.copy(), ends.copy());
        grants.forEach((token, held) -> copy.grants.put(token, held.copy()));
        copy.awaiting = awaiting;
        return copy;
    }

    @Override
    public void rebind(SessionLayer sessions) {
        if (sessions instanceof ClientView client) {
            for (ClientGrant held : grants.values()) {
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
        grants.values().forEach(held -> held.encode(out));
        questions.encode(out);
        releases.encode(out);
        ends.encode(out);
        out.put(awaiting);
    }
}
