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
import io.keyway.lock.peer.service.DrainGoal;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.SharedGoal;
import io.keyway.lock.spi.TreeModes;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The manager of one lock name at its member: who holds it, who waits, and which token comes next. A repaired form of
 * the source's LockManager; docs/algorithms/lease.md numbers the repairs.
 *
 * <p><b>Parts</b>, each with its own state and invariants: {@link Grants} with their tokens, the {@link WaitQueue}
 * with the {@link TurnOrder} in it and the requests that {@link NoWaits do not wait}, the {@link SoftWriters} beside
 * it, {@link Recalls}, {@link Reassertions} after a start, the {@link Breaks} of administrators, and the {@link
 * Observers}, who ask and change nothing. The manager grants, ends grants and answers requests.
 *
 * <p><b>States of the name.</b> <i>At rest</i>: no grant, no request, no question; nothing is left of it but the cell's
 * floor of tokens. <i>Granted</i>: one grant, or as many as {@link Admission} lets stand together. <i>Waited for</i>:
 * requests are in the queue, in the order of their users' calls. <i>Opening</i>: the member has restarted and is in
 * quarantine; requests queue, holders re-assert. <i>Closed</i>: re-assertions were in conflict.
 *
 * <p><b>States of a grant</b> ({@link HeldGrant}). <i>Held</i> by a session. <i>Imported</i> from before a clean end of
 * the member. <i>Kept</i>: it is over and was to be held at least for longer, by the member's clock; nobody holds it,
 * and no message finds it but a break, and its client's word that it came too late and nobody used it.
 *
 * <p><b>Messages</b> of clients. ACQUIRE asks for the lock: GRANTED at once if it is free, else it is queued, or
 * refused with NOT_GRANTED; PLACE says once where it stands in the queue. WITHDRAW takes it out, or ends its grant.
 * RELEASE ends a grant, and so does ACCEPTED, the answer to a RECALL; DENIED says that it is in use. ACQUIRE that names
 * a grant changes its mode: a downgrade at once, an upgrade when no other grant stands, before all who wait; the grant
 * has a new token then, and a message that names the old one was sent before its client knew. The sessions say when a
 * grant expires, when a session is over, when it is heard again, and when the quarantine is over.
 *
 * <p><b>Invariants.</b> A grant ends by the holder's word (RELEASE, ACCEPTED, REVOKED, WITHDRAW) or by that of the
 * sessions (expiry, end of session; with all others, when another member leads), and by nothing else; each message that
 * ends one names its token. Grants that stand together are admitted together by {@link Admission}. Nobody who is heard
 * is overtaken, except a request that its own view of the permits refuses: who comes later is granted later, and soft
 * writers after all. While anybody waits, and for a while after clients have taken the lock from each other, a holder
 * in its way that could cache it knows that it is wanted. While an upgrade waits nobody is granted; it ends with its
 * read grant at the latest. As long as a client may take permits from its cache for a user who sees few, no more are
 * out than that. A request that does not wait is in the queue only while a recall of its own, one before it that does
 * not wait either, or the quarantine is unanswered. A name is a flat lock or a level of trees, by what stands or waits;
 * a request of the other kind is refused. At a level several grants may wait to be raised, each before all requests,
 * and each that stands beside all that is before it is granted.
 */
public class LockManager implements Machine {
    private static final int PATIENCE = 0;
    private static final int CLOSED = 1;
    private static final int STATUS = 2;
    private static final int KEPT = 3;
    private static final int WATCH = 4;
    private static final int QUIET = 5;

    private final Key key;
    private final LockSettings settings;
    private final Admission admission;
    final Grants grants = new Grants();
    private @Nullable Recalls recalls;
    private final Waiters waiters;
    private @Nullable Observers observers;
    private @Nullable Breaks breaks;
    private @Nullable Reassertions reassertions;

    /** How many permits one resource has, as the last request said that was granted. */
    private int perResource;

    /** Null if clients have not taken the lock from each other, or nobody remembers. */
    private @Nullable Contention contention;

