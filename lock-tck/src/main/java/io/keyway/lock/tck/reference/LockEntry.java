// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockMode;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import io.keyway.lock.spi.Request;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Who holds one lock or semaphore, and who waits for it. */
final class LockEntry {

    private record Id(ReferenceStore.Session session, long request) {}

    final List<Place> holders = new ArrayList<>();
    private final Map<Id, Place> queue = new LinkedHashMap<>();

    /** A reader that waits to become the writer, before all in the queue; and what it holds. */
    private @Nullable Place upgrade;

    private @Nullable Place upgrading;

    /** The queue was looked through at this time; nothing expires twice in one instant. */
    private long scannedAt;

    private boolean scanned;

    @Nullable
    Place holder(ReferenceStore.Session session, long id) {
        for (Place holder : holders) {
            if (holder.is(session, id)) {
                return holder;
            }
        }
        return null;
    }

    /** The holder of that grant, by id and token. */
    @Nullable
    Place holder(ReferenceStore.Session session, Grant grant) {
        Place holder = holder(session, grant.id());
        return holder != null && holder.token == grant.token() ? holder : null;
    }

    @Nullable
    Place waiter(ReferenceStore.Session session, long id) {
        return queue.get(new Id(session, id));
    }

    void enqueue(Place place) {
        queue.put(new Id(place.session, place.request.id()), place);
    }

    boolean leave(ReferenceStore.Session session, long id) {
        if (upgrade != null && upgrade.is(session, id)) {
            upgrade = null;
            return true;
        }
        return queue.remove(new Id(session, id)) != null;
    }

    /** The upgrade that waits; null if none does. */
    @Nullable
    Place upgrade() {
        return upgrade;
    }

    void awaitUpgrade(Place wanted, Place holder) {
        upgrade = wanted;
        upgrading = holder;
    }

    /** An upgrade ends with what it was to upgrade. */
    void settle() {
        if (upgrade != null && !holders.contains(upgrading)) {
            upgrade = null;
        }
    }

    /** All that wait, first one first. */
    List<Place> waiters() {
        List<Place> all = new ArrayList<>(queue.size() + 1);
        if (upgrade != null) {
            all.add(upgrade);
        }
        all.addAll(queue.values());
        return all;
    }

    /** Who is to be granted next; null if nobody waits. */
    @Nullable
    Place first() {
        if (upgrade != null) {
            return upgrade;
        }
        return queue.isEmpty() ? null : queue.values().iterator().next();
    }

    int ahead(@Nullable Place place) {
        int upgrades = upgrade == null ? 0 : 1;
        if (place == null) {
            return queue.size() + upgrades;
        }
        return first() == place ? 0 : List.copyOf(queue.values()).indexOf(place) + upgrades;
    }

    boolean fits(Request request) {
        return switch (request.mode()) {
            case EXCLUSIVE -> holders.isEmpty();
            case SHARED -> holders.stream().allMatch(holder -> holder.request.mode() == LockMode.SHARED);
            case PERMITS ->
                holders.stream().mapToInt(holder -> holder.request.permits()).sum() + request.permits()
                        <= request.capacity();
        };
    }

    List<Owner> owners() {
        return holders.stream().map(holder -> holder.request.owner()).toList();
    }

    /** Drops what has expired; true if something has. */
    boolean expire(long now) {
        if (scanned && scannedAt == now) {
            return false;
        }
        scanned = true;
        scannedAt = now;
        boolean changed = holders.removeIf(holder -> now - holder.expires >= 0);
        changed |= queue.values().removeIf(waiter -> now - waiter.expires >= 0);
        if (upgrade != null && now - upgrade.expires >= 0) {
            upgrade = null;
            changed = true;
        }
        settle();
        return changed;
    }

    boolean isEmpty() {
        return holders.isEmpty() && queue.isEmpty();
    }
}
