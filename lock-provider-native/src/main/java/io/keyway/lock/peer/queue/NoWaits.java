// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.SharedGoal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests of a queue that do not wait, in its order: each is there only until it is known whether it can be
 * granted.
 *
 * <p><b>States</b> of one. <i>New</i>: nobody was asked, since nothing may be granted now. <i>Asking</i>: the holder of
 * each grant in its way that may lie idle was asked once, by a recall of that grant, and some have not answered.
 * <i>Answered</i>: all have.
 *
 * <p><b>What settles a question.</b> The end of the grant, or that its holder has denied the recall by which it was
 * asked, or a later one. Until then the grant may turn out not to keep the request out.
 *
 * <p><b>Invariants.</b> A request that has asked is hopeless, and refused at once, when the grants that are surely in
 * use keep it out alone, or when nobody's grant does but one that waits is before it. Any is refused when its patience
 * is over.
 */
final class NoWaits {
    /** What one of them has asked. */
    private static final class Asked {
        /** The recalls without an answer, by the tokens of their grants. */
        final Map<Long, Long> recalls;
        /** What these grants take. */
        final Admission.Claims open;

        Asked(Map<Long, Long> recalls, Admission.Claims open) {
            this.recalls = recalls;
            this.open = open;
        }
    }

    private final WaitQueue queue;
    /** Null for one that is new. */
    private final TreeMap<WaitQueue.Wait, @Nullable Asked> all = new TreeMap<>();

    NoWaits(WaitQueue queue) {
        this.queue = queue;
    }

    int size() {
        return all.size();
    }

    void add(WaitQueue.Wait wait) {
        all.put(wait, null);
    }

    void remove(WaitQueue.Wait wait) {
        all.remove(wait);
    }

    /** Each of them, in order; they may leave meanwhile. */
    List<WaitQueue.Wait> all() {
        return all.isEmpty() ? List.of() : new ArrayList<>(all.keySet());
    }

    /** When the first of them is refused for want of an answer; {@link Turn#NEVER} if there are none. */
    long patience() {
        long first = Turn.NEVER;
        for (WaitQueue.Wait wait : all.keySet()) {
            first = Turn.earlier(first, wait.until());
        }
        return first;
    }

    /**
     * That one asks now, all at once.
     *
     * @param own the grant whose mode it changes, which does not keep it out; null if there is none
     */
    void ask(WaitQueue.Wait wait, Grants grants, @Nullable HeldGrant own, Admission admission) {
        Asked asked = new Asked(new LinkedHashMap<>(4), new Admission.Claims());
        boolean isOut = !admission.admits(grants.claims(), wait, wait.request.capacity());
        for (HeldGrant grant : grants) {
            boolean isOwn = grant == own;
            if (isOwn || (isOut && grant.recallable() && Admission.standsInTheWay(grant.mode, wait.mode()))) {
                asked.recalls.put(grant.token, isOwn ? Long.MAX_VALUE : grant.recalls + 1);
                asked.open.count(grant, 1);
            }
        }
        all.put(wait, asked);
    }

    /** Whether it hangs on the next recall of that grant. */
    boolean hangsOn(WaitQueue.Wait wait, HeldGrant grant) {
        Asked asked = all.get(wait);
        return asked != null && Long.valueOf(grant.recalls + 1).equals(asked.recalls.get(grant.token));
    }

    /** They know of that grant, up to its recall of that number, that it is in use, or over. */
    void settle(HeldGrant grant, long recall) {
        for (Asked asked : all.values()) {
            Long number = asked == null ? null : asked.recalls.get(grant.token);
            if (asked != null && number != null && number <= recall) {
                asked.recalls.remove(grant.token);
                asked.open.count(grant, -1);
            }
        }
    }

    /**
     * Whether that one has asked and cannot have it.
     *
     * @param granted what all grants take
     * @param mayGrant whether anything may be granted now
     */
    boolean isHopeless(
            WaitQueue.Wait wait, Admission.Claims granted, Admission admission, boolean mayGrant, Turn turn) {
        Asked asked = all.get(wait);
        if (asked == null) {
            return false;
        }
        if (!admission.admits(granted.without(asked.open), wait, wait.request.capacity())) {
            if (!asked.recalls.isEmpty()) {
                turn.goal(SharedGoal.ENOUGH_DENIED);
            }
            return true;
        }
        return mayGrant
                && !wait.converts()
                && admission.admits(granted, wait, wait.request.capacity())
                && isBehindOneThatWaits(wait, granted, admission, turn);
    }

    private boolean isBehindOneThatWaits(
            WaitQueue.Wait wait, Admission.Claims granted, Admission admission, Turn turn) {
        for (WaitQueue.Wait before : queue.all()) {
            if (before == wait) {
                return false;
            }
            if (!before.request.noWait()) {
                boolean passes = before.capacity() < wait.capacity()
                        && !admission.admits(granted, before, before.request.capacity());
                passes |= wait.mode().isTree() && !Admission.standsInTheWay(before.mode(), wait.mode());
                // Who waits for permits that its own capacity refuses is passed by a larger one (LK-1308).
                if ((before.converts() && !passes) || (!passes && before.isHeard(turn))) {
                    return true;
                }
                continue;
            }
            turn.goal(SharedGoal.NO_WAIT_BEHIND_NO_WAIT);
        }
        return false;
    }

    /** What that one has asked and not heard, by the tokens of the grants. */
    Map<Long, Long> asked(WaitQueue.Wait wait) {
        Asked asked = all.get(wait);
        return asked == null ? Map.of() : new TreeMap<>(asked.recalls);
    }

    /** Takes over what that one of another queue has asked. */
    void put(WaitQueue.Wait copy, WaitQueue.Wait of, NoWaits from) {
        Asked asked = from.all.get(of);
        if (asked != null) {
            all.put(copy, new Asked(new LinkedHashMap<>(asked.recalls), asked.open.copy()));
        }
    }
}
