// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.spi.Probe;
import io.keyway.lock.spi.TreeModes;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NoSuchElementException;
import org.jspecify.annotations.Nullable;

/**
 * Waiters in the order in which they came, found by their requests. It is linked through them, so that one who waits
 * alone costs no more than itself; only a crowd has an index.
 */
final class WaiterList implements Iterable<Waiter> {
    /** The list of nobody, for whoever has none yet: nobody is added to it, but by {@link #and}. */
    static final WaiterList NONE = new WaiterList();

    /** Up to so many are looked through. */
    private static final int FEW = 8;

    private @Nullable Waiter first;
    private @Nullable Waiter last;
    private int size;
    /** By request; null as long as there are few. */
    private @Nullable Map<Long, Waiter> index;

    boolean isEmpty() {
        return first == null;
    }

    int size() {
        return size;
    }

    @Nullable
    Waiter first() {
        return first;
    }

    @Nullable
    Waiter last() {
        return last;
    }

    /** This list, or a new one if this is that of nobody, and that waiter. */
    WaiterList and(Waiter waiter) {
        WaiterList list = isNobodys() ? new WaiterList() : this;
        list.add(waiter);
        return list;
    }

    @SuppressWarnings("ReferenceEquality") // one that is empty is another list
    private boolean isNobodys() {
        return this == NONE;
    }

    void add(Waiter waiter) {
        waiter.before = last;
        if (last == null) {
            first = waiter;
        } else {
            last.after = waiter;
        }
        last = waiter;
        size++;
        if (index != null) {
            index.put(waiter.call.request(), waiter);
        } else if (size > FEW) {
            index = new LinkedHashMap<>();
            for (Waiter each : this) {
                index.put(each.call.request(), each);
            }
        }
    }

    @Nullable
    Waiter find(long request) {
        if (index != null) {
            return index.get(request);
        }
        Waiter waiter = first;
        while (waiter != null && waiter.call.request() != request) {
            waiter = waiter.after;
        }
        return waiter;
    }

    /** The waiter of that request, which is one no longer; null if there is none. */
    @Nullable
    Waiter remove(long request) {
        Waiter waiter = find(request);
        if (waiter == null) {
            return null;
        }
        Waiter before = waiter.before;
        Waiter after = waiter.after;
        if (before == null) {
            first = after;
        } else {
            before.after = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.before = before;
        }
        waiter.before = null;
        waiter.after = null;
        size--;
        if (index != null) {
            index.remove(request);
            index = size == 0 ? null : index;
        }
        return waiter;
    }

    /** In order. Whoever was shown may be removed before the next one is asked for. */
    @Override
    public Iterator<Waiter> iterator() {
        return new Iterator<>() {
            private @Nullable Waiter next = first;

            @Override
            public boolean hasNext() {
                return next != null;
            }

            @Override
            public Waiter next() {
                Waiter now = next;
                if (now == null) {
                    throw new NoSuchElementException();
                }
                next = now.after;
                return now;
            }
        };
    }

    /** Whether some have not heard that they wait: those that came last. */
    boolean someKnowNothing() {
        return last != null && !last.told;
    }

    /** Adds all, in order, and for how long they have waited. */
    void participants(long now, ParticipantList into) {
        for (Waiter waiter : this) {
            LockCall.Acquire call = waiter.call;
            into.add(new Participant(call.owner(), call.mode(), call.permits(), 0, now - waiter.since));
        }
    }

    /**
     * The first whom that grant serves, without passing anybody over but whom the grant does not keep out, as a
     * reader's does not keep out readers.
     */
    @Nullable
    Waiter firstTaker(ClientGrant held) {
        Waiter waiter = first;
        while (waiter != null && (waiter.pending || !held.fits(waiter))) {
            waiter = areBeside(waiter, held) ? waiter.after : null;
        }
        return waiter;
    }

    /** Whether that grant keeps none of them out. */
    boolean allPass(ClientGrant held) {
        Waiter waiter = first;
        while (waiter != null && areBeside(waiter, held)) {
            waiter = waiter.after;
        }
        return waiter == null;
    }

    private static boolean areBeside(Waiter waiter, ClientGrant held) {
        return TreeModes.together(waiter.call.mode(), held.handle.mode());
    }

    /**
     * The shortest ttl of {@code of}, 0 for none, and of these: of all, or up to the first who wants the lock for
     * itself.
     */
    long shortestTtl(long of, boolean all) {
        long shortest = of;
        for (Waiter waiter = first; waiter != null; waiter = waiter.after) {
            long ttl = waiter.call.ttl();
            shortest = shortest == 0 || ttl < shortest ? ttl : shortest;
            if (!all && waiter.isExclusive()) {
                break;
            }
        }
        return shortest;
    }

    /** Who wants that grant in another mode; null if nobody does. */
    @Nullable
    Waiter converting(ClientGrant held) {
        Waiter waiter = first;
        while (waiter != null && !held.handle.covers(waiter.call.converts())) {
            waiter = waiter.after;
        }
        return waiter;
    }

    /** Whether somebody wants another grant than that one to be one beside which it cannot stand. */
    boolean areUpgrading(ClientGrant butNot) {
        Waiter waiter = first;
        while (waiter != null
                && (areBeside(waiter, butNot)
                        || waiter.call.mode() == LockMode.SHARED
                        || butNot.handle.covers(waiter.call.converts()))) {
            waiter = waiter.after;
        }
        return waiter != null;
    }

    /** Tells of a probe those before that waiter who are in its way. */
    void tellAhead(Waiter waiter, Probe probe, Key key, Turn turn) {
        for (Waiter ahead = waiter.before; ahead != null; ahead = ahead.before) {
            if (!TreeModes.together(ahead.call.mode(), waiter.call.mode())) {
                turn.tell(new LockNotice.Sought(key, 0, ahead.call.request(), probe));
            }
        }
    }

    void encode(StateEncoder out) {
        out.put(size);
        for (Waiter waiter : this) {
            waiter.encode(out);
        }
    }

    WaiterList copy() {
        if (isNobodys()) {
            return this;
        }
        WaiterList copy = new WaiterList();
        for (Waiter waiter : this) {
            copy.add(waiter.copy());
        }
        return copy;
    }
}
