// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.Tokens;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The grants of one name, in the order of their tokens, whose ranges do not overlap, and which token comes next. What
 * is asked of them at each request costs no more for many of them than for one.
 *
 * <p>Tokens rise over all grants of the name, whether they reached somebody or not: one that is used up is never given
 * again. What a name at rest leaves is its cell's floor of tokens.
 */
final class Grants extends AbstractList<HeldGrant> {
    /** Of no more than these each is looked at to find one by its request. */
    private static final int FEW = 8;

    private record Id(long session, long request) {}

    private HeldGrant[] all = new HeldGrant[1];
    private int size;
    /** How many lie in caches, for what their manager knows, and have not heard that anybody wants them. */
    private int quiet;
    /** How many there are whose mode was changed. */
    private int converted;

    /** The highest token that is used up. */
    private long last;

    private final Admission.Claims claims = new Admission.Claims();
    private @Nullable Map<Id, HeldGrant> byRequest;
    /** The ceilings of those that bind, and how many have each. */
    private @Nullable TreeMap<Integer, Integer> ceilings;

    @Override
    public HeldGrant get(int index) {
        return all[index];
    }

    @Override
    public int size() {
        return size;
    }

    @Override
    public boolean isEmpty() {
        return size == 0;
    }

    /** What they take together. */
    Admission.Claims claims() {
        return claims;
    }

    /** Whether a holder could keep one cached that has not heard that it is wanted. */
    boolean areQuiet() {
        return quiet > 0;
    }

    @Override
    public boolean add(HeldGrant grant) {
        modCount++;
        if (size == all.length) {
            all = Arrays.copyOf(all, 2 * size);
        }
        int at = size > 0 && all[size - 1].token > grant.token ? floor(grant.token) + 1 : size;
        System.arraycopy(all, at, all, at + 1, size - at);
        all[at] = grant;
        size++;
        count(grant, 1);
        if (byRequest != null) {
            byRequest.put(id(grant), grant);
        }
        return true;
    }

    private void count(HeldGrant grant, int times) {
        claims.count(grant, times);
        quiet += grant.isQuiet() ? times : 0;
        converted += grant.before != null ? times : 0;
        bind(grant, times);
    }

    private void bind(HeldGrant grant, int times) {
        if (grant.binds()) {
            ceilings = ceilings == null ? new TreeMap<>() : ceilings;
            ceilings.merge(grant.ceiling, times, (all, more) -> all + more == 0 ? null : all + more);
        }
    }

    /** How many permits may be out as long as clients may take from their caches what they were granted. */
    int ceiling() {
        return ceilings == null || ceilings.isEmpty() ? HeldGrant.NO_CEILING : ceilings.firstKey();
    }

    /** Its holder knows that it is wanted, and will not cache it. */
    void settle(HeldGrant grant) {
        bind(grant, -1);
        grant.settled = true;
    }

    /** Removes that one; false if it is not there. */
    boolean drop(HeldGrant grant) {
        modCount++;
        int at = floor(grant.token);
        if (at < 0 || all[at] != grant) {
            return false;
        }
        size--;
        System.arraycopy(all, at + 1, all, at, size - at);
        all[size] = null;
        count(grant, -1);
        if (byRequest != null) {
            byRequest.remove(id(grant), grant);
            byRequest = size > FEW ? byRequest : null;
        }
        return true;
    }

    /** Its holder knows, or hears, whether it is wanted. */
    void setWanted(HeldGrant grant, boolean wanted) {
        quiet -= grant.isQuiet() ? 1 : 0;
        grant.wanted = wanted;
        quiet += grant.isQuiet() ? 1 : 0;
    }

    /** Nobody holds it any more, and its place is kept. */
    void keep(HeldGrant grant) {
        quiet -= grant.isQuiet() ? 1 : 0;
        bind(grant, -1);
        grant.kept = true;
        moveTo(grant, HeldGrant.NOBODY);
    }

    /** Places whose time has passed. */
    List<HeldGrant> noLongerKept(long now) {
        List<HeldGrant> over = new ArrayList<>();
        for (HeldGrant grant : this) {
            if (grant.kept && !grant.keepsAt(now)) {
                over.add(grant);
            }
        }
        return over;
    }

    /** When the next place is kept no longer; {@link Turn#NEVER} if none is kept. */
    long nextKept() {
        long first = Turn.NEVER;
        for (HeldGrant grant : this) {
            first = grant.kept ? Turn.earlier(first, grant.keptUntil()) : first;
        }
        return first;
    }

