// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockGoal;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.Participant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for one name, in the order in which their users asked; before them those that change the mode
 * of a grant: one at the most, but for levels of trees.
 */
final class WaitQueue {
    /** No request claims to have waited longer: a week in nanoseconds. */
    private static final long LONGEST_WAIT = 604_800_000_000_000L;

    /**
     * A request that waits. The order is that of the calls, as far as durations tell; times are compared by difference.
     */
    static final class Wait implements Admission.Claim, Comparable<Wait> {
        final Peer peer;
        final LockMessage.Acquire request;
        final long since;
        /** When its request arrived here. */
        final long came;
        /** The order of arrival at this queue, among those who have waited equally long. */
        private final long order;

        /** The next older one of the same session. */
        private @Nullable Wait next;

        /** The member is to say when the session is heard again. */
        private boolean listening;

        /** Its client knows that nobody is in its way, and that nothing may be granted. */
        boolean keptOut;

        private Wait(Peer peer, LockMessage.Acquire request, long since, long came, long order) {
            this.peer = peer;
            this.request = request;
            this.since = since;
            this.came = came;
            this.order = order;
        }

        @Override
        public LockMode mode() {
            return request.mode();
        }

        @Override
        public int permits() {
            return request.permits();
        }

        Participant participant(long now) {
            return new Participant(request.owner(), request.mode(), request.permits(), 0, now - since);
        }

        /** When it is refused for want of an answer, if it does not wait. */
        long until() {
            return came + Math.max(0, request.patience());
        }

        /** How many permits there are in its user's view; 1 for a lock. */
        int capacity() {
            return request.mode() == LockMode.PERMITS ? request.capacity() : 1;
        }

        /** Whether it changes the mode of a grant. */
        boolean converts() {
            return request.converts() != 0;
        }

        /** Whether its client was heard lately. */
        boolean isHeard(Turn turn) {
            return HeldGrant.arrivesAlive(peer, request, turn);
        }

        /** Whether it was passed over since its client was silent, and the member has not said that it is heard. */
        boolean isPassedOver() {
            return listening;
        }

        /** It is not granted though its turn has come, and keeps its place until its client is heard again. */
        void passOver(Turn turn) {
            turn.goal(LockGoal.WAITER_PASSED_OVER);
            if (!listening) {
                listening = true;
                turn.member().listen(peer, request.key());
            }
        }

        @Override
        public int compareTo(Wait other) {
            if (converts() != other.converts()) {
                return converts() ? -1 : 1;
            }
            long later = since - other.since;
            return later != 0 ? Long.signum(later) : Long.compare(order, other.order);
        }

        private Wait copy() {
            Wait copy = new Wait(peer, request, since, came, order);
            copy.listening = listening;
            copy.keptOut = keptOut;
            return copy;
        }
    }

    private final TreeSet<Wait> inOrder = new TreeSet<>();
    private final Map<Long, Wait> bySession = new LinkedHashMap<>();
    /** Those of each capacity; null as long as all say the same one. */
    private @Nullable TreeMap<Integer, TreeSet<Wait>> byCapacity;

    private final NoWaits noWaits = new NoWaits(this);
    private long orders;

    int size() {
        return inOrder.size();
    }

    boolean isEmpty() {
        return inOrder.isEmpty();
    }

    /** How many requests are in the queue that wait for a holder. */
    int waiting() {
        return inOrder.size() - noWaits.size();
    }

    Collection<Wait> all() {
        return inOrder;
    }

    /**
     * Those whose users see more permits than that, in order, in one collection for each number of them. Nobody is held
     * up by whoever is refused by a smaller number of its own: clients with different views of the resources run side
     * by side. Among those who see the same or less nobody overtakes.
     */
    Collection<? extends Collection<Wait>> above(int capacity) {
        if (byCapacity != null) {
            return byCapacity.tailMap(capacity, false).values();
        }
        return inOrder.isEmpty() || inOrder.first().capacity() <= capacity ? List.of() : List.of(inOrder);
    }

    /**
     * The first whose client was heard lately; those before it are passed over. Null if there is none.
     *
     * @param refused no more than so many permits are seen by those who were refused by their own view
     */
    @Nullable
    Wait firstHeard(int refused, Turn turn) {
        Wait first = null;
        for (Collection<Wait> equal : above(refused)) {
            for (Wait wait : equal) {
                if (wait.isHeard(turn)) {
                    first = first == null || wait.compareTo(first) < 0 ? wait : first;
                    break;
                }
                wait.passOver(turn);
            }
        }
        return first;
    }

