// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockKey;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The queues of all keys for which requests wait. */
final class KeyQueues {

    private final Map<LockKey, KeyQueue> queues = new HashMap<>();

    private final boolean fifo;
    private final boolean wakes;
    private long turns;

    /** As {@link KeyQueue#KeyQueue}. */
    KeyQueues(boolean fifo, boolean wakes) {
        this.fifo = fifo;
        this.wakes = wakes;
    }

    /** The place of a request that is made now: behind all others. */
    long nextTurn() {
        return ++turns;
    }

    void add(StoreEntry entry) {
        queues.computeIfAbsent(entry.request.key(), key -> new KeyQueue(fifo, wakes))
                .add(entry);
    }

    /** At the store it stands behind all others of this client now. */
    void moveToEnd(StoreEntry entry) {
        KeyQueue queue = of(entry);
        queue.remove(entry);
        entry.turn = nextTurn();
        queue.add(entry);
    }

    /** The queue of a request that is in it, or was a moment ago. */
    KeyQueue of(StoreEntry entry) {
        KeyQueue queue = queues.get(entry.request.key());
        if (queue == null) {
            throw new IllegalStateException("no queue of " + entry.request.key());
        }
        return queue;
    }

    /** Whether that request, which is in its queue, may be sent at once. */
    boolean begin(StoreEntry entry) {
        return of(entry).arrivals.begin(entry);
    }

    /** The first call of that request is over; returns those that may be sent now. */
    List<StoreEntry> arrived(StoreEntry entry) {
        KeyQueue queue = queues.get(entry.request.key());
        return queue == null ? List.of() : queue.arrivals.over(entry);
    }

    /** For which requests wait. */
    List<LockKey> keys() {
        return List.copyOf(queues.keySet());
    }

    /** The first to ask after a hint, if any. */
    @Nullable
    StoreEntry hint(LockKey key) {
        KeyQueue queue = queues.get(key);
        return queue == null ? null : queue.hint();
    }

    /** The request did not come through: each goes on by its own timer. */
    void failed(StoreEntry entry) {
        KeyQueue queue = of(entry);
        if (queue.isAsked(entry)) {
            queue.failed();
        }
    }

    /** Takes the request out; the next to ask, if this one was asked and has left in between. */
    @Nullable
    StoreEntry leave(StoreEntry entry) {
        KeyQueue queue = of(entry);
        boolean asked = queue.isAsked(entry);
        queue.remove(entry);
        StoreEntry next = asked ? queue.left() : null;
        dropIfEmpty(entry, queue);
        return next;
    }

    /** Takes the request out, which was granted; the next to ask, if this one was asked and left room. */
    @Nullable
    StoreEntry granted(StoreEntry entry) {
        KeyQueue queue = of(entry);
        boolean asked = queue.isAsked(entry);
        queue.remove(entry);
        StoreEntry next = asked ? queue.granted(entry) : null;
        dropIfEmpty(entry, queue);
        return next;
    }

    /** The request has to wait on; the next to ask, if any. */
    @Nullable
    StoreEntry refused(StoreEntry entry) {
        KeyQueue queue = of(entry);
        return queue.isAsked(entry) ? queue.refused(entry) : null;
    }

    private void dropIfEmpty(StoreEntry entry, KeyQueue queue) {
        if (queue.isEmpty()) {
            queues.remove(entry.request.key());
        }
    }
}
