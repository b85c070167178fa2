// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * All that a store keeps of one lock or semaphore: who holds it, in the order of the grants; then the upgrade that
 * waits; then who queues, in the order in which they asked; then soft writers; and what was withdrawn. Immutable.
 *
 * <p>A write is made without knowing the time at which the store will make it, nor the token: what begins or goes on
 * with it says {@link Entry#STAMP}, and the store puts its clock and the token there, by {@link #stamped}.
 *
 * @param entries in that order
 */
public record Row(List<Entry> entries) {

    /** Nobody holds and nobody waits: the row of a key that the store does not have. */
    public static final Row FREE = new Row(List.of());

    /**
     * Copies the list.
     *
     * @param entries see the record
     */
    public Row {
        entries = List.copyOf(entries);
    }

    /** {@return whether nothing stands in it, so that the store may forget it} */
    public boolean isFree() {
        return entries.isEmpty();
    }

    /** {@return who holds, in the order of their grants} */
    public List<Entry> holders() {
        int end = 0;
        while (end < entries.size() && entries.get(end).holds()) {
            end++;
        }
        return entries.subList(0, end);
    }

    /** {@return who queues, the first first} */
    public List<Entry> waiters() {
        return entries.stream().filter(Entry::queues).toList();
    }

    /** {@return whether a soft writer waits} */
    public boolean hasSoftWriters() {
        for (int at = entries.size() - 1;
                at >= 0 && !entries.get(at).queues() && !entries.get(at).holds();
                at--) {
            if (entries.get(at).state() == Entry.State.YIELDING) {
                return true;
            }
        }
        return false;
    }

    /** {@return the soft writers, in no order that counts} */
    public List<Entry> softWriters() {
        return entries.stream()
                .filter(entry -> entry.state() == Entry.State.YIELDING)
                .toList();
    }

    /** {@return who stands before all that queue; null if nobody does} */
    public @Nullable Entry first() {
        int at = holders().size();
        return at < entries.size() && entries.get(at).queues() ? entries.get(at) : null;
    }

    /** {@return whether anybody queues} */
    public boolean isWaitedFor() {
        return first() != null;
    }

    /** {@return the reader that waits to become the writer; null if none does} */
    public @Nullable Entry upgrade() {
        Entry first = first();
        return first != null && first.state() == Entry.State.UPGRADING ? first : null;
    }

    /**
     * {@return the grant of that request, in force or broken; null if it has none}
     *
     * @param client whose, as the text of its incarnation
     * @param request what was asked
     */
    public @Nullable Entry holder(String client, long request) {
        for (Entry holder : holders()) {
            if (holder.state() != Entry.State.KEPT && holder.isOf(client, request)) {
                return holder;
            }
        }
        return null;
    }

    /**
     * As {@link #holder(String, long)}, if it has that token.
     *
     * @param client whose, as the text of its incarnation
     * @param grant as its client knows it
     * @return the grant, or null
     */
    public @Nullable Entry holder(String client, Grant grant) {
        Entry holder = holder(client, grant.id());
        return holder != null && holder.token() == grant.token() ? holder : null;
    }

    /**
     * {@return the place of that request in the queue or beside it; null if it has none}
     *
     * @param client whose, as the text of its incarnation
     * @param request what was asked
     */
    public @Nullable Entry waiter(String client, long request) {
        return find(entry -> entry.isOf(client, request) && entry.waits() && entry.state() != Entry.State.UPGRADING);
    }

    /**
     * {@return whether that request was withdrawn, and the row remembers it}
     *
     * @param client whose, as the text of its incarnation
     * @param request what was asked
     */
    public boolean hasWithdrawn(String client, long request) {
        for (Entry memory : memories()) {
            if (memory.isOf(client, request)) {
                return true;
            }
        }
        return false;
    }

    /** What was withdrawn stands at the end. */
    List<Entry> memories() {
        int begin = entries.size();
        while (begin > 0 && entries.get(begin - 1).state() == Entry.State.WITHDRAWN) {
            begin--;
        }
        return entries.subList(begin, entries.size());
    }

    /** Whether that request holds or waits. */
    boolean hasRequest(String client, long request) {
        return find(entry -> entry.isOf(client, request) && (entry.holds() || entry.waits())) != null;
    }

    /** Whether another request of that client holds or waits. */
    boolean hasOther(String client, long request) {
        return find(entry -> entry.request().id() != request
                        && entry.client().equals(client)
                        && (entry.holds() || entry.waits()))
                != null;
    }

    /** {@return how many permits are out} */
    public long permitsOut() {
        long out = 0;
        for (Entry holder : holders()) {
            out += holder.request().permits();
        }
        return out;
    }

    /**
     * {@return how many stand before that waiter, or before one who has just come if it is null: holders and waiters of
     * the queue; before a soft writer all of them}
     *
     * @param waiter its place in the queue; null if it has just come
     */
    public int ahead(@Nullable Entry waiter) {
        int ahead = 0;
        for (Entry entry : entries) {
            if (!(entry.holds() || entry.queues()) || (waiter != null && entry.isSame(waiter))) {
                break;
            }
            ahead++;
        }
        return ahead;
    }

    /** {@return who holds, for people} */
    public List<Owner> owners() {
        return holders().stream().map(entry -> entry.request().owner()).toList();
    }

    /**
     * {@return the row as leases show it: without those entries that are gone, and all others as if they were heard of
     * at that time} For a store in which the clients' leases, and not a clock, say who lives.
     *
     * @param lives whether the lease of an entry is alive
     * @param now the store's clock, in nanoseconds
     */
    public Row alive(Predicate<Entry> lives, long now) {
        return keeping(lives).each(entry -> entry.state() == Entry.State.KEPT ? entry : entry.heardAt(now));
    }

    Row keeping(Predicate<Entry> test) {
        Entry[] kept = new Entry[entries.size()];
        int size = 0;
        for (Entry entry : entries) {
            if (test.test(entry)) {
                kept[size++] = entry;
            }
        }
        return size == kept.length ? this : new Row(List.of(Arrays.copyOf(kept, size)));
    }

    /** {@return whether a grant in it waits for the token of the write that brings it} */
    public boolean grants() {
        return holders().stream().anyMatch(holder -> holder.token() == Entry.STAMP);
    }

    /**
     * {@return the row as the write that brought it made it}
     *
     * @param token of the grant that the write made, if it made one: higher than that of every earlier grant of the key
     * @param now the store's clock at the write, in nanoseconds
     */
    public Row stamped(long token, long now) {
        return find(entry -> !entry.isStamped()) == null
                ? this
                : each(entry -> entry.isStamped() ? entry : entry.stamped(token, now));
    }

    /**
     * {@return one text of it, of ASCII characters without control characters but the line feed; {@link #parse} leads
     * back}
     */
    public String text() {
        return RowText.write(this);
    }

    /**
     * {@return the row of that key whose {@link #text} that is}
     *
     * @param key which lock or semaphore
     * @param text as {@link #text} wrote it
     * @throws IllegalArgumentException if it is no such text, as of a newer version
     */
    public static Row parse(LockKey key, String text) {
        return RowText.read(key, text);
    }

    Row without(@Nullable Entry left) {
        return left == null ? this : keeping(entry -> !entry.isSame(left));
    }

    Row with(Entry was, Entry is) {
        return each(entry -> entry.isSame(was) ? is : entry);
    }

    /** With one more holder, waiter or memory, behind those of its kind. */
    Row plus(Entry come) {
        int at = entries.size();
        while (at > 0 && entries.get(at - 1).isBehind(come)) {
            at--;
        }
        Entry[] all = new Entry[entries.size() + 1];
        for (int i = 0; i < all.length; i++) {
            all[i] = i == at ? come : entries.get(i < at ? i : i - 1);
        }
        return new Row(List.of(all));
    }

    /** An upgrade ends with the grant that it was to upgrade: when that is gone, broken, or kept after its end. */
    Row withoutOrphan() {
        Entry upgrade = upgrade();
        if (upgrade == null) {
            return this;
        }
        boolean stands = holders().stream()
                .anyMatch(holder -> holder.state() == Entry.State.HOLDING
                        && holder.client().equals(upgrade.client())
                        && holder.token() == upgrade.token());
        return stands ? this : without(upgrade);
    }

    Row each(UnaryOperator<Entry> change) {
        Entry[] changed = new Entry[entries.size()];
        for (int i = 0; i < changed.length; i++) {
            changed[i] = change.apply(entries.get(i));
        }
        return new Row(List.of(changed));
    }

    private @Nullable Entry find(Predicate<Entry> test) {
        for (Entry entry : entries) {
            if (test.test(entry)) {
                return entry;
            }
        }
        return null;
    }
}