    /** A name at rest. */
    public LockManager(Key key, LockSettings settings, Admission admission) {
        this(key, settings, admission, new Waiters(key));
    }

    LockManager(Key key, LockSettings settings, Admission admission, Waiters waiters) {
        this.key = key;
        this.settings = settings;
        this.admission = admission;
        this.waiters = waiters;
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
            revoked(from, revoked, turn);
        } else if (message instanceof LockMessage.Reassert claim) {
            reassert(from, claim, turn);
        } else if (message instanceof LockMessage.Break request) {
            breakGrant(from, request, turn);
        } else if (message instanceof LockMessage.Raise raise) {
            turn.send(from, new LockMessage.Answer(key, raise.request(), grants.raise(raise.token(), turn)));
        } else {
            observers = observers == null ? new Observers(key, STATUS, WATCH, settings.maxWaiters()) : observers;
            observers.received(from, message, seen(), turn);
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
            if (waiters.queue() != null) {
                turn.goal(LockGoal.GRANT_AFTER_QUARANTINE);
            }
            serve(turn);
            places().tellThoseKeptOut(mayGrant(turn), turn);
        } else if (call instanceof LockCall.Import grant) {
            imported(grant, turn);
        } else if (call instanceof LockCall.Disown disowned) {
            HeldGrant grant = current(HeldGrant.NOBODY, disowned.token());
            finish(grant, grant == null ? 0 : grant.hi, turn);
        } else if (call instanceof MemberView.Unseated) {
            List.copyOf(grants).forEach(grant -> end(grant, grant.hi, true, turn));
        }
        settle(turn);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == PATIENCE) {
            impatient(turn);
        } else if (slot == CLOSED) {
            reopen(turn);
        } else if (slot == KEPT) {
            endKept(turn);
        } else if (slot == STATUS && observers != null) {
            observers.due(seen(), turn);
        } else if (slot == QUIET) {
            drain(DrainGoal.DRAINED_AFTER_ITS_TIME, turn);
        }
        settle(turn);
    }

    // Requests

    void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
        RefusalCause never = !admission.serves(request.mode())
                ? RefusalCause.UNSUPPORTED
                : Math.max(request.ttl(), request.atLeast()) > turn.member().maxTtl() ? RefusalCause.TOO_LONG : null;
        if (never != null) {
            refuse(from, request, never, turn);
            return;
        }
        if (request.isSoft()) {
            yields(from, request, turn);
            return;
        }
        boolean free = grants.isEmpty() && waiters.queue() == null && mayGrant(turn);
        if (free && request.fitsAlone() && HeldGrant.arrivesAlive(from, request, turn)) {
            grant(from, request, turn);
            return;
        }
        if (isKnown(from, request)) {
            return;
        }
        RefusalCause unlike = waiters.unlike(request, grants);
        if (unlike != null) {
            refuse(from, request, unlike, turn);
        } else if (request.converts() != 0) {
            convert(from, request, turn);
        } else if (waiters.queue() == null
                && mayGrant(turn)
                && admission.admits(grants.claims(), request.mode(), request.permits(), request.capacity())
                && isUnderTheCeiling(request)
                && HeldGrant.arrivesAlive(from, request, turn)) {
            turn.goal(SharedGoal.JOINED);
            grant(from, request, turn);
        } else {
            enqueue(from, request, turn);
        }
    }

    private boolean isKnown(Peer from, LockMessage.Acquire request) {
        return waiters.find(from, request.request()) != null || grants.of(from, request.request()) != null;
    }

    void enqueue(Peer from, LockMessage.Acquire request, Turn turn) {
        if (waiters.size() >= settings.maxWaiters()) {
            refuse(from, request, RefusalCause.CROWDED, turn);
            return;
        }
        WaitQueue queue = waiters.enqueue(from, request, turn);
        serve(turn);
        WaitQueue.Wait wait = queue.find(from, request.request());
        if (wait != null) {
            mustWait(wait, queue, turn);
        }
    }

    /** A soft writer waits beside the queue until nobody else wants the lock. */
    private void yields(Peer from, LockMessage.Acquire request, Turn turn) {
        if (isKnown(from, request)) {
            return;
        }
        boolean isNone = request.mode() != LockMode.EXCLUSIVE || request.noWait() || request.converts() != 0;
        RefusalCause cause = isNone ? RefusalCause.UNSUPPORTED : waiters.unlike(request, grants);
        if (cause != null) {
            refuse(from, request, cause, turn);
            return;
        } else if (waiters.size() >= settings.maxWaiters()) {
            refuse(from, request, RefusalCause.CROWDED, turn);
            return;
        }
        SoftWriters softWriters = waiters.yields(from, request, turn);
        drain(DrainGoal.DRAINED_AT_ONCE, turn);
        WaitQueue.Wait wait = softWriters.find(from, request.request());
        if (wait != null) {
            recalls().askForSoftWriters(turn);
            places().tell(wait, 0, mayGrant(turn), turn);
        }
    }

    /** Grants to a soft writer if nobody holds and nobody queues, and to one only. */
    private void drain(DrainGoal how, Turn turn) {
        SoftWriters softWriters = waiters.softWriters();
        if (softWriters == null) {
            return;
        }
        if (grants.isEmpty() && mayGrant(turn)) {
            WaitQueue.Wait next = softWriters.ready(turn);
            if (next != null && !waiters.areNoneQueued()) {
                turn.goal(DrainGoal.BEHIND_THOSE_THAT_QUEUE);
            } else if (next != null) {
                turn.goal(how);
                waiters.leave(next, turn);
                grant(next.peer, next.request, turn);
            }
        }
        turn.timer(QUIET, softWriters.nextReady(turn));
    }

    /** Permits may be taken again from caches, by whoever sees as few as when they were granted. */
    boolean isUnderTheCeiling(LockMessage.Acquire request) {
        return request.mode() != LockMode.PERMITS || grants.claims().permits() + request.permits() <= grants.ceiling();
    }

    private Places places() {
        return new Places(key, grants, admission, waiters);
    }

    private boolean mayGrant(Turn turn) {
        return !closed() && !turn.member().quarantined();
    }

    /** The request could not be granted at once. */
    private void mustWait(WaitQueue.Wait wait, WaitQueue waits, Turn turn) {
        if (waits.size() > 1) {
            turn.goal(LockGoal.TWO_WAITERS);
        }
        if (wait.request.noWait()) {
            ask(wait, waits.noWaits(), turn);
            armPatience(turn);
            return;
        }
        if (grants.areQuiet() && !admission.admits(grants.claims(), wait, wait.request.capacity())) {
            recalls().want(wait, turn);
        }
        if (wait.request.wantPlace()) { // once: the rest of the way is told by SHOW
            places().tell(wait, waits.ahead(wait), mayGrant(turn), turn);
        }
    }

    private void withdraw(Peer from, long request, Turn turn) {
        WaitQueue.Wait wait = waiters.find(from, request);
        if (wait != null) {
            waiters.leave(wait, turn);
            if (!grants.isEmpty()) {
                serve(turn); // whoever was behind it may go with those who hold
            }
            return;
        }
        HeldGrant grant = grants.of(from, request);
        if (grant != null) {
            turn.goal(LockGoal.WITHDRAWN_AFTER_GRANT);
            unused(grant, turn);
        }
    }

    /** That grant reached nobody. */
    void unused(HeldGrant grant, Turn turn) {
        if (grant.isUpgraded()) {
            takeBack(grant, turn);
            serve(turn);
            recallForAll(turn);
        } else {
            finish(grant, grant.token - 1, turn);
        }
    }

    /** What was recalled of a grant before says nothing of what it is now. */
    private void recallForAll(Turn turn) {
        for (WaitQueue.Wait wait : waiters.queued()) {
            if (grants.areQuiet() && !wait.request.noWait()) {
                recalls().want(wait, turn);
            }
        }
        if (waiters.softWriters() != null) {
            recalls().askForSoftWriters(turn);
        }
    }

    private void refuse(WaitQueue.Wait wait, RefusalCause cause, Turn turn) {
        waiters.leave(wait, turn);
        refuse(wait.peer, wait.request, cause, turn);
    }

    private void refuse(Peer peer, LockMessage.Acquire request, RefusalCause cause, Turn turn) {
        var holders = grants.participants(Places.SHOWN, turn.now());
        turn.send(peer, new LockMessage.NotGranted(key, request.request(), cause, holders));
    }

    private void impatient(Turn turn) {
        for (WaitQueue.Wait wait : waiters.noWaits()) {
            if (turn.now() - wait.until() >= 0) {
                refuse(wait, places().refusal(wait, mayGrant(turn)), turn);
            }
        }
        armPatience(turn);
        serve(turn);
    }

    private void armPatience(Turn turn) {
        turn.timer(PATIENCE, waiters.patience());
    }

    // Grants

    /**
     * Grants to whoever is first, and to those behind it who may hold together with it, unless nothing may be granted
     * now. Then whoever does not wait and cannot have it is told so, which may make way for others.
     */
    private void serve(Turn turn) {
        do {
            serveThoseWhoMay(turn);
        } while (refuseTheHopeless(turn));
    }

    private void serveThoseWhoMay(Turn turn) {
        WaitQueue queue = waiters.queue();
        if (queue == null || !mayGrant(turn)) {
            return;
        }
        TurnOrder order = new TurnOrder(queue, grants, admission, breaks);
        for (WaitQueue.Wait next = order.next(turn); next != null; next = order.next(turn)) {
            if (next.converts()) {
                waiters.leave(next, turn);
                turn.goal(SharedGoal.UPGRADED_AFTER_WAITING);
                convert(Objects.requireNonNull(current(next.peer, next.request.converts())), next.request, turn);
            } else if (isUnderTheCeiling(next.request)) {
                if (order.passes()) {
                    turn.goal(SharedGoal.PASSED_BY_A_LARGER_VIEW);
                }
                waiters.leave(next, turn);
                grant(next.peer, next.request, turn);
            } else {
                recalls().askTheNarrow(grants.claims().permits() + next.permits(), turn);
                return;
            }
        }
    }

    void grant(Peer to, LockMessage.Acquire request, Turn turn) {
        boolean wanted = isWanted(turn);
        long range = wanted || request.atLeast() > 0 ? 1 : grants.range(request, turn);
        long token = grants.nextToken(range, turn);
        HeldGrant grant = HeldGrant.granted(to, request, token, token + range - 1, turn.now());
        grant.wanted = wanted;
        grants.add(grant);
        turn.member().grant(to, key, token, request.ttl());
        tell(grant, turn);
        perResource = request.mode() == LockMode.PERMITS ? request.perResource() : 0;
        waiters.granted(request.mode(), turn);
    }

    private boolean isWanted(Turn turn) {
        contention = contention == null || contention.isOver(turn) ? null : contention;
        return contention != null || waiters.areThere();
    }

    private void tell(HeldGrant grant, Turn turn) {
        promise(grant, turn);
        refuseTheHopeless(turn);
        int out = (int) Math.min(Integer.MAX_VALUE, grants.claims().permits());
        turn.send(grant.peer, new LockMessage.Granted(key, grant.request, grant.token, grant.hi, grant.wanted, out));
    }

    /** A start of this member must not forget what it keeps. */
    void promise(HeldGrant grant, Turn turn) {
        if (grant.atLeast > 0) {
            turn.member().keep(grant.keptUntil());
        }
    }

    /** The grant that a holder's message is about; null if it is over. */
    @Nullable
    HeldGrant current(Peer from, long token) {
        return grants.current(from, token);
    }

    /**
     * The same, of a message by which its holder ends it. Whoever names what it was before an upgrade has not taken
     * that one.
     */
    @Nullable
    HeldGrant ending(Peer from, long token, Turn turn) {
        HeldGrant grant = current(from, token);
        return grant != null && grant.token != token && grant.isUpgraded() && !grant.imported()
                ? takeBack(grant, turn)
                : grant;
    }

    // Requests that do not wait

    /** Asks all whose grants stand in its way and may lie idle. */
    private void ask(WaitQueue.Wait wait, NoWaits noWaits, Turn turn) {
        HeldGrant own = wait.converts() ? current(wait.peer, wait.request.converts()) : null;
        noWaits.ask(wait, grants, own, admission);
        if (noWaits.isHopeless(wait, grants.claims(), admission, mayGrant(turn), turn)) {
            refuse(wait, RefusalCause.HELD, turn);
            serve(turn);
            return;
        }
        for (HeldGrant grant : grants) {
            if (noWaits.hangsOn(wait, grant)) {
                recalls().ask(grant, turn);
            }
        }
    }

    /** Who does not wait and cannot have it gets its answer; true if there were any. */
    private boolean refuseTheHopeless(Turn turn) {
        boolean refused = false;
        for (WaitQueue.Wait wait : waiters.noWaits()) {
            if (waiters.isHopeless(wait, grants.claims(), admission, mayGrant(turn), turn)) {
                refuse(wait, RefusalCause.HELD, turn);
                refused = true;
            }
        }
        return refused;
    }

    // The ends of grants

    private void released(Peer from, LockMessage.Release release, Turn turn) {
        HeldGrant grant = ending(from, release.token(), turn);
        if (grant != null) {
            handsOver(from, turn);
        }
        if (grant != null && grant.isUpgraded() && release.used() < grant.token) {
            unused(grant, turn);
        } else if (grant == null && release.used() < release.token()) {
            keptForNobody(release.token(), turn);
        } else {
            finish(grant, release.used(), turn);
        }
    }

    /** That holder makes way for whoever waits: clients take the lock from each other. */
    private void handsOver(Peer from, Turn turn) {
        if (waiters.areQueuedBeside(from)) {
            contention = new Contention(turn.now());
        }
    }

    /** The holder ended the grant, or nobody can believe in it any more. */
    private void finish(@Nullable HeldGrant grant, long used, Turn turn) {
        if (grant == null) {
            return;
        }
        turn.member().ungrant(grant.peer, key, grant.token, grant.ttl);
        over(grant, used, false, turn);
        serve(turn);
    }

    /** The grant ended by itself or by its holder's word: it may be kept. */
    private void over(HeldGrant grant, long used, boolean lost, Turn turn) {
        if (!keeps(grant, used, turn)) {
            // Whoever is breaking it has freed what else would be kept.
            end(grant, used, lost || grant.keepsAt(turn.now()), turn);
        }
    }

    /** A token is never used twice, not even that of a grant which nobody took. */
    private void end(HeldGrant grant, long used, boolean broken, Turn turn) {
        grants.drop(grant);
        waiters.settle(grant, Long.MAX_VALUE);
        grants.raise(Math.max(grant.token, Math.min(used, grant.hi)));
        waiters.ended(grant, used, turn);
        if (breaks != null) {
            breaks.ended(grant, broken, turn);
        }
        refuseConversion(turn);
    }

    // What the sessions say

    private void expired(MemberView.Expired expired, Turn turn) {
        HeldGrant grant = current(expired.peer(), expired.token());
        if (grant == null || grant.token != expired.token()) {
            return;
        }
        turn.send(grant.peer, LockMessage.Revoke.of(key, grant.token, LeaseLoss.Cause.EXPIRED));
        over(grant, grant.hi, true, turn);
        if (waiters.areQueued()) {
            turn.goal(LockGoal.GRANT_AFTER_EXPIRY);
        }
        serve(turn);
    }

    private void sessionEnded(Peer peer, Turn turn) {
        waiters.ended(peer);
        if (observers != null) {
            observers.ended(peer, seen(), turn);
        }
        if (breaks != null) {
            breaks.sessionEnded(peer);
        }
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.peer.equals(peer)) {
                over(grant, grant.hi, true, turn);
            }
        }
        serve(turn);
    }

    private void heard(Peer peer, Turn turn) {
        if (settings.recallAtRenewal()) {
            recalls().heard(peer, turn);
        }
        if (!waiters.isEmpty()) {
            waiters.heard(peer, turn);
            serve(turn);
        }
    }

    // Recalls and their answers

    private Recalls recalls() {
        recalls = recalls == null ? new Recalls(key, settings, grants) : recalls;
        return recalls;
    }

    private void accepted(Peer from, LockMessage.Accepted accepted, Turn turn) {
        HeldGrant grant = ending(from, accepted.token(), turn);
        if (grant != null) {
            turn.goal(LockGoal.RECALL_ACCEPTED);
            if (!waiters.areThere() && !waiters.isEmpty()) {
                turn.goal(LockGoal.NO_WAIT_THROUGH_IDLE_CACHE);
            }
            finish(grant, accepted.used(), turn);
        }
    }

    private void denied(Peer from, LockMessage.Denied denied, Turn turn) {
        HeldGrant grant = current(from, denied.token());
        if (grant == null || grant.token != denied.token()) {
            return;
        }
        turn.goal(LockGoal.RECALL_DENIED);
        waiters.denied(grant, turn);
        recalls().denied(grant);
        waiters.settle(grant, grant.denials);
        serve(turn);
    }

    // Conversion: a grant changes its mode in one step

    void convert(Peer from, LockMessage.Acquire request, Turn turn) {
        HeldGrant own = current(from, request.converts());
        if (own == null || own.imported()) {
            refuse(from, request, RefusalCause.HELD, turn);
        } else if (own.mode.isTree() && TreeModes.covers(request.mode(), own.mode)) {
            enqueue(from, request, turn);
        } else if (own.keepsOutAll(request.mode())) {
            // Of one that was asked for before this member was started again, the client claims the weaker grant.
            turn.goal(SharedGoal.DOWNGRADED);
            handsOver(from, turn);
            convert(own, request, turn);
            serve(turn);
        } else if (own.mode != LockMode.SHARED || request.mode() != LockMode.EXCLUSIVE) {
            refuse(from, request, RefusalCause.UNSUPPORTED, turn);
        } else if (waiters.conversion() != null) {
            turn.goal(SharedGoal.SECOND_UPGRADE_REFUSED);
            refuse(from, request, RefusalCause.HELD, turn);
        } else if (mayGrant(turn)
                && grants.size() == 1
                && !isBeingBroken(own)
                && HeldGrant.arrivesAlive(from, request, turn)) {
            turn.goal(SharedGoal.UPGRADED_AT_ONCE);
            convert(own, request, turn);
        } else {
            enqueue(from, request, turn);
        }
    }

    private void convert(HeldGrant own, LockMessage.Acquire request, Turn turn) {
        boolean wanted = isWanted(turn);
        boolean cacheable = request.atLeast() == 0 && own.atLeast == 0;
        long range = wanted || !cacheable ? 1 : grants.range(request, turn);
        long token = grants.nextToken(range, turn);
        HeldGrant next = own.converted(request, token, token + range - 1, turn.now());
        next.wanted = wanted;
        replace(own, next, turn);
        tell(next, turn);
        waiters.granted(next.mode, turn);
    }

    /** The client did not take the upgrade: the grant is a reader's again. */
    private HeldGrant takeBack(HeldGrant upgraded, Turn turn) {
        turn.goal(SharedGoal.UPGRADE_TAKEN_BACK);
        HeldGrant old = upgraded.reverted();
        grants.raise(upgraded.token);
        replace(upgraded, old, turn);
        return old;
    }

    private void replace(HeldGrant old, HeldGrant next, Turn turn) {
        exchange(old, next, turn);
        turn.member().ungrant(old.peer, key, old.token, old.ttl);
        turn.member().grant(next.peer, key, next.token, next.ttl);
    }

    private void exchange(HeldGrant old, HeldGrant next, Turn turn) {
        grants.drop(old);
        waiters.settle(old, Long.MAX_VALUE);
        waiters.ended(old, old.hi, turn);
        grants.add(next);
        if (breaks != null) {
            breaks.moved(old, next);
        }
    }

    /** A request that would change the mode of a grant that is over is over too. */
    private void refuseConversion(Turn turn) {
        for (WaitQueue.Wait wait : waiters.conversions()) {
            if (current(wait.peer, wait.request.converts()) == null) {
                turn.goal(SharedGoal.UPGRADE_ENDED_WITH_ITS_GRANT);
                refuse(wait, RefusalCause.HELD, turn);
            }
        }
    }

    // Grants that are over and were to be held at least for longer

    /**
     * The grant is over, and nobody broke it: true if it is kept.
     *
     * @param used as in {@link LockMessage.Release}
     */
    boolean keeps(HeldGrant grant, long used, Turn turn) {
        boolean reachedItsUser = used >= grant.token || grant.before != null;
        if (!reachedItsUser || !grant.keepsAt(turn.now()) || isBeingBroken(grant)) {
            return false;
        }
        turn.goal(LockGoal.PLACE_KEPT);
        grants.raise(grant.hi);
        grants.keep(grant);
        grant.recallLater = false;
        waiters.settle(grant, Long.MAX_VALUE);
        refuseConversion(turn);
        refuseTheHopeless(turn);
        armKept(turn);
        return true;
    }

    /** Ends those whose time has passed. */
    private void endKept(Turn turn) {
        for (HeldGrant grant : grants.noLongerKept(turn.now())) {
            if (waiters.areQueued()) {
                turn.goal(LockGoal.GRANT_AFTER_KEPT_PLACE);
            }
            endKept(grant, turn);
        }
        armKept(turn);
    }

    /** The client that was granted that token says that it reached nobody. */
    private void keptForNobody(long token, Turn turn) {
        HeldGrant grant = grants.named(token);
        if (grant != null && grant.kept && grant.before == null) {
            endKept(grant, turn);
            armKept(turn);
        }
    }

    private void endKept(HeldGrant kept, Turn turn) {
        end(kept, kept.hi, false, turn);
        serve(turn);
    }

    private void armKept(Turn turn) {
        turn.timer(KEPT, grants.nextKept());
    }

    // After a start of the member

    /** True while nothing may be granted because of a conflict. */
    boolean closed() {
        return reassertions != null && reassertions.isClosed();
    }

    private Reassertions reassertions() {
        reassertions = reassertions == null ? new Reassertions(key, grants, admission, CLOSED) : reassertions;
        return reassertions;
    }

    private void imported(LockCall.Import was, Turn turn) {
        HeldGrant grant = HeldGrant.imported(was, turn.now());
        grants.add(grant);
        promise(grant, turn);
        if (was.left() > 0 || !keeps(grant, grant.hi, turn)) {
            reassertions().arm(turn);
        }
    }

    /** A client says that it still believes in its grant. */
    void reassert(Peer from, LockMessage.Reassert claim, Turn turn) {
        HeldGrant known = current(from, claim.token());
        if (known != null && known.token != claim.token()) {
            known = known.imported() && known.keepsOutAll(claim.mode()) ? former(known, claim, turn) : null;
        }
        if (known != null) {
            boolean wasNobodys = known.imported();
            reassertions().confirm(from, claim, known, waiters.areThere(), turn);
            if (wasNobodys && breaks != null) {
                breaks.claimed(known, turn);
            }
            serve(turn);
        } else if (!reassertions().take(from, claim, waiters.areThere(), turn)) {
            conflict(from, claim, turn);
        }
        places().tellThoseKeptOut(mayGrant(turn), turn);
    }

    /** Its client has not heard that its mode was changed: it claims the weaker grant that it had, or asked for. */
    private HeldGrant former(HeldGrant known, LockMessage.Reassert claim, Turn turn) {
        HeldGrant former = known.former(claim.token(), claim.hi(), claim.mode());
        exchange(known, former, turn);
        grants.raise(known.hi);
        return former;
    }

    /** Clients believe in what cannot have been granted together: all of it ends. */
    private void conflict(Peer from, LockMessage.Reassert claim, Turn turn) {
        reassertions().close(from, claim, turn);
        for (HeldGrant grant : List.copyOf(grants)) {
            turn.send(grant.peer, LockMessage.Revoke.of(key, grant.token, LeaseLoss.Cause.DENIED));
            turn.member().ungrant(grant.peer, key, grant.token, grant.ttl);
            end(grant, grant.hi, true, turn);
        }
    }

    /** Ends what is over: the time in which the name is closed, and imported grants. */
    private void reopen(Turn turn) {
        reassertions().over(turn.now()).forEach(grant -> finish(grant, grant.hi, turn));
        reassertions().arm(turn);
        serve(turn);
        places().tellThoseKeptOut(mayGrant(turn), turn);
    }

    // Breaks by an administrator

    private void breakGrant(Peer from, LockMessage.Break request, Turn turn) {
        HeldGrant grant = grants.covering(request.token());
        if (grant == null) {
            turn.send(from, new LockMessage.Answer(key, request.request(), false));
            return;
        }
        turn.tell(new LockNotice.Alarm(key, "break of token " + request.token() + ": " + request.reason()));
        if (grant.kept) {
            turn.send(from, new LockMessage.Answer(key, request.request(), true));
            turn.goal(LockGoal.KEPT_PLACE_BROKEN);
            endKept(grant, turn);
            armKept(turn);
        } else {
            breaks = breaks == null ? new Breaks(key) : breaks;
            breaks.begin(from, request, grant, turn);
        }
    }

    /** The holder says that the grant is over, or that it has moved past the token. */
    private void revoked(Peer from, LockMessage.Revoked revoked, Turn turn) {
        HeldGrant ended = ending(from, revoked.ended(), turn);
        if (ended != null) {
            turn.goal(LockGoal.BROKEN);
            turn.member().ungrant(from, key, ended.token, ended.ttl);
            end(ended, revoked.used(), true, turn);
            serve(turn);
            return;
        }
        turn.goal(LockGoal.BREAK_MOVED_PAST);
        if (breaks != null) {
            breaks.movedPast(from, revoked.token(), grants, turn);
        }
        if (waiters.conversion() != null) {
            serve(turn);
        }
    }

    private boolean isBeingBroken(HeldGrant grant) {
        return breaks != null && breaks.has(grant);
    }

    // After each event

    Waiters waiters() {
        return waiters;
    }

    private Observers.Seen seen() {
        return new Observers.Seen(grants, waiters, perResource);
    }

    /** What is empty is not kept. */
    private void settle(Turn turn) {
        drain(DrainGoal.DRAINED_AFTER_WAITING, turn);
        if (observers != null) {
            observers.settle(seen(), turn);
            observers = observers.isEmpty() ? null : observers;
        }
        waiters.settle();
        breaks = breaks == null || breaks.isEmpty() ? null : breaks;
        reassertions = closed() ? reassertions : null;
    }

    @Override
    public boolean atRest() {
        return grants.isEmpty() && waiters.isEmpty() && observers == null && !closed();
    }

    @Override
    public void dropped(Turn turn) {
        grants.rest(turn.member());
    }

    /** A manager of the same kind, for {@link #copy}. */
    LockManager fresh(Key of, LockSettings with, Admission by) {
        return new LockManager(of, with, by);
    }

    @Override
    public LockManager copy() {
        LockManager copy = fresh(key, settings, admission);
        grants.copyInto(copy.grants);
        waiters.copyInto(copy.waiters);
        copy.observers = observers == null ? null : observers.copy();
        copy.breaks = breaks == null ? null : breaks.copy();
        copy.reassertions = reassertions == null ? null : reassertions.copy(copy.grants);
        copy.perResource = perResource;
        copy.contention = contention;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        grants.encode(out);
        waiters.encode(out);
        out.optional(observers, Observers::encode).optional(breaks, Breaks::encode);
        out.optional(reassertions, Reassertions::encode).optional(contention, Contention::encode);
        out.put(perResource);
    }
}
