// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.TimeSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** One lock or semaphore: who holds it, and who waits, in the order in which they asked. */
public final class LockEntry {

    private record Id(Session session, long request) {}

    final String slot;
    final LockKey key;

    /** Rings when somebody who stands before others may be over, though nobody asks. */
    TimeSource.@Nullable Scheduled alarm;

    long alarmAt;

    @Nullable
    Session alarmOf;

    private final List<Place> holders = new ArrayList<>(1);
    private Map<Id, Place> queue = Map.of();

    /** A reader that waits to become the writer, before all in the queue; and what it holds meanwhile. */
    private @Nullable Place upgrade;

    private @Nullable Place upgrading;

    LockEntry(String slot, LockKey key) {
        this.slot = slot;
        this.key = key;
    }

    /** Returns who holds, in the order of their grants. */
    public List<Place> holders() {
        return Collections.unmodifiableList(holders);
    }

    /** Returns who waits, in the order in which they asked. */
    public Iterable<Place> waiters() {
        if (upgrade == null) {
            return queue.values();
        }
        List<Place> all = new ArrayList<>(queue.size() + 1);
        all.add(upgrade);
        all.addAll(queue.values());
        return all;
    }

    /** Returns whether anybody waits. */
    public boolean isWaitedFor() {
        return upgrade != null || !queue.isEmpty();
    }

    /** Returns who stands before all that wait. */
    public @Nullable Place first() {
        if (upgrade != null) {
            return upgrade;
        }
        return queue.isEmpty() ? null : queue.values().iterator().next();
    }

    /** Returns how many permits are out. */
    public long permitsOut() {
        long out = 0;
        for (Place holder : holders) {
            out += holder.request.permits();
        }
        return out;
    }

    boolean isEmpty() {
        return holders.isEmpty() && !isWaitedFor();
    }

    @Nullable
    Place holder(Session session, long request) {
        for (Place holder : holders) {
            if (holder.holds(session, request)) {
                return holder;
            }
        }
        return null;
    }

    @Nullable
    Place holder(Session session, Grant grant) {
        Place holder = holder(session, grant.id());
        return holder != null && holder.token == grant.token() ? holder : null;
    }

    void add(Place holder) {
        holders.add(holder);
    }

    void remove(Place holder) {
        holders.remove(holder);
        if (upgrading == holder) {
            endUpgrade();
        }
    }

    /**
     * The grant is over, and its place stays for as long as it was to be held at least; false if that time has passed.
     */
    boolean keep(Place holder, long now) {
        boolean kept = holder.keep(now);
        if (kept && upgrading == holder) {
            endUpgrade();
        }
        return kept;
    }

    void broke(Place holder, String reason) {
        holder.broken = reason;
        if (upgrading == holder) {
            endUpgrade();
        }
    }

    @Nullable
    Place waiter(Session session, long request) {
        return queue.get(new Id(session, request));
    }

    void enqueue(Place place) {
        if (queue.isEmpty()) {
            queue = new LinkedHashMap<>();
        }
        queue.put(new Id(place.session, place.request.id()), place);
    }

    /** The upgrade that waits, if one does. */
    @Nullable
    Place upgrade() {
        return upgrade;
    }

    void awaitUpgrade(Place wanted, Place holder) {
        upgrade = wanted;
        upgrading = holder;
    }

    private void endUpgrade() {
        upgrade = null;
        upgrading = null;
    }

    @Nullable
    Place leave(Session session, long request) {
        if (upgrade != null && upgrade.isOf(session, request)) {
            Place waiter = upgrade;
            endUpgrade();
            return waiter;
        }
        Place left = queue.isEmpty() ? null : queue.remove(new Id(session, request));
        if (queue.isEmpty()) {
            queue = Map.of();
        }
        return left;
    }

    /** How many stand before that waiter, or before one who has just come. */
    int ahead(@Nullable Place waiter) {
        int ahead = holders.size();
        for (Place place : waiters()) {
            if (place == waiter) {
                return ahead;
            }
            ahead++;
        }
        return ahead;
    }

    List<Owner> owners() {
        List<Owner> owners = new ArrayList<>(holders.size());
        for (Place holder : holders) {
            owners.add(holder.request.owner());
        }
        return owners;
    }

    /**
     * Ends those that were not heard of in time: all holders, and waiters from the first until one lives, since no other
     * stands before anybody's grant. True if somebody's turn may have come.
     */
    boolean expire(long now) {
        boolean changed = holders.removeIf(holder -> holder.isOver(now));
        for (Place holder : holders) {
            if (now - holder.expires >= 0 && !holder.kept && holder.broken == null) {
                holder.outlastTerm();
            }
        }
        if (upgrading != null && (upgrading.kept || !holders.contains(upgrading))) {
            // An upgrade ends with what it was to upgrade.
            endUpgrade();
        }
        for (Place first = first(); first != null && first.isOver(now); first = first()) {
            leave(first.session, first.request.id());
            changed = true;
        }
        return changed;
    }

    /** When {@link #expire} may change something next, if somebody waits. */
    long nextExpiry() {
        Place first = first();
        long next = first == null ? Long.MAX_VALUE : first.expires;
        for (Place holder : holders) {
            if (first == null || holder.leaves() - next < 0) {
                next = holder.leaves();
            }
        }
        return next;
    }

    /** For people; empty if nobody who lives holds it or waits. */
    Optional<LockStatus> status(long now) {
        List<LockStatus.Holder> holding = new ArrayList<>();
        List<LockStatus.Waiter> waiting = new ArrayList<>();
        for (Place place : holders) {
            if (!place.isOver(now)) {
                holding.add(place.holder(now));
            }
        }
        for (Place place : waiters()) {
            if (!place.isOver(now)) {
                waiting.add(place.waiter(now));
            }
        }
        return holding.isEmpty() && waiting.isEmpty()
                ? Optional.empty()
                : Optional.of(new LockStatus(key, holding, waiting));
    }
}
