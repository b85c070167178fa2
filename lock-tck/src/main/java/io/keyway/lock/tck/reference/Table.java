// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.tck.reference;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockPage;
import io.keyway.lock.LockStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The entries of a store, in the order of their names; used under its lock. */
final class Table {

    private final TreeMap<String, LockEntry> entries = new TreeMap<>();
    private String swept = "";

    @Nullable
    LockEntry find(String slot) {
        return entries.get(slot);
    }

    LockEntry open(String slot, LockKey key) {
        return entries.computeIfAbsent(slot, fresh -> new LockEntry(fresh, key));
    }

    void remove(LockEntry entry) {
        entries.remove(entry.slot, entry);
    }

    boolean isEmpty() {
        return entries.isEmpty();
    }

    /** How many hold and wait that are not over. */
    long places(long now) {
        long all = 0;
        for (LockEntry entry : entries.values()) {
            all += entry.status(now)
                    .map(status -> status.holders().size() + status.waiters().size())
                    .orElse(0);
        }
        return all;
    }

    boolean isAtRest(long now) {
        return entries.values().stream().allMatch(entry -> entry.status(now).isEmpty());
    }

    /** When the last of those that hold now is over, or {@code now} if nobody does. */
    long lastExpiry(long now) {
        long last = now;
        for (LockEntry entry : entries.values()) {
            for (Place holder : entry.holders()) {
                last = holder.leaves() - last > 0 ? holder.leaves() : last;
            }
        }
        return last;
    }

    void forEach(Consumer<LockEntry> each) {
        entries.values().forEach(each);
    }

    void clear() {
        entries.clear();
    }

    /** Each entry in turn, round and round. */
    @Nullable
    LockEntry nextToSweep() {
        Map.Entry<String, LockEntry> next = entries.higherEntry(swept);
        swept = next == null ? "" : next.getKey();
        return next == null ? null : next.getValue();
    }

    /** One page of what lives; it costs what it shows, however many names there are. The cursor is the slot shown last. */
    LockPage page(String prefix, Optional<String> after, int max, long now) {
        List<LockStatus> page = new ArrayList<>();
        String last = "";
        for (LockEntry entry :
                entries.tailMap(after.orElse(prefix), after.isEmpty()).values()) {
            if (!entry.slot.startsWith(prefix)) {
                break;
            }
            Optional<LockStatus> status = entry.status(now);
            if (status.isEmpty()) {
                continue;
            }
            if (page.size() == max) {
                return new LockPage(page, Optional.of(last));
            }
            page.add(status.get());
            last = entry.slot;
        }
        return new LockPage(page, Optional.empty());
    }
}
