// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.queue;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.service.LockMessage;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The requests that wait for one name, in the order in which their users asked; before them one that changes the mode
 * of a grant.
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
        final long until;
        /** The order of arrival at this queue, among those who have waited equally long. */
        private final long order;

        /** The next older one of the same session. */
        private @Nullable Wait next;

        /** The member is to say when the session is heard again. */
        boolean listening;
        /**
         * Of a request that does not wait: the recalls that it hangs on, by the tokens of their grants; null before
         * any holder was asked.
         */
        private @Nullable Map<Long, Long> asked;

        /** What these grants, and one whose mode is to change, take. */
        private Admission.@Nullable Claims open;

        private Wait(Peer peer, LockMessage.Acquire request, long since, long until, long order) {
            this.peer = peer;
            this.request = request;
            this.since = since;
            this.until = until;
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

        /** How many permits there are in its user's view; 1 for a lock. */
        int capacity() {
            return request.mode() == LockMode.PERMITS ? request.capacity() : 1;
        }

        /** Whether it changes the mode of a grant: there is one at the most. */
        boolean converts() {
            return request.converts() != 0;
        }

        /** The holders that stand in its way are asked now. */
        void askAll() {
            asked = new LinkedHashMap<>(4);
            open = new Admission.Claims();
        }

        /** Whether those that stood in its way when it came were asked. */
        boolean hasAsked() {
            return asked != null;
        }

        /** That grant may turn out not to keep it out: its holder is asked by its recall of that number. */
        void asks(HeldGrant grant, long recall) {
            if (asked != null && open != null) {
                asked.put(grant.token, recall);
                open.count(grant, 1);
            }
        }

        /** Whether it hangs on that recall of that grant. */
        boolean hangsOn(HeldGrant grant, long recall) {
            return asked != null && Long.valueOf(recall).equals(asked.get(grant.token));
        }

        /** The holder of that grant was asked by that recall or an earlier one, and is known to use it. */
        void settle(HeldGrant grant, long recall) {
            Long number = asked == null ? null : asked.get(grant.token);
            if (asked != null && open != null && number != null && number <= recall) {
                asked.remove(grant.token);
                open.count(grant, -1);
            }
        }

        /** Whether an answer is still to come. */
        boolean isAsking() {
            return asked != null && !asked.isEmpty();
        }

        /** What grants take which may turn out not to keep it out. */
        Admission.@Nullable Claims open() {
            return open;
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
            Wait copy = new Wait(peer, request, since, until, order);
            copy.listening = listening;
            copy.asked = asked == null ? null : new LinkedHashMap<>(asked);
            copy.open = open == null ? null : open.copy();
            return copy;
        }
    }

    private final TreeSet<Wait> inOrder = new TreeSet<>();
    private final Map<Long, Wait> bySession = new LinkedHashMap<>();
    /** Those of each capacity; null as long as all say the same one. */
    private @Nullable TreeMap<Integer, TreeSet<Wait>> byCapacity;

    private long orders;
    private int noWaits;

    int size() {
        return inOrder.size();
    }

    boolean isEmpty() {
        return inOrder.isEmpty();
    }

    /** How many requests are in the queue that wait for a holder. */
    int waiting() {
        return inOrder.size() - noWaits;
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

    /** The one that changes the mode of a grant; null if there is none. */
    @Nullable
    Wait conversion() {
        return inOrder.isEmpty() || !inOrder.first().converts() ? null : inOrder.first();
    }

    Wait add(Peer peer, LockMessage.Acquire request, long now) {
        long since = now - Math.max(0, Math.min(request.waited(), LONGEST_WAIT));
        long until = request.noWait() ? now + Math.max(0, request.patience()) : now;
        Wait wait = new Wait(peer, request, since, until, orders++);
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
            noWaits++;
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
        if (wait.request.noWait()) {
            noWaits--;
        }
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

    /** The requests that do not wait, in order. */
    List<Wait> noWaits() {
        if (noWaits == 0) {
            return List.of();
        }
        List<Wait> all = new ArrayList<>(noWaits);
        for (Wait wait : inOrder) {
            if (wait.request.noWait()) {
                all.add(wait);
            }
        }
        return all;
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
            copy.insert(wait.copy());
        }
        copy.orders = orders;
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(inOrder.size());
        for (Wait wait : inOrder) {
            out.put(wait.peer).value(wait.request).time(wait.since).time(wait.until);
            out.put(wait.listening).value(wait.asked == null ? Map.of() : new TreeMap<>(wait.asked));
        }
    }
}
