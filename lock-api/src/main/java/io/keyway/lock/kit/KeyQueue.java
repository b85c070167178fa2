// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one key that wait, oldest first, and the round that answers a hint. A hint wakes one request, not
 * all: the next is asked only if the one before got a grant that leaves room, or was refused where a smaller one may
 * not be. Since requests may stand at the store in another order than they have here, a few are asked in spite of that.
 */
final class KeyQueue {

    /** Requests asked in one round though one that asked for no more was refused. */
    static final int REFUSALS = 8;

    private final Map<Long, StoreEntry> all = new TreeMap<>();
    private final TreeMap<Long, StoreEntry> queued = new TreeMap<>();

    /** Which of them were sent. */
    final SendOrder arrivals = new SendOrder();

    private final boolean fifo;
    private final boolean wakes;
    private @Nullable StoreEntry asked;
    private long after;
    private long smallestRefused;
    private int refusals;
    private boolean hintedAgain;

    /**
     * {@code fifo}: the store grants in the order of arrival, so that nobody passes an EXCLUSIVE request that has to wait.
     * {@code wakes}: its hints say that the turn of one of these has come, even if another is asked first.
     */
    KeyQueue(boolean fifo, boolean wakes) {
        this.fifo = fifo;
        this.wakes = wakes;
    }

    void add(StoreEntry entry) {
        all.put(entry.order(), entry);
        if (entry.request.queue()) {
            queued.put(entry.order(), entry);
        }
    }

    void remove(StoreEntry entry) {
        all.remove(entry.order());
        queued.remove(entry.order());
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    Iterable<StoreEntry> waiting() {
        return all.values();
    }

    /** Begins a round, or has one follow that is under way; the first request to ask, if any. */
    @Nullable
    StoreEntry hint() {
        if (asked != null) {
            hintedAgain = true;
            return null;
        }
        after = Long.MIN_VALUE;
        smallestRefused = Long.MAX_VALUE;
        refusals = 0;
        return next();
    }

    boolean isAsked(StoreEntry entry) {
        return asked == entry;
    }

    /** The one asked was granted; the next to ask, if any. */
    @Nullable
    StoreEntry granted(StoreEntry entry) {
        if (entry.need() == Integer.MAX_VALUE) {
            // Nothing is left of what the hints were about.
            hintedAgain = false;
            asked = null;
            return null;
        }
        return next();
    }

    /** The one asked has to wait on. */
    @Nullable
    StoreEntry refused(StoreEntry entry) {
        if (entry.holder != null) {
            // It stands in no queue, and its refusal says nothing of the others.
            return next();
        }
        if (entry.need() < smallestRefused) {
            smallestRefused = entry.need();
            refusals = 1;
        } else {
            refusals++;
        }
        if (fifo && entry.request.mode() == LockMode.EXCLUSIVE && !(wakes && entry.waitsBehindOthers())) {
            after = Long.MAX_VALUE;
        }
        return next();
    }

    /** The one asked has left. */
    @Nullable
    StoreEntry left() {
        return next();
    }

    /** The store cannot be asked: each request goes on by its own timer. */
    void failed() {
        asked = null;
        hintedAgain = false;
    }

    private @Nullable StoreEntry next() {
        Map.Entry<Long, StoreEntry> candidate = queued.higherEntry(after);
        while (candidate != null && refusals >= REFUSALS && candidate.getValue().need() >= smallestRefused) {
            candidate = queued.higherEntry(candidate.getKey());
        }
        if (candidate != null) {
            after = candidate.getKey();
            asked = candidate.getValue();
            return asked;
        }
        asked = null;
        if (hintedAgain) {
            hintedAgain = false;
            return hint();
        }
        return null;
    }
}