    /** That client is heard again. */
    void heard(Peer peer, Turn turn) {
        for (Wait wait = bySession.get(peer.session()); wait != null; wait = wait.next) {
            if (wait.listening) {
                wait.listening = false;
                turn.goal(LockGoal.PASSED_OVER_HEARD_AGAIN);
            }
        }
    }

    /** Whether a client other than that one waits for a holder. */
    boolean isWantedByOthersThan(Peer holder) {
        if (waiting() > 0) {
            for (Wait wait : inOrder) {
                if (!wait.peer.equals(holder)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** The first that changes the mode of a grant; null if there is none. */
    @Nullable
    Wait conversion() {
        return inOrder.isEmpty() || !inOrder.first().converts() ? null : inOrder.first();
    }

    /** All that change the mode of a grant, in order: one of a flat lock, any number of a level of trees. */
    List<Wait> conversions() {
        List<Wait> all = new ArrayList<>(1);
        for (Wait wait : inOrder) {
            if (!wait.converts()) {
                break;
            }
            all.add(wait);
        }
        return all;
    }

    /** What the first of all wants; null if there is none. */
    @Nullable
    LockMode firstMode() {
        return inOrder.isEmpty() ? null : inOrder.first().mode();
    }

    Wait add(Peer peer, LockMessage.Acquire request, long now) {
        long since = now - Math.max(0, Math.min(request.waited(), LONGEST_WAIT));
        Wait wait = new Wait(peer, request, since, now, orders++);
        insert(wait);
        return wait;
    }

    private void insert(Wait wait) {
        if (byCapacity == null && !inOrder.isEmpty() && inOrder.first().capacity() != wait.capacity()) {
            byCapacity = new TreeMap<>(Map.of(inOrder.first().capacity(), new TreeSet<>(inOrder)));
        }
        if (byCapacity != null) {
            byCapacity
                    .computeIfAbsent(wait.capacity(), fresh -> new TreeSet<>())
                    .add(wait);
        }
        inOrder.add(wait);
        wait.next = bySession.put(wait.peer.session(), wait);
        if (wait.request.noWait()) {
            noWaits.add(wait);
        }
    }

    @Nullable
    Wait find(Peer peer, long request) {
        Wait wait = bySession.get(peer.session());
        while (wait != null && wait.request.request() != request) {
            wait = wait.next;
        }
        return wait;
    }

    void remove(Wait wait) {
        if (!inOrder.remove(wait)) {
            return;
        }
        if (byCapacity != null) {
            byCapacity.computeIfPresent(wait.capacity(), (capacity, equal) -> {
                equal.remove(wait);
                return equal.isEmpty() ? null : equal;
            });
        }
        noWaits.remove(wait);
        long session = wait.peer.session();
        Wait before = bySession.get(session);
        if (before == wait) {
            if (wait.next == null) {
                bySession.remove(session);
            } else {
                bySession.put(session, wait.next);
            }
            return;
        }
        while (before != null && before.next != wait) {
            before = before.next;
        }
        if (before != null) {
            before.next = wait.next;
        }
    }

    /** All requests of one session, oldest first. */
    List<Wait> of(Peer peer) {
        List<Wait> all = new ArrayList<>(2);
        for (Wait wait = bySession.get(peer.session()); wait != null; wait = wait.next) {
            all.add(0, wait);
        }
        return all;
    }

    /** The requests that do not wait. */
    NoWaits noWaits() {
        return noWaits;
    }

    /** How many wait before that one. Costs their number, but nothing for the last. */
    int ahead(Wait wait) {
        return inOrder.last() == wait
                ? inOrder.size() - 1
                : inOrder.headSet(wait).size();
    }

    WaitQueue copy() {
        WaitQueue copy = new WaitQueue();
        for (Wait wait : inOrder) {
            Wait other = wait.copy();
            copy.insert(other);
            copy.noWaits.put(other, wait, noWaits);
        }
        copy.orders = orders;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(inOrder.size());
        for (Wait wait : inOrder) {
            out.put(wait.peer).value(wait.request).time(wait.since).time(wait.came);
            out.put(wait.listening).put(wait.keptOut).value(noWaits.asked(wait));
        }
    }
}