    /** It is one of that session from now on. */
    void moveTo(HeldGrant grant, Peer session) {
        if (byRequest != null) {
            byRequest.remove(id(grant), grant);
        }
        grant.peer = session;
        if (byRequest != null) {
            byRequest.put(id(grant), grant);
        }
    }

    /** The index of the last one whose first token is no higher than that; -1 if there is none. */
    private int floor(long token) {
        int low = 0;
        int high = size - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (all[middle].token <= token) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return high;
    }

    /** The one that has that token, whichever of its range it is. */
    @Nullable
    HeldGrant covering(long token) {
        int at = floor(token);
        return at >= 0 && all[at].covers(token) ? all[at] : null;
    }

    /** The one whose first token that is, or was before its mode was changed. */
    @Nullable
    HeldGrant named(long token) {
        int at = floor(token);
        if (at >= 0 && all[at].token == token) {
            return all[at];
        }
        for (int i = 0; converted > 0 && i < size; i++) {
            HeldGrant before = all[i].before;
            if (before != null && before.token == token) {
                return all[i];
            }
        }
        return null;
    }

    /** The one that a message of that holder is about; null if it is over. */
    @Nullable
    HeldGrant current(Peer from, long token) {
        HeldGrant grant = named(token);
        return grant != null && !grant.kept && (grant.peer.equals(from) || grant.imported()) ? grant : null;
    }

    /** The one of that request. */
    @Nullable
    HeldGrant of(Peer peer, long request) {
        if (size > FEW) {
            if (byRequest == null) {
                byRequest = new LinkedHashMap<>();
                for (int i = 0; i < size; i++) {
                    byRequest.put(id(all[i]), all[i]);
                }
            }
            return byRequest.get(new Id(peer.session(), request));
        }
        for (int i = 0; i < size; i++) {
            if (all[i].request == request && all[i].peer.equals(peer)) {
                return all[i];
            }
        }
        return null;
    }

    private static Id id(HeldGrant grant) {
        return new Id(grant.peer.session(), grant.request);
    }

    /** The holders, but no more of them than that. */
    List<Participant> participants(int most, long now) {
        List<Participant> holders = new ArrayList<>(Math.min(most, size));
        for (int i = 0; i < size && i < most; i++) {
            holders.add(all[i].participant(now));
        }
        return List.copyOf(holders);
    }

    /** How many tokens that request gets, if nobody else wants the lock. */
    long range(LockMessage.Acquire request, Turn turn) {
        if (!request.cache()) {
            return 1;
        }
        return request.mode().isAlone() ? Tokens.RANGE : Tokens.range(highest(turn.member()));
    }

    /** The first of so many tokens for a grant. */
    long nextToken(long range, Turn turn) {
        MemberView member = turn.member();
        long before = highest(member);
        if (Tokens.counter(before) + range > Tokens.MAX_COUNTER) {
            turn.goal(LockGoal.COUNTER_USED_UP);
            member.raiseEpoch(member.epoch() + 1, turn);
            before = highest(member);
        }
        return before + 1;
    }

    /** No token up to this one is ever given again. */
    long highest(MemberView member) {
        long given = size == 0 ? 0 : all[size - 1].hi;
        return Math.max(Math.max(last, Tokens.of(member.epoch(), member.floor())), given);
    }

    /** That token is used up. */
    void raise(long token) {
        last = Math.max(last, token);
    }

    /**
     * That token, of whatever member, is used up too, also for the next life of this one. False if its epoch is one
     * that nobody can have.
     */
    boolean raise(long token, Turn turn) {
        MemberView member = turn.member();
        if (Tokens.epoch(token) > member.lastEpoch()) {
            return false;
        }
        if (Tokens.epoch(token) > member.epoch()) {
            turn.goal(LockGoal.EPOCH_RAISED);
            member.raiseEpoch(Tokens.epoch(token), turn);
        }
        raise(token);
        return true;
    }

    /** The name comes to rest: its cell keeps what is used up. */
    void rest(MemberView member) {
        if (Tokens.epoch(last) == member.epoch()) {
            member.raiseFloor(Tokens.counter(last));
        }
    }

    void copyInto(Grants copy) {
        for (HeldGrant grant : this) {
            copy.add(grant.copy());
        }
        copy.last = last;
    }

    void encode(StateEncoder out) {
        out.put(size);
        for (HeldGrant grant : this) {
            grant.encode(out);
        }
        out.put(last);
    }
}
