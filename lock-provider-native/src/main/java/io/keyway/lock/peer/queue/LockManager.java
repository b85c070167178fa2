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
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.LockSettings;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.RefusalCause;
import io.keyway.lock.peer.service.Tokens;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The manager of one lock name at its member: who holds it, who waits, and which token comes next. A repaired form of
 * the source's LockManager; docs/algorithms/lease.md numbers the repairs.
 *
 * <p><b>States of the name.</b> <i>At rest</i>: no grant, no request, no question; nothing is left of it but the cell's
 * floor of tokens. <i>Granted</i>: one grant, or as many as {@link Admission} lets stand together. <i>Waited for</i>:
 * requests are in the queue, in the order of their users' calls. <i>Opening</i>: the member has restarted and is in
 * quarantine; requests queue, holders re-assert. <i>Closed</i>: two re-asserted what only one can have had; nothing is
 * granted for the length of a quarantine.
 *
 * <p><b>States of a grant</b> ({@link HeldGrant}). <i>Held</i> by a session. <i>Imported</i> from before a clean end of
 * the member: nobody has claimed it yet, and it ends when nobody can believe in it. <i>Kept</i>: it is over and was to
 * be held at least for longer; it keeps others out until that time has passed on the member's clock, nobody holds it,
 * and no message finds it but a break, and the word of the client to which it came too late that nobody used it.
 *
 * <p><b>Messages</b> of clients. ACQUIRE asks for the lock: GRANTED at once if it is free, else it is queued, or
 * refused with NOT_GRANTED; PLACE says once where it stands in the queue. WITHDRAW takes it out, or ends its grant.
 * RELEASE ends a grant. RECALL asks the holder of an exclusive grant, which it may have cached, to give it back:
 * ACCEPTED ends the grant; DENIED, for who does not wait, says that it is in use. REASSERT claims a grant after a
 * restart; REASSERTED confirms it, REVOKE (DENIED) refuses it. SHOW is answered by STATUS when the clients have
 * answered QUERY by USE. BREAK revokes the grant that uses a token; REVOKED, or the end of the grant, brings the
 * ANSWER. The sessions say when a grant expires, when a session is over, when it is heard again, and when the
 * quarantine is over.
 *
 * <p><b>Invariants.</b> A grant ends by the holder's word (RELEASE, ACCEPTED, REVOKED, WITHDRAW) or by that of the
 * sessions (expiry, end of session), and by nothing else; each message that ends one names its token. Tokens rise over
 * all grants of the name, whether they reached somebody or not. Grants that stand together are
 * {@link Admission#admits admitted} together. Nobody who is heard is overtaken: who comes later is granted later. While
 * anybody waits, and for a while after clients have taken the lock from each other, a holder that could cache it knows
 * that it is wanted. A request that does not wait is in the queue only while a recall of its own, or the quarantine, is
 * unanswered.
 */
public class LockManager implements Machine {
    private static final int PATIENCE = 0;
    private static final int CLOSED = 1;
    private static final int STATUS = 2;
    private static final int KEPT = 3;

    /**
     * For so long after a holder gave the lock to another client that waited for it, each grant is wanted, in
     * nanoseconds. It goes back at its release instead of lying in a cache from which it would be recalled at once, and
     * no client has the lock again and again while the others are on their way.
     */
    private static final long CALM = 100_000_000;

    private final Key key;
    private final LockSettings settings;
    private final Admission admission;
    final List<HeldGrant> grants = new ArrayList<>(1);
    private @Nullable WaitQueue queue;
    private @Nullable StatusQueries questions;

    /** The highest token that is used up. */
    private long last;

    /** After conflicting re-assertions nothing is granted before this time; {@link Turn#NEVER} if there were none. */
    private long closedUntil = Turn.NEVER;

    /** When clients last took the lock from each other; {@link Turn#NEVER} if nobody remembers. */
    private long contendedAt = Turn.NEVER;

    /** A name at rest. */
    public LockManager(Key key, LockSettings settings, Admission admission) {
        this.key = key;
        this.settings = settings;
        this.admission = admission;
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
        } else if (message instanceof LockMessage.Show show) {
            questions = questions == null ? new StatusQueries(key, STATUS) : questions;
            questions.begin(from, show, grants, waiters(), turn);
        } else if (message instanceof LockMessage.Use use && questions != null) {
            questions.answered(from, use, grants, waiters(), turn);
        } else if (message instanceof LockMessage.Break request) {
            breakGrant(from, request, turn);
        }
        settle();
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
            if (queue != null) {
                turn.goal(LockGoal.GRANT_AFTER_QUARANTINE);
            }
            serve(turn);
        } else if (call instanceof LockCall.Import grant) {
            imported(grant, turn);
        } else if (call instanceof LockCall.Disown disowned) {
            HeldGrant grant = current(HeldGrant.NOBODY, disowned.token());
            finish(grant, grant == null ? 0 : grant.hi, turn);
        }
        settle();
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == PATIENCE) {
            impatient(turn);
        } else if (slot == CLOSED) {
            reopen(turn);
        } else if (slot == KEPT) {
            endKept(turn);
        } else if (questions != null) {
            questions.due(grants, waiters(), turn);
        }
        settle();
    }

    // Requests

    private void acquire(Peer from, LockMessage.Acquire request, Turn turn) {
        RefusalCause never = !admission.serves(request.mode())
                ? RefusalCause.UNSUPPORTED
                : Math.max(request.ttl(), request.atLeast()) > turn.member().maxTtl() ? RefusalCause.TOO_LONG : null;
        if (never != null) {
            turn.send(from, new LockMessage.NotGranted(key, request.request(), never, List.of()));
            return;
        }
        if (isFree(turn) && isHeard(from, request, turn)) {
            grant(from, request, turn);
            return;
        }
        WaitQueue waits = queue == null ? new WaitQueue() : queue;
        queue = waits;
        if (waits.find(from, request.request()) != null || granted(from, request.request()) != null) {
            return;
        }
        if (waits.size() >= settings.maxWaiters()) {
            turn.send(from, new LockMessage.NotGranted(key, request.request(), RefusalCause.CROWDED, List.of()));
            return;
        }
        WaitQueue.Wait wait = waits.add(from, request, turn.now());
        turn.member().await(from, key, request.ttl());
        if (turn.member().quarantined()) {
            turn.member().awaitOpening(key);
        }
        serve(turn);
        if (waits.find(from, request.request()) == wait) {
            mustWait(wait, waits, turn);
        }
    }

    /** Whether nobody holds, waits or is kept out: whoever is served by this lock may have it. */
    private boolean isFree(Turn turn) {
        return grants.isEmpty() && queue == null && !closed() && !turn.member().quarantined();
    }

    /** A grant to a client that was not heard lately would be dead on arrival. */
    private static boolean isHeard(Peer client, LockMessage.Acquire request, Turn turn) {
        return turn.member().silence(client) < request.ttl() / 2;
    }

    /** The request could not be granted at once. */
    private void mustWait(WaitQueue.Wait wait, WaitQueue waits, Turn turn) {
        if (waits.size() > 1) {
            turn.goal(LockGoal.TWO_WAITERS);
        }
        boolean recalled = false;
        for (HeldGrant grant : grants) {
            if (!grant.recallable()) {
                continue;
            }
            recalled = true;
            if (wait.request.noWait()) {
                grant.recalls++;
                recall(grant, true, turn);
                wait.asked = grant.recalls;
            } else if (!grant.wanted) {
                grant.wanted = true;
                recall(grant, false, turn);
            }
        }
        if (wait.request.noWait()) {
            if (!grants.isEmpty() && !recalled) {
                refuse(wait, RefusalCause.HELD, turn);
            }
            armPatience(waits, turn);
        } else if (wait.request.wantPlace()) {
            tellPlace(wait, waits.ahead(wait), turn);
        }
    }

    private void withdraw(Peer from, long request, Turn turn) {
        WaitQueue.Wait wait = queue == null ? null : queue.find(from, request);
        if (wait != null) {
            leave(wait, turn);
            if (!grants.isEmpty()) {
                serve(turn); // whoever was behind it may go with those who hold
            }
            return;
        }
        HeldGrant grant = granted(from, request);
        if (grant != null) {
            turn.goal(LockGoal.WITHDRAWN_AFTER_GRANT);
            finish(grant, grant.token - 1, turn);
        }
    }

    private void leave(WaitQueue.Wait wait, Turn turn) {
        if (queue != null) {
            queue.remove(wait);
            turn.member().unawait(wait.peer, key, wait.request.ttl());
        }
    }

    private void refuse(WaitQueue.Wait wait, RefusalCause cause, Turn turn) {
        leave(wait, turn);
        turn.send(wait.peer, new LockMessage.NotGranted(key, wait.request.request(), cause, holders(turn)));
    }

    private List<Participant> holders(Turn turn) {
        List<Participant> holders = new ArrayList<>(grants.size());
        for (HeldGrant grant : grants) {
            holders.add(grant.participant(turn.now()));
        }
        return List.copyOf(holders);
    }

    private void impatient(Turn turn) {
        if (queue == null) {
            return;
        }
        for (WaitQueue.Wait wait : queue.noWaits()) {
            if (turn.now() - wait.until >= 0) {
                refuse(wait, grants.isEmpty() ? RefusalCause.OPENING : RefusalCause.HELD, turn);
            }
        }
        armPatience(queue, turn);
    }

    private static void armPatience(WaitQueue waits, Turn turn) {
        long first = Turn.NEVER;
        for (WaitQueue.Wait wait : waits.noWaits()) {
            first = earlier(first, wait.until);
        }
        turn.timer(PATIENCE, first);
    }

    private static long earlier(long first, long at) {
        return first == Turn.NEVER || at - first < 0 ? at : first;
    }

    // Grants

    /**
     * Grants to whoever is first, and to those behind it who may hold together with it, unless nothing may be granted
     * now.
     */
    private void serve(Turn turn) {
        boolean served = false;
        while (queue != null && !closed() && !turn.member().quarantined() && !heldAlone()) {
            WaitQueue.Wait first = firstHeard(queue, turn);
            if (first == null || !admission.admits(grants, first, first.request.limit())) {
                break;
            }
            leave(first, turn);
            grant(first.peer, first.request, turn);
            served = true;
        }
        if (served) {
            refuseNoWaits(false, turn);
        }
    }

    /** Whether nothing goes beside what is granted. */
    private boolean heldAlone() {
        return !grants.isEmpty() && grants.get(0).mode == LockMode.EXCLUSIVE;
    }

    /** Waiters that were not heard lately are passed over, and keep their place. */
    private WaitQueue.@Nullable Wait firstHeard(WaitQueue waits, Turn turn) {
        for (WaitQueue.Wait wait : waits.all()) {
            if (isHeard(wait.peer, wait.request, turn)) {
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

    private void grant(Peer to, LockMessage.Acquire request, Turn turn) {
        contendedAt = isContended(turn) ? contendedAt : Turn.NEVER;
        boolean wanted = othersWait() || contendedAt != Turn.NEVER;
        boolean cacheable = request.cache() && request.atLeast() == 0 && request.mode() == LockMode.EXCLUSIVE;
        long range = cacheable && !wanted ? Tokens.RANGE : 1;
        long token = nextToken(range, turn);
        long hi = token + range - 1;
        HeldGrant grant = new HeldGrant(
                to,
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
        turn.member().grant(to, key, token, request.ttl());
        promise(grant, turn);
        refuseNoWaits(true, turn);
        grant.wanted = wanted;
        turn.send(to, new LockMessage.Granted(key, request.request(), token, hi, grant.wanted));
    }

    /** A start of this member must not forget what it keeps. */
    void promise(HeldGrant grant, Turn turn) {
        if (grant.atLeast > 0) {
            turn.member().keep(grant.keptUntil());
        }
    }

    private long nextToken(long range, Turn turn) {
        MemberView member = turn.member();
        long before = highest(member);
        if (Tokens.counter(before) + range > Tokens.MAX_COUNTER) {
            turn.goal(LockGoal.COUNTER_USED_UP);
            member.nextEpoch(turn);
            before = highest(member);
        }
        return before + 1;
    }

    /** No token up to this one is ever given again. */
    private long highest(MemberView member) {
        long highest = Math.max(last, Tokens.of(member.epoch(), member.floor()));
        for (HeldGrant grant : grants) {
            highest = Math.max(highest, grant.hi);
        }
        return highest;
    }

    /** Who does not wait gets its answer: all of them, or those who cannot hold together with those who do. */
    private void refuseNoWaits(boolean onlyWhoCannotJoin, Turn turn) {
        if (queue != null) {
            for (WaitQueue.Wait wait : queue.noWaits()) {
                if (!onlyWhoCannotJoin || !admission.admits(grants, wait, wait.request.limit())) {
                    refuse(wait, RefusalCause.HELD, turn);
                }
            }
        }
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

    // The ends of grants

    private void released(Peer from, LockMessage.Release release, Turn turn) {
        HeldGrant grant = current(from, release.token());
        if (grant != null && isWantedByOthersThan(from)) {
            contendedAt = turn.now();
        }
        if (grant == null && release.used() < release.token()) {
            unused(release.token(), turn);
        } else {
            finish(grant, release.used(), turn);
        }
    }

    private boolean isWantedByOthersThan(Peer holder) {
        if (othersWait()) {
            for (WaitQueue.Wait wait : waiters()) {
                if (!wait.peer.equals(holder)) {
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isContended(Turn turn) {
        return contendedAt != Turn.NEVER && turn.now() - contendedAt < CALM;
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
        grants.remove(grant);
        raise(Math.max(grant.token, Math.min(used, grant.hi)));
        grant.answerBreakers(key, broken, turn);
    }

    /** That token is used up. */
    private void raise(long token) {
        last = Math.max(last, token);
    }

    // What the sessions say

    private void expired(MemberView.Expired expired, Turn turn) {
        HeldGrant grant = current(expired.peer(), expired.token());
        if (grant == null) {
            return;
        }
        turn.send(grant.peer, LockMessage.Revoke.of(key, grant.token, LeaseLoss.Cause.EXPIRED));
        over(grant, grant.hi, true, turn);
        if (othersWait()) {
            turn.goal(LockGoal.GRANT_AFTER_EXPIRY);
        }
        serve(turn);
    }

    private void sessionEnded(Peer peer, Turn turn) {
        if (queue != null) {
            for (WaitQueue.Wait wait : queue.of(peer)) {
                queue.remove(wait);
            }
        }
        if (questions != null) {
            questions.ended(peer, grants, waiters(), turn);
        }
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.peer.equals(peer)) {
                over(grant, grant.hi, true, turn);
            } else {
                grant.dropBreakers(breaker -> breaker.peer().equals(peer));
            }
        }
        serve(turn);
    }

    private void heard(Peer peer, Turn turn) {
        for (HeldGrant grant : grants) {
            if (grant.recallLater && grant.peer.equals(peer)) {
                grant.recallLater = false;
                turn.send(peer, new LockMessage.Recall(key, grant.token, grant.recalls > grant.denials));
            }
        }
        if (queue != null) {
            for (WaitQueue.Wait wait : queue.of(peer)) {
                if (wait.listening) {
                    wait.listening = false;
                    turn.goal(LockGoal.PASSED_OVER_HEARD_AGAIN);
                }
            }
            serve(turn);
        }
    }

    // Recall: an exclusive grant may lie idle in its holder's cache

    /** {@code asks}: somebody wants to know at once whether it is in use. */
    private void recall(HeldGrant grant, boolean asks, Turn turn) {
        if (!settings.recallAtRenewal()) {
            turn.send(grant.peer, new LockMessage.Recall(key, grant.token, asks));
        } else if (!grant.recallLater) {
            grant.recallLater = true;
            turn.member().listen(grant.peer, key);
        }
    }

    private void accepted(Peer from, LockMessage.Accepted accepted, Turn turn) {
        HeldGrant grant = current(from, accepted.token());
        if (grant != null) {
            turn.goal(LockGoal.RECALL_ACCEPTED);
            if (queue != null && queue.waiting() == 0 && !queue.isEmpty()) {
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
        if (queue != null) {
            for (WaitQueue.Wait wait : queue.noWaits()) {
                if (wait.asked <= grant.denials) {
                    refuse(wait, RefusalCause.HELD, turn);
                }
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
        boolean reachedItsUser = used >= grant.token;
        if (!reachedItsUser || !grant.keepsAt(turn.now()) || grant.isBeingBroken()) {
            return false;
        }
        turn.goal(LockGoal.PLACE_KEPT);
        raise(grant.hi);
        grant.kept = true;
        grant.peer = HeldGrant.NOBODY;
        grant.recallLater = false;
        refuseNoWaits(false, turn);
        armKept(turn);
        return true;
    }

    /** Ends those whose time has passed. */
    private void endKept(Turn turn) {
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.kept && !grant.keepsAt(turn.now())) {
                if (othersWait()) {
                    turn.goal(LockGoal.GRANT_AFTER_KEPT_PLACE);
                }
                endKept(grant, turn);
            }
        }
        armKept(turn);
    }

    /** The client that was granted that token says that it reached nobody. */
    private void unused(long token, Turn turn) {
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.kept && grant.token == token) {
                endKept(grant, turn);
                armKept(turn);
            }
        }
    }

    private void endKept(HeldGrant kept, Turn turn) {
        end(kept, kept.hi, false, turn);
        serve(turn);
    }

    private void armKept(Turn turn) {
        long first = Turn.NEVER;
        for (HeldGrant grant : grants) {
            first = grant.kept ? earlier(first, grant.keptUntil()) : first;
        }
        turn.timer(KEPT, first);
    }

    // After a start of the member

    /** True while nothing may be granted because of a conflict. */
    boolean closed() {
        return closedUntil != Turn.NEVER;
    }

    /** A grant of before a clean end: it may be believed in for as long as it had left. */
    private void imported(LockCall.Import was, Turn turn) {
        HeldGrant grant = new HeldGrant(
                HeldGrant.NOBODY,
                0,
                was.token(),
                was.hi(),
                was.mode(),
                was.permits(),
                was.ttl(),
                was.owner(),
                turn.now(),
                was.keep());
        grant.until = turn.now() + was.left();
        grants.add(grant);
        promise(grant, turn);
        if (was.left() > 0 || !keeps(grant, grant.hi, turn)) {
            armClosed(turn);
        }
    }

    /** A client says that it still believes in its grant. */
    private void reassert(Peer from, LockMessage.Reassert claim, Turn turn) {
        HeldGrant known = current(from, claim.token());
        if (known != null && known.imported()) {
            known.peer = from;
            turn.member().grant(from, key, known.token, known.ttl);
            armClosed(turn);
        }
        if (known != null) {
            reasserted(from, claim, known, turn);
            return;
        }
        if (!turn.member().quarantined()
                || closed()
                || !admission.serves(claim.mode())
                || claim.ttl() > turn.member().maxTtl()
                || Tokens.epoch(claim.hi()) >= turn.member().epoch()) {
            turn.goal(LockGoal.REASSERTION_REFUSED);
            raise(ownEpoch(claim.hi(), turn));
            turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
            return;
        }
        HeldGrant grant = new HeldGrant(
                from,
                claim.request(),
                claim.token(),
                claim.hi(),
                claim.mode(),
                claim.permits(),
                claim.ttl(),
                claim.owner(),
                turn.now(),
                0);
        // How many permits there are is not said again: they were few enough when they were granted.
        if (admission.admits(grants, grant, Integer.MAX_VALUE)) {
            grants.add(grant);
            turn.member().grant(from, key, grant.token, grant.ttl);
            reasserted(from, claim, grant, turn);
        } else {
            conflict(from, claim, turn);
        }
    }

    private void reasserted(Peer from, LockMessage.Reassert claim, HeldGrant grant, Turn turn) {
        turn.goal(LockGoal.REASSERTED);
        // What is left of its range is of a former life: it is below a floor that this one may have been given.
        grant.wanted = othersWait() || Tokens.epoch(claim.hi()) < turn.member().epoch();
        turn.send(from, new LockMessage.Reasserted(key, claim.token(), grant.wanted));
    }

    /**
     * Clients believe in what cannot have been granted together: clocks are broken. None of them is trusted, and the
     * name stays closed until no belief can be left.
     */
    private void conflict(Peer from, LockMessage.Reassert claim, Turn turn) {
        turn.goal(LockGoal.REASSERTIONS_IN_CONFLICT);
        closedUntil = turn.now() + turn.member().quarantine();
        armClosed(turn);
        StringBuilder who = new StringBuilder(claim.owner().client());
        for (HeldGrant grant : List.copyOf(grants)) {
            who.append(" and ").append(grant.owner.client());
            turn.send(grant.peer, LockMessage.Revoke.of(key, grant.token, LeaseLoss.Cause.DENIED));
            turn.member().ungrant(grant.peer, key, grant.token, grant.ttl);
            end(grant, grant.hi, true, turn);
        }
        raise(ownEpoch(claim.hi(), turn));
        turn.send(from, LockMessage.Revoke.of(key, claim.token(), LeaseLoss.Cause.DENIED));
        turn.tell(new LockNotice.Alarm(
                key,
                "held twice after a restart, by " + who
                        + "; closed until no lease can be left. Check the clocks of these machines"));
    }

    /** A token of a foreign epoch must not lift ours beyond our own. */
    private static long ownEpoch(long token, Turn turn) {
        return Tokens.epoch(token) <= turn.member().epoch() ? token : 0;
    }

    /** Ends what is over: the time in which the name is closed, and imported grants. */
    private void reopen(Turn turn) {
        if (closed() && turn.now() - closedUntil >= 0) {
            closedUntil = Turn.NEVER;
        }
        for (HeldGrant grant : List.copyOf(grants)) {
            if (grant.imported() && turn.now() - grant.until >= 0) {
                finish(grant, grant.hi, turn);
            }
        }
        armClosed(turn);
        serve(turn);
    }

    private void armClosed(Turn turn) {
        long first = closedUntil;
        for (HeldGrant grant : grants) {
            first = grant.imported() ? earlier(first, grant.until) : first;
        }
        turn.timer(CLOSED, first);
    }

    // Breaks by an administrator: by token, and done when the holder knows, or its lease is over

    private void breakGrant(Peer from, LockMessage.Break request, Turn turn) {
        for (HeldGrant grant : grants) {
            if (grant.covers(request.token())) {
                String what = "break of token " + request.token() + ": " + request.reason();
                turn.tell(new LockNotice.Alarm(key, what));
                if (grant.kept) {
                    turn.send(from, new LockMessage.Answer(key, request.request(), true));
                    turn.goal(LockGoal.KEPT_PLACE_BROKEN);
                    endKept(grant, turn);
                    armKept(turn);
                } else {
                    grant.add(new HeldGrant.Breaker(from, request.request(), request.token()));
                    LeaseLoss.Cause cause = LeaseLoss.Cause.BROKEN;
                    turn.send(grant.peer, new LockMessage.Revoke(key, request.token(), cause, request.reason()));
                }
                return;
            }
        }
        turn.send(from, new LockMessage.Answer(key, request.request(), false));
    }

    /** The holder says that the grant is over, or that it has moved past the token. */
    private void revoked(Peer from, LockMessage.Revoked revoked, Turn turn) {
        HeldGrant ended = current(from, revoked.ended());
        if (ended != null) {
            turn.goal(LockGoal.BROKEN);
            turn.member().ungrant(from, key, ended.token, ended.ttl);
            end(ended, revoked.used(), true, turn);
            serve(turn);
            return;
        }
        turn.goal(LockGoal.BREAK_MOVED_PAST);
        for (HeldGrant grant : grants) {
            if (grant.peer.equals(from)) {
                grant.dropBreakers(breaker -> {
                    boolean its = breaker.asked() == revoked.token();
                    if (its) {
                        turn.send(breaker.peer(), new LockMessage.Answer(key, breaker.request(), false));
                    }
                    return its;
                });
            }
        }
    }

    // After each event

    Iterable<WaitQueue.Wait> waiters() {
        return queue == null ? List.of() : queue.all();
    }

    private boolean othersWait() {
        return queue != null && queue.waiting() > 0;
    }

    /** What is empty is not kept. */
    private void settle() {
        queue = queue == null || queue.isEmpty() ? null : queue;
        questions = questions == null || questions.isEmpty() ? null : questions;
    }

    /** Once: who wants to know where it stands by now asks for the name's status. */
    private void tellPlace(WaitQueue.Wait wait, int place, Turn turn) {
        turn.send(wait.peer, new LockMessage.Place(key, wait.request.request(), place, holders(turn)));
    }

    @Override
    public boolean atRest() {
        return grants.isEmpty() && queue == null && questions == null && !closed();
    }

    @Override
    public void dropped(Turn turn) {
        if (Tokens.epoch(last) == turn.member().epoch()) {
            turn.member().raiseFloor(Tokens.counter(last));
        }
    }

    /** A manager of the same kind, for {@link #copy}. */
    LockManager fresh(Key of, LockSettings with, Admission by) {
        return new LockManager(of, with, by);
    }

    @Override
    public LockManager copy() {
        LockManager copy = fresh(key, settings, admission);
        for (HeldGrant grant : grants) {
            copy.grants.add(grant.copy());
        }
        copy.queue = queue == null ? null : queue.copy();
        copy.questions = questions == null ? null : questions.copy();
        copy.last = last;
        copy.closedUntil = closedUntil;
        copy.contendedAt = contendedAt;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(grants.size());
        for (HeldGrant grant : grants) {
            grant.encode(out);
        }
        out.put(queue != null);
        if (queue != null) {
            queue.encode(out);
        }
        out.put(questions != null);
        if (questions != null) {
            questions.encode(out);
        }
        out.put(last).time(closedUntil).time(contendedAt);
    }
}
