// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LeaseLoss;
import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockKeys;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The manager of one lock name: who holds it, who waits, and which token comes next. A repaired form of the source's LockManager; docs/algorithms/lease.md numbers the repairs.
 *
 * <p>A grant ends by the holder's word (RELEASE, ACCEPTED, REVOKED, WITHDRAW) or by that of the sessions (expiry, end of session), and by nothing else. Its place may be kept for longer ({@link KeptNames}). While anybody waits, the holder knows that it is
 * wanted. At rest, nothing of the name is left but the cell's floor of tokens.
 */
public class LockManager implements Machine {
    private static final int PATIENCE = 0;
    private static final int CLOSED = 1;
    private static final int INQUIRY = 2;
    private static final int KEPT = 3;

    /** How many of the first waiters are told each change of their place. */
    private static final int TOLD = 16;

    private final Key key;
    private final LockSettings settings;
    final List<HeldGrant> grants = new ArrayList<>(1);
    private @Nullable WaitQueue waits;
    private @Nullable StatusQueries inquiries;
    /** The highest token that is used up. */
    private long last;

    private Reassertion restart = new Reassertion();

    private boolean joined;

    public LockManager(Key key, LockSettings settings) {
        this.key = key;
        this.settings = settings;
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof LockMessage.Acquire acquire) {
            acquire(from, acquire, turn);
        } else if (message instanceof LockMessage.Release release) {
            released(from, release, turn);
        } else if (message instanceof LockMessage.Accepted accepted) {
            accepted(from, accepted, turn);
        } else if (message instanceof LockMessage.Denied denied) {
            denied(from, denied, turn);
        } else if (message instanceof LockMessage.Withdraw withdraw) {
            withdraw(from, withdraw.request(), turn);
        } else if (message instanceof LockMessage.Revoked revoked) {
            Breaks.revoked(from, revoked, this, turn);
        } else if (message instanceof LockMessage.Reassert reassert) {
            restart.reassert(from, reassert, this, turn);
        } else if (message instanceof LockMessage.Show show) {
            show(from, show, turn);
        } else if (message instanceof LockMessage.Use use) {
            if (inquiries != null && inquiries.answered(from, use, this, turn)) {
                inquiries = null;
            }
        } else if (message instanceof LockMessage.Break request) {
            Breaks.begin(from, request, this, turn);
        }
        settle(turn);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof MemberView.Expired expired) {
            expired(expired, turn);
        } else if (call instanceof MemberView.SessionEnded ended) {
            sessionEnded(ended.peer(), turn);
        } else if (call instanceof MemberView.Heard heard) {
            heard(heard.peer(), turn);
        } else if (call instanceof MemberView.Opening) {
            if (waits != null) {
                turn.goal(LockGoal.GRANT_AFTER_QUARANTINE);
            }
            serve(turn);
        } else if (call instanceof LockCall.Import grant) {
            restart.imported(grant, this, turn);
        } else if (call instanceof LockCall.Disown disowned) {
            HeldGrant grant = current(HeldGrant.NOBODY, disowned.token());
            finish(grant, grant == null ? 0 : grant.hi, turn);
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == PATIENCE) {
            impatient(turn);
        } else if (slot == CLOSED) {
            restart.due(this, turn);
            serve(turn);
        } else if (slot == KEPT) {
            KeptNames.due(this, turn);
        } else if (inquiries != null && inquiries.due(this, turn)) {
            inquiries = null;
        }
        settle(turn);
    }

    // Requests

    private void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
        RefusalCause never = request.mode() != LockMode.EXCLUSIVE
                ? RefusalCause.UNSUPPORTED
                : Math.max(request.ttl(), request.atLeast()) > turn.member().maxTtl() ? RefusalCause.TOO_LONG : null;
        if (never != null) {
            turn.send(from, new LockMessage.NotGranted(key, request.request(), never, List.of()));
            return;
        }
        WaitQueue queue = waits == null ? new WaitQueue() : waits;
        waits = queue;
        if (queue.find(from, request.request()) != null || granted(from, request.request()) != null) {
            return;
        }
        if (queue.size() >= settings.maxWaiters()) {
            turn.send(from, new LockMessage.NotGranted(key, request.request(), RefusalCause.CROWDED, List.of()));
            return;
        }
        WaitQueue.Wait wait = queue.add(from, request, turn.now());
        turn.member().await(from, key, request.ttl());
        if (turn.member().quarantined()) {
            turn.member().awaitOpening(key);
        }
        serve(turn);
        if (queue.find(from, request.request()) == wait) {
            waits(wait, queue, turn);
        }
    }

    /** The request could not be granted at once. */
    private void waits(WaitQueue.Wait wait, WaitQueue queue, Turn turn) {
        if (queue.size() > 1) {
            turn.goal(LockGoal.TWO_WAITERS);
        }
        for (HeldGrant grant : grants) {
            if (grant.kept) {
                continue; // nobody can give it back
            }
            if (wait.request.noWait()) {
                recall(grant, turn);
                wait.asked = grant.recalls;
            } else if (!grant.wanted) {
                grant.wanted = true;
                recall(grant, turn);
            }
        }
        if (wait.request.noWait()) {
            if (KeptNames.anyIn(grants)) {
                refuse(wait, RefusalCause.HELD, turn);
            }
            armPatience(queue, turn);
        } else if (wait.request.wantPlace()) {
            tellPlace(wait, queue.ahead(wait), turn);
        }
    }

    private void recall(HeldGrant grant, Turn turn) {
        if (settings.recallAtRenewal()) {
            grant.recalls++;
            if (!grant.recallLater) {
                grant.recallLater = true;
                turn.member().listen(grant.peer, key);
            }
        } else if (turn.send(grant.peer, new LockMessage.Recall(key, grant.token)) != 0) {
            grant.recalls++;
        }
    }

    private void withdraw(Peer from, long request, Turn turn) {
        WaitQueue.Wait wait = waits == null ? null : waits.find(from, request);
        if (wait != null) {
            leave(wait, turn);
            return;
        }
        HeldGrant grant = granted(from, request);
        if (grant != null) {
            turn.goal(LockGoal.WITHDRAWN_AFTER_GRANT);
            finish(grant, grant.token - 1, turn);
        }
    }

    private void leave(WaitQueue.Wait wait, Turn turn) {
        if (waits != null) {
            waits.remove(wait);
            turn.member().unawait(wait.peer, key, wait.request.ttl());
        }
    }

    // Grants

    /** Whether one more grant may stand beside those there are. Exclusive grants stand alone. */
    private boolean admits(Turn turn) {
        return grants.isEmpty() && !restart.closed() && !turn.member().quarantined();
    }

    /** Grants to whoever is first, unless nothing may be granted now. */
    void serve(Turn turn) {
        while (waits != null && admits(turn)) {
            WaitQueue.Wait first = firstHeard(waits, turn);
            if (first == null) {
                return;
            }
            grant(first, waits, turn);
        }
    }

    /** A grant to a client that was not heard lately would be dead on arrival: such waiters are passed over, and keep their place. */
    private WaitQueue.@Nullable Wait firstHeard(WaitQueue queue, Turn turn) {
        for (WaitQueue.Wait wait : queue.all()) {
            if (turn.member().silence(wait.peer) < wait.request.ttl() / 2) {
                return wait;
            }
            turn.goal(LockGoal.WAITER_PASSED_OVER);
            if (!wait.listening) {
                wait.listening = true;
                turn.member().listen(wait.peer, key);
            }
        }
        return null;
    }

    private void grant(WaitQueue.Wait wait, WaitQueue queue, Turn turn) {
        leave(wait, turn);
        LockMessage.Acquire request = wait.request;
        long range = request.cache() && request.atLeast() == 0 ? Tokens.RANGE : 1;
        long token = nextToken(range, turn);
        long hi = token + range - 1;
        HeldGrant grant = new HeldGrant(
                wait.peer,
                request.request(),
                token,
                hi,
                request.mode(),
                request.permits(),
                request.ttl(),
                request.owner(),
                turn.now(),
                request.atLeast());
        grants.add(grant);
        turn.member().grant(wait.peer, key, token, request.ttl());
        promise(grant, turn);
        refuseNoWaits(turn);
        grant.wanted = !queue.isEmpty();
        turn.send(wait.peer, new LockMessage.Granted(key, request.request(), token, hi, grant.wanted));
    }

    /** A start of this member must not forget what it keeps. */
    void promise(HeldGrant grant, Turn turn) {
        if (grant.atLeast > 0) {
            turn.member().keep(grant.keptUntil());
        }
    }

    private long nextToken(long range, Turn turn) {
        MemberView member = turn.member();
        long before = Math.max(last, Tokens.of(member.epoch(), member.floor()));
        if (Tokens.counter(before) + range > Tokens.MAX_COUNTER) {
            turn.goal(LockGoal.COUNTER_USED_UP);
            member.nextEpoch(turn);
            before = Math.max(last, Tokens.of(member.epoch(), member.floor()));
        }
        return before + 1;
    }

    /** The grant that a holder's message is about; null if it is over. */
    @Nullable
    HeldGrant current(Peer from, long token) {
        for (HeldGrant grant : grants) {
            if (grant.token == token && !grant.kept && (grant.peer.equals(from) || grant.imported())) {
                return grant;
            }
        }
        return null;
    }

    private @Nullable HeldGrant granted(Peer from, long request) {
        for (HeldGrant grant : grants) {
            if (grant.request == request && grant.peer.equals(from)) {
                return grant;
            }
        }
        return null;
    }

    private void released(Peer from, LockMessage.Release release, Turn turn) {
        HeldGrant grant = current(from, release.token());
        if (grant == null && release.used() < release.token()) {
            KeptNames.unused(release.token(), this, turn);
        } else {
            finish(grant, release.used(), turn);
        }
    }

    /** The holder ended the grant, or nobody can believe in it any more. */
    void finish(@Nullable HeldGrant grant, long used, Turn turn) {
        if (grant == null) {
            return;
        }
        turn.member().ungrant(grant.peer, key, grant.token, grant.ttl);
        over(grant, used, false, turn);
        serve(turn);
    }

    /** The grant ended by itself or by its holder's word: its place may stay. */
    private void over(HeldGrant grant, long used, boolean lost, Turn turn) {
        if (!keeps(grant, used, turn)) {
            // Whoever is breaking it has freed what else would be kept.
            end(grant, used, lost || grant.keepsAt(turn.now()), turn);
        }
    }

    boolean keeps(HeldGrant grant, long used, Turn turn) {
        return KeptNames.keep(grant, used, this, turn);
    }

    /** That token is used up. */
    void raise(long token) {
        last = Math.max(last, token);
    }

    boolean othersWait() {
        return waits != null && waits.waiting() > 0;
    }

    /** Adds all grants as a member takes them that starts after a clean end; false if more than grants keeps this name closed, which a table can't say. */
    boolean export(List<GrantTable.Entry> table, long now) {
        for (HeldGrant grant : grants) {
            table.add(new GrantTable.Entry(key, grant.peer, grant.export(now)));
        }
        return !restart.closed();
    }

    /** A token is never used twice, not even that of a grant which nobody took. */
    void end(HeldGrant grant, long used, boolean broken, Turn turn) {
        grants.remove(grant);
        raise(Math.max(grant.token, Math.min(used, grant.hi)));
        grant.answerBreakers(key, broken, turn);
    }

    private void accepted(Peer from, LockMessage.Accepted accepted, Turn turn) {
        HeldGrant grant = current(from, accepted.token());
        if (grant != null) {
            turn.goal(LockGoal.RECALL_ACCEPTED);
            if (waits != null && waits.waiting() == 0 && !waits.isEmpty()) {
                turn.goal(LockGoal.NO_WAIT_THROUGH_IDLE_CACHE);
            }
            finish(grant, accepted.used(), turn);
        }
    }

    private void denied(Peer from, LockMessage.Denied denied, Turn turn) {
        HeldGrant grant = current(from, denied.token());
        if (grant == null) {
            return;
        }
        turn.goal(LockGoal.RECALL_DENIED);
        grant.wanted = true;
        grant.denials = settings.recallAtRenewal() ? grant.recalls : grant.denials + 1;
        if (waits != null) {
            for (WaitQueue.Wait wait : waits.noWaits()) {
                if (wait.asked <= grant.denials) {
                    refuse(wait, RefusalCause.HELD, turn);
                }
            }
        }
    }

    /** What waits for no holder gets its answer. */
    void refuseNoWaits(Turn turn) {
        if (waits != null) {
            for (WaitQueue.Wait wait : waits.noWaits()) {
                refuse(wait, RefusalCause.HELD, turn);
            }
        }
    }

    private void refuse(WaitQueue.Wait wait, RefusalCause cause, Turn turn) {
        leave(wait, turn);
        turn.send(wait.peer, new LockMessage.NotGranted(key, wait.request.request(), cause, holders(turn)));
    }

    private List<Participant> holders(Turn turn) {
        List<Participant> holders = new ArrayList<>(grants.size());
        for (HeldGrant grant : grants) {
            holders.add(grant.party(turn.now()));
        }
        return List.copyOf(holders);
    }

    // What the sessions say

    private void expired(MemberView.Expired expired, Turn turn) {
        HeldGrant grant = current(expired.peer(), expired.token());
        if (grant == null) {
            return;
        }
        turn.send(grant.peer, LockMessage.Revoke.of(key, grant.token, LeaseLoss.Cause.EXPIRED));
        over(grant, grant.hi, true, turn);
        if (waits != null && waits.waiting() > 0) {
            turn.goal(LockGoal.GRANT_AFTER_EXPIRY);
        }
        serve(turn);
    }

    private void sessionEnded(Peer peer, Turn turn) {
        if (waits != null) {
            for (WaitQueue.Wait wait : waits.of(peer)) {
                waits.remove(wait);
            }
        }
        if (inquiries != null && inquiries.ended(peer, this, turn)) {
            inquiries = null;
        }
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.peer.equals(peer)) {
                over(grant, grant.hi, true, turn);
            } else {
                grant.breakers.removeIf(breaker -> breaker.peer().equals(peer));
            }
        }
        serve(turn);
    }

    private void heard(Peer peer, Turn turn) {
        for (HeldGrant grant : grants) {
            if (grant.recallLater && grant.peer.equals(peer)) {
                grant.recallLater = false;
                turn.send(peer, new LockMessage.Recall(key, grant.token));
            }
        }
        if (waits != null) {
            for (WaitQueue.Wait wait : waits.of(peer)) {
                if (wait.listening) {
                    wait.listening = false;
                    turn.goal(LockGoal.PASSED_OVER_HEARD_AGAIN);
                }
            }
            serve(turn);
        }
    }

    private void impatient(Turn turn) {
        if (waits == null) {
            return;
        }
        for (WaitQueue.Wait wait : waits.noWaits()) {
            if (turn.now() - wait.until >= 0) {
                refuse(wait, grants.isEmpty() ? RefusalCause.OPENING : RefusalCause.HELD, turn);
            }
        }
        armPatience(waits, turn);
    }

    private void armPatience(WaitQueue queue, Turn turn) {
        long first = Turn.NEVER;
        for (WaitQueue.Wait wait : queue.noWaits()) {
            first = first == Turn.NEVER || wait.until - first < 0 ? wait.until : first;
        }
        turn.timer(PATIENCE, first);
    }

    // Administration

    private void show(Peer from, LockMessage.Show show, Turn turn) {
        StatusQueries pending = inquiries == null ? new StatusQueries() : inquiries;
        if (!pending.begin(from, show, this, turn)) {
            inquiries = pending;
        }
    }

    void armClosed(long at, Turn turn) {
        turn.timer(CLOSED, at);
    }

    void armKept(long at, Turn turn) {
        turn.timer(KEPT, at);
    }

    void armInquiry(long at, Turn turn) {
        turn.timer(INQUIRY, at);
    }

    Key key() {
        return key;
    }

    Iterable<WaitQueue.Wait> waiters() {
        return waits == null ? List.of() : waits.all();
    }

    // After each event

    private void settle(Turn turn) {
        if (waits != null) {
            tellPlaces(waits, turn);
            if (waits.isEmpty()) {
                waits = null;
            }
        }
        boolean resting = grants.isEmpty() && waits == null && inquiries == null && !restart.closed();
        if (joined == resting) {
            joined = !resting;
            turn.call(
                    LockKeys.directory(key.algorithm()),
                    resting ? new LockCall.Left(key.id()) : new LockCall.Joined(key.id()));
        }
    }

    private void tellPlaces(WaitQueue queue, Turn turn) {
        int place = 0;
        for (WaitQueue.Wait wait : queue.all()) {
            if (place == TOLD) {
                return;
            }
            if (wait.request.wantPlace() && !wait.request.noWait() && wait.told != place) {
                tellPlace(wait, place, turn);
            }
            place++;
        }
    }

    private void tellPlace(WaitQueue.Wait wait, int place, Turn turn) {
        wait.told = place;
        turn.send(wait.peer, new LockMessage.Place(key, wait.request.request(), place, holders(turn)));
    }

    @Override
    public boolean atRest() {
        return !joined;
    }

    @Override
    public void dropped(Turn turn) {
        if (Tokens.epoch(last) == turn.member().epoch()) {
            turn.member().raiseFloor(Tokens.counter(last));
        }
    }

    /** A manager of the same kind, for {@link #copy}. */
    LockManager fresh(Key of, LockSettings with) {
        return new LockManager(of, with);
    }

    @Override
    public LockManager copy() {
        LockManager copy = fresh(key, settings);
        for (HeldGrant grant : grants) {
            copy.grants.add(grant.copy());
        }
        copy.waits = waits == null ? null : waits.copy();
        copy.inquiries = inquiries == null ? null : inquiries.copy();
        copy.last = last;
        copy.restart = restart.copy();
        copy.joined = joined;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(grants.size());
        for (HeldGrant grant : grants) {
            grant.encode(out);
        }
        out.put(waits != null);
        if (waits != null) {
            waits.encode(out);
        }
        out.put(inquiries != null);
        if (inquiries != null) {
            inquiries.encode(out);
        }
        out.put(last).put(joined);
        restart.encode(out);
    }
}
