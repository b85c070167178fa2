// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.client;

import io.keyway.lock.peer.service.LockCall;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
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

    /** All, in order, and for how long they have waited. */
    ParticipantList participants(long now) {
        ParticipantList all = new ParticipantList();
        for (Waiter waiter : this) {
            LockCall.Acquire call = waiter.call;
            all.add(new Participant(call.owner(), call.mode(), call.permits(), 0, now - waiter.since));
        }
        return all;
    }

    WaiterList copy() {
        WaiterList copy = new WaiterList();
        for (Waiter waiter : this) {
            copy.add(waiter.copy());
        }
        return copy;
    }
}
