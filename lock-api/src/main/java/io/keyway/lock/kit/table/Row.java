// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * All that a store keeps of one lock or semaphore: who holds it, in the order of the grants; then the upgrade that waits;
 * then who waits, in the order in which they asked; and what was withdrawn. Immutable.
 *
 * <p>A write is made without knowing the time at which the store will make it, nor the token: what begins or goes on with
 * it says {@link #STAMP}, and the store puts its clock and the token there, by {@link #stamped}.
 *
 * @param entries in that order
 */
public record Row(List<Entry> entries) {

    /** A time or a token that the write which brings it gives. */
    public static final long STAMP = Long.MIN_VALUE;

    /** Nobody holds and nobody waits: the row of a key that the store does not have. */
    public static final Row FREE = new Row(List.of());

    /** Copies the list. */
    public Row {
        entries = List.copyOf(entries);
    }

    /** Returns whether nothing stands in it, so that the store may forget it. */
    public boolean isFree() {
        return entries.isEmpty();
    }

    /** Returns who holds, in the order of their grants. */
    public List<Entry> holders() {
        return those(Entry::holds);
    }

    /** Returns who waits, the first first. */
    public List<Entry> waiters() {
        return those(Entry::waits);
    }

    /** Returns who stands before all that wait; null if nobody waits. */
    public @Nullable Entry first() {
        return find(Entry::waits);
    }

    /** Returns whether anybody waits. */
    public boolean isWaitedFor() {
        return first() != null;
    }

    /** Returns the reader that waits to become the writer; null if none does. */
    public @Nullable Entry upgrade() {
        return find(entry -> entry.state() == Entry.State.UPGRADING);
    }

    /** Returns the grant of that request, in force or broken; null if it has none. */
    public @Nullable Entry holder(String client, long request) {
        return find(entry -> entry.holds() && entry.state() != Entry.State.KEPT && entry.isOf(client, request));
    }

    /** As {@link #holder(String, long)}, if it has that token. */
    public @Nullable Entry holder(String client, Grant grant) {
        Entry holder = holder(client, grant.id());
        return holder != null && holder.token() == grant.token() ? holder : null;
    }

    /** Returns the place of that request in the queue; null if it has none. */
    public @Nullable Entry waiter(String client, long request) {
        return find(entry -> entry.state() == Entry.State.WAITING && entry.isOf(client, request));
    }

    /** Returns whether that request was withdrawn, and the row remembers it. */
    public boolean hasWithdrawn(String client, long request) {
        return find(entry -> entry.state() == Entry.State.WITHDRAWN && entry.isOf(client, request)) != null;
    }

    /** Whether that request holds or waits. */
    boolean hasRequest(String client, long request) {
        return find(entry -> (entry.holds() || entry.waits()) && entry.isOf(client, request)) != null;
    }

    /** Whether another request of that client holds or waits. */
    boolean hasOther(String client, long request) {
        return find(entry -> (entry.holds() || entry.waits())
                        && entry.client().equals(client)
                        && entry.request().id() != request)
                != null;
    }

    /** Returns how many permits are out. */
    public long permitsOut() {
        return entries.stream()
                .filter(Entry::holds)
                .mapToLong(entry -> entry.request().permits())
                .sum();
    }

    /** Returns how many stand before that waiter, or before one who has just come if it is null: holders and waiters. */
    public int ahead(@Nullable Entry waiter) {
        int ahead = 0;
        for (Entry entry : entries) {
            if (entry.equals(waiter)) {
                return ahead;
            }
            ahead += entry.holds() || entry.waits() ? 1 : 0;
        }
        return ahead;
    }

    /** Returns who holds, for people. */
    public List<Owner> owners() {
        return holders().stream().map(entry -> entry.request().owner()).toList();
    }

    /**
     * Returns the row as leases show it: without those entries that are gone, and all others as if they were heard of at
     * that time. For a store in which the clients' leases, and not a clock, say who lives.
     */
    public Row alive(Predicate<Entry> lives, long now) {
        return keeping(lives).each(entry -> entry.state() == Entry.State.KEPT ? entry : entry.heardAt(now));
    }

    Row keeping(Predicate<Entry> test) {
        List<Entry> kept = those(test);
        return kept.size() == entries.size() ? this : new Row(kept);
    }

    /** Returns whether a grant in it waits for the token of the write that brings it. */
    public boolean grants() {
        return find(entry -> entry.token() == STAMP) != null;
    }

    /**
     * Returns the row as the write that brought it made it.
     *
     * @param token of the grant that the write made, if it made one: higher than that of every earlier grant of the key
     * @param now the store's clock at the write, in nanoseconds
     */
    public Row stamped(long token, long now) {
        return find(entry -> !entry.isStamped()) == null
                ? this
                : each(entry -> entry.isStamped() ? entry : entry.stamped(token, now));
    }

    /** Returns one text of it, of ASCII characters without control characters but the line feed; {@link #parse} leads back. */
    public String text() {
        return RowText.write(this);
    }

    /**
     * Returns the row of that key whose {@link #text} that is.
     *
     * @throws IllegalArgumentException if it is no such text, as of a newer version
     */
    public static Row parse(LockKey key, String text) {
        return RowText.read(key, text);
    }

    Row without(@Nullable Entry left) {
        return left == null ? this : keeping(entry -> !entry.equals(left));
    }

    Row with(Entry was, Entry is) {
        return each(entry -> entry.equals(was) ? is : entry);
    }

    /** With one more holder, waiter or memory, behind those of its kind. */
    Row plus(Entry come) {
        List<Entry> all = new ArrayList<>(entries.size() + 1);
        int at = 0;
        while (at < entries.size() && standsBefore(entries.get(at), come)) {
            at++;
        }
        all.addAll(entries.subList(0, at));
        all.add(come);
        all.addAll(entries.subList(at, entries.size()));
        return new Row(all);
    }

    private static boolean standsBefore(Entry entry, Entry come) {
        boolean bothHold = entry.holds() && come.holds();
        return bothHold || entry.state().compareTo(come.state()) <= 0;
    }

    /** An upgrade ends with the grant that it was to upgrade: when that is gone, broken, or kept after its end. */
    Row withoutOrphan() {
        Entry upgrade = upgrade();
        boolean orphan = upgrade != null
                && find(entry -> entry.state() == Entry.State.HOLDING
                                && entry.client().equals(upgrade.client())
                                && entry.token() == upgrade.token())
                        == null;
        return orphan ? without(upgrade) : this;
    }

    Row each(UnaryOperator<Entry> change) {
        return new Row(entries.stream().map(change).toList());
    }

    private List<Entry> those(Predicate<Entry> test) {
        return entries.stream().filter(test).toList();
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
