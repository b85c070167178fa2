// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.LockMode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The requests of one key that are wanted, oldest first: which of them are sent, and which are asked again after a
 * hint.
 *
 * <p>They arrive at the store in the order in which they were made, as far as that matters: where one of two is
 * EXCLUSIVE, the later is sent when the earlier was answered. Several calls under way could overtake each other, and
 * the queue of the store would keep the wrong order.
 *
 * <p>A hint begins a round. It wakes one request, not all: the next is asked only if the one before got a grant that
 * leaves room, or was refused where a smaller one may not be. Since requests may be queued at the store in another
 * order than they have here, a few are asked in spite of that.
 */
final class KeyQueue {

    /** Requests asked in one round though one that asked for no more was refused. */
    static final int REFUSALS = 8;

    private final Map<Long, StoreEntry> all = new TreeMap<>();
    private final TreeMap<Long, StoreEntry> queued = new TreeMap<>();

    /** Those that count for the order of sending, until their first call is over; how many of them are EXCLUSIVE. */
    private final TreeMap<Long, StoreEntry> unanswered = new TreeMap<>();

    private int exclusive;

    private final boolean fifo;
    private final boolean wakes;
    private @Nullable StoreEntry asked;
    private long after;
    private long smallestRefused;
    private int refusals;
    private boolean hintedAgain;

    /**
     * {@code fifo}: the store grants in the order of arrival, so that nobody passes an EXCLUSIVE request that has to
     * wait. {@code wakes}: its hints say that the turn of one of these has come, even if another is asked first.
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

    /** At the store it is queued behind all others of this client now; {@code turn} is higher than theirs. */
    void moveToEnd(StoreEntry entry, long turn) {
        remove(entry);
        entry.turn = turn;
        add(entry);
    }

    boolean isEmpty() {
        return all.isEmpty();
    }

    // The order of sending.

    /** A request begins; true if it may be sent at once, false if {@link #sent} of another will return it. */
    boolean maySend(StoreEntry entry) {
        if (!isOrdered(entry)) {
            return true;
        }
        boolean free = isExclusive(entry) ? unanswered.isEmpty() : exclusive == 0;
        unanswered.put(entry.order(), entry);
        exclusive += isExclusive(entry) ? 1 : 0;
        entry.unsent = !free;
        return free;
    }

    /** The first call of that request came to something, or will not be made; returns what may be sent now. */
    List<StoreEntry> sent(StoreEntry entry) {
        if (!isOrdered(entry) || unanswered.remove(entry.order()) == null) {
            return List.of();
        }
        exclusive -= isExclusive(entry) ? 1 : 0;
        List<StoreEntry> free = new ArrayList<>();
        for (StoreEntry next : unanswered.values()) {
            if (isExclusive(next) && next != unanswered.firstEntry().getValue()) {
                break;
            }
            if (next.unsent) {
                next.unsent = false;
                free.add(next);
            }
            if (isExclusive(next)) {
                break;
            }
        }
        return free;
    }

    private static boolean isOrdered(StoreEntry entry) {
        return entry.request.queue() && entry.holder == null;
    }

    private static boolean isExclusive(StoreEntry entry) {
        return entry.request.mode() == LockMode.EXCLUSIVE;
    }

    // Rounds.

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

    /** Takes the request out, which was granted or has left; the next to ask, if this one was asked. */
    @Nullable
    StoreEntry leave(StoreEntry entry, boolean granted) {
        remove(entry);
        if (asked != entry) {
            return null;
        }
        if (granted && entry.need() == Integer.MAX_VALUE) {
            // Nothing is left of what the hints were about.
            endRound();
            return null;
        }
        return next();
    }

    /** The request has to wait on; the next to ask, if this one was asked. */
    @Nullable
    StoreEntry refused(StoreEntry entry) {
        if (asked != entry) {
            return null;
        }
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
        if (fifo && isExclusive(entry) && !(wakes && entry.waitsBehindOthers())) {
            after = Long.MAX_VALUE;
        }
        return next();
    }

    /** The request did not come through: if it was asked, each goes on by its own timer. */
    void failed(StoreEntry entry) {
        if (asked == entry) {
            endRound();
        }
    }

    private void endRound() {
        asked = null;
        hintedAgain = false;
    }

    private void remove(StoreEntry entry) {
        all.remove(entry.order());
        queued.remove(entry.order());
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
