// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit;

import io.keyway.lock.spi.Grant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The held grants of one ttl. They are renewed together: when one is due, all that are older than a quarter of the ttl
 * go with it, so that they fall due together and a round costs few messages however many are held.
 */
final class RenewalGroup {

    /** Grants in one call. */
    static final int BATCH = 500;

    private final long ttl;
    private final Map<Long, StoreEntry> held = new LinkedHashMap<>();

    /** When to look again, if {@link #armed}. */
    long due;

    boolean armed;

    RenewalGroup(long ttl) {
        this.ttl = ttl;
    }

    long ttl() {
        return ttl;
    }

    void add(StoreEntry entry) {
        held.put(entry.id(), entry);
    }

    void remove(StoreEntry entry) {
        held.remove(entry.id());
    }

    boolean isEmpty() {
        return held.isEmpty();
    }

    /** Those whose belief has ended. */
    List<StoreEntry> lapsed(long now) {
        List<StoreEntry> lapsed = new ArrayList<>();
        for (StoreEntry entry : held.values()) {
            if (now - entry.deadline() >= 0) {
                lapsed.add(entry);
            }
        }
        return lapsed;
    }

    /** Those that have been silent for five eighths of the ttl, and were not doubted before. */
    List<StoreEntry> doubtful(long now) {
        List<StoreEntry> doubtful = new ArrayList<>();
        for (StoreEntry entry : held.values()) {
            if (!entry.doubted && now - doubtAt(entry) >= 0) {
                doubtful.add(entry);
            }
        }
        return doubtful;
    }

    /** The batches to send now; their entries are marked as renewing. */
    List<List<Grant>> round(long now) {
        boolean due = false;
        for (StoreEntry entry : held.values()) {
            due |= !entry.renewing && now - entry.renewDue >= 0;
        }
        if (!due) {
            return List.of();
        }
        List<List<Grant>> batches = new ArrayList<>();
        List<Grant> batch = new ArrayList<>();
        for (StoreEntry entry : held.values()) {
            if (entry.renewing || now - (entry.renewDue - ttl / 4) < 0) {
                continue;
            }
            entry.renewing = true;
            batch.add(entry.held());
            if (batch.size() == BATCH) {
                batches.add(batch);
                batch = new ArrayList<>();
            }
        }
        if (!batch.isEmpty()) {
            batches.add(batch);
        }
        return batches;
    }

    /** When something is due next; the group must not be empty. */
    long next(long now) {
        long next = now + ttl;
        for (StoreEntry entry : held.values()) {
            next = due(entry, next);
        }
        return next;
    }

    /** When something is due of that one, if that is sooner than {@code next}. */
    long due(StoreEntry entry, long next) {
        long due = earlier(next, entry.deadline());
        if (!entry.doubted) {
            due = earlier(due, doubtAt(entry));
        }
        return entry.renewing ? due : earlier(due, entry.renewDue);
    }

    private long doubtAt(StoreEntry entry) {
        return entry.deadline() - ttl / 8;
    }

    private static long earlier(long a, long b) {
        return a - b < 0 ? a : b;
    }
}
