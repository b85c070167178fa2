// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.kit.table;

import io.keyway.lock.LockKey;
import io.keyway.lock.LockMode;
import io.keyway.lock.LockStatus;
import io.keyway.lock.spi.Grant;
import io.keyway.lock.spi.Request;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * The rules of queues and grants, as pure functions of a row: the single decisions of which {@link RowVerbs} makes the
 * verbs of a backend, what of a row is over at a time, and what it says to people.
 *
 * <p>A request is granted when it stands first in the queue of its key and fits those that hold; nobody passes anybody
 * (LK-310, LK-1203, LK-1307), but for those that state a larger capacity than all before them, which their own has
 * refused (LK-1308). A soft writer stands beside the queue, in nobody's way, until nobody holds or queues and no reader
 * was granted for its time (LK-1207 to LK-1209). An upgrade stands before the queue (LK-1204). A grant ends by its
 * release, by its term counted from the last attempt or renewal that arrived (LK-502), or by a break, after which its
 * place stays until its holder has answered (LK-1105); what was to be held at least for some time keeps its place for
 * what is left of that (LK-520). A waiter keeps its place by attempts, and loses it after its term (LK-410).
 *
 * <p>No rule knows the time but {@link #expired}, {@link #status} and what those call, and that of a soft writer, which
 * knows when the row was read: a write is made before the time of the write is known, and says {@link Entry#STAMP} in
 * its place.
 *
 * <p>The single decisions can be overridden, by a store with another order for example. Thread-safe, and so must be
 * what overrides it.
 */
public class RowRules {

    /**
     * A look at a row.
     *
     * @param now the store's clock when the row was read, in nanoseconds
     * @param told whether the store tells who waits that its turn may have come
     */
    public record Look(long now, boolean told) {}

    private static final Duration SHORTEST_RECHECK = Duration.ofMillis(10);

    /** Longer than any message can be under way. */
    private static final Duration WITHDRAWN_FOR = Duration.ofMinutes(1);

    /** Makes the rules. */
    public RowRules() {}

    /**
     * {@return whether nobody is in the way of that request who waits; {@code waiter} is null if it has just come} Who
     * waits for permits and fits comes before all behind it, and one that does not before those behind it that state no
     * larger capacity.
     *
     * @param row as it is, without what is over
     * @param waiter its place in the queue; null if it has just come
     * @param request what was asked
     */
    protected boolean isTurnOf(Row row, @Nullable Entry waiter, Request request) {
        if (request.mode() != LockMode.PERMITS) {
            return Objects.equals(row.first(), waiter);
        }
        return firstThatFits(row, waiter) == null
                && row.waiters().stream()
                        .takeWhile(before -> !before.equals(waiter))
                        .noneMatch(before -> before.request().capacity() >= request.capacity());
    }

    /**
     * Returns the first of those that wait for permits, before that one if there is one, that fits and states a larger
     * capacity than all before it.
     */
    private @Nullable Entry firstThatFits(Row row, @Nullable Entry end) {
        int refused = -1;
        for (Entry waiter : row.waiters()) {
            if (waiter.equals(end)) {
                break;
            }
            int capacity = waiter.request().capacity();
            if (capacity > refused && admits(row, waiter.request())) {
                return waiter;
            }
            refused = Math.max(refused, capacity);
        }
        return null;
    }

    /**
     * {@return whether the request goes together with those that hold, by the capacity that it states itself (LK-1301)}
     *
     * @param row as it is, without what is over
     * @param request what was asked
     */
    protected boolean admits(Row row, Request request) {
        return switch (request.mode()) {
            case EXCLUSIVE -> row.holders().isEmpty();
            case SHARED ->
                row.holders().stream().allMatch(holder -> holder.request().mode() == LockMode.SHARED);
            case PERMITS -> row.permitsOut() + request.permits() <= request.capacity();
            default -> false; // of trees, which a store of rows does not offer
        };
    }

    /**
     * {@return whether a soft writer may be granted: nobody holds, nobody queues, and no reader was granted for its
     * time}
     *
     * @param row as it is, without what is over
     * @param waiter its place beside the queue; null if it has just come
     * @param request what was asked
     * @param look when the row was read
     */
    protected boolean mayDrain(Row row, @Nullable Entry waiter, Request request, Look look) {
        return row.holders().isEmpty() && !row.isWaitedFor() && quietIn(waiter, request, look) <= 0;
    }

    /** Returns how long after the look its time without readers is over, in nanoseconds. */
    private long quietIn(@Nullable Entry waiter, Request request, Look look) {
        long since = waiter == null || waiter.since() == Entry.STAMP ? look.now() : waiter.since();
        return since + quietFor(request) - look.now();
    }

    /**
     * {@return how long no reader may have been granted before that writer is, in nanoseconds}
     *
     * @param request what was asked
     */
    protected long quietFor(Request request) {
        return request.quiet().orElse(Duration.ZERO).toNanos();
    }

    /**
     * {@return the row that has just granted a reader, for those that wait for a time without readers}
     *
     * @param row after the grant
     */
    protected Row afterReader(Row row) {
        return row.hasSoftWriters() ? row.each(Entry::besideReader) : row;
    }

    /**
     * {@return how long one that is heard of is kept, in nanoseconds: a holder or a waiter}
     *
     * @param request what was asked
     * @param holds whether it holds, or waits
     */
    protected long term(Request request, boolean holds) {
        return request.ttl().toNanos();
    }

    /**
     * {@return how long after its grant a holder that is released keeps its place, in nanoseconds (LK-520)}
     *
     * @param request what was asked
     */
    protected long keptFor(Request request) {
        return request.holdAtLeast().toNanos();
    }

    /**
     * {@return how long after its grant a holder whose term ends keeps its place, in nanoseconds (LK-520)}
     *
     * @param request what was asked
     */
    protected long outlastsTermFor(Request request) {
        return request.holdAtLeast().toNanos();
    }

    /**
     * {@return the holder that a message about that grant is about: by its id and token, never by its client alone
     * (LK-701)}
     *
     * @param row as it is, without what is over
     * @param client whose, as the text of its incarnation
     * @param grant as its client knows it
     */
    protected @Nullable Entry inForce(Row row, String client, Grant grant) {
        return row.holder(client, grant);
    }

    /**
     * {@return who is told that its turn may have come, now that {@code left} has left, or whoever it was if that is
     * null} Of those that wait for permits it is the first that fits, if one does.
     *
     * @param row as it is, without what is over
     * @param left who has left; null if somebody else, or several
     */
    protected @Nullable Entry next(Row row, @Nullable Entry left) {
        Entry first = row.first();
        if (first == null || first.request().mode() != LockMode.PERMITS) {
            return first;
        }
        Entry fits = firstThatFits(row, null);
        return fits == null ? first : fits;
    }

    /**
     * {@return within what time a waiter asks again though nothing was told; it also keeps its place by that} It asks
     * when somebody in its way may be over, since a client that died tells nobody.
     *
     * @param row as it is, without what is over
     * @param waiter its place; null if it has just come
     * @param request what was asked
     * @param look when the row was read
     */
    protected Duration recheckWithin(Row row, @Nullable Entry waiter, Request request, Look look) {
        Duration longest = request.ttl().dividedBy(4);
        long quiet = request.isSoft() ? quietIn(waiter, request, look) : 0;
        if (!look.told() && quiet <= 0) {
            return least(Duration.ofMillis(20L * row.ahead(waiter)), longest);
        }
        long next = quiet > 0 ? Math.min(quiet, longest.toNanos()) : longest.toNanos();
        for (Entry holder : row.holders()) {
            next = Math.min(next, leaves(holder) - look.now());
        }
        for (Entry before : inTheWay(row)) {
            if (waiter != null && before.isSame(waiter)) {
                break;
            }
            next = Math.min(next, before.ends() - look.now());
        }
        return least(longest, Duration.ofNanos(Math.max(SHORTEST_RECHECK.toNanos(), next)));
    }

    private static Duration least(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    /**
     * {@return how old the last word of a waiter must be for a new one to be written down, in nanoseconds}
     *
     * @param request what was asked
     */
    protected long rewrittenAfter(Request request) {
        return request.ttl().toNanos() / 8;
    }

    /**
     * {@return how long the row remembers a request that was withdrawn, in nanoseconds}
     *
     * @param request what was asked
     */
    protected long withdrawnFor(Request request) {
        return Math.max(4 * request.ttl().toNanos(), WITHDRAWN_FOR.toNanos());
    }

    /**
     * {@return when the entry leaves the row if nothing more is heard, by the store's clock}
     *
     * @param entry of a row that is {@link Row#stamped stamped}
     */
    public final long leaves(Entry entry) {
        long ends = entry.ends();
        if (entry.state() != Entry.State.HOLDING) {
            return ends;
        }
        long outlasts = entry.since() + outlastsTermFor(entry.request());
        return outlasts - ends > 0 ? outlasts : ends;
    }

    /**
     * {@return the row without what is over at that time; the very row if nothing is} Of those that wait for a lock it
     * looks at the first ones, until one lives, since no other stands in anybody's way.
     *
     * @param row as it is, without what is over
     * @param now the store's clock, in nanoseconds
     */
    public final Row expired(Row row, long now) {
        Row left = row;
        for (Entry holder : row.holders()) {
            if (now - leaves(holder) >= 0) {
                left = left.without(holder);
            } else if (holder.state() == Entry.State.HOLDING && now - holder.ends() >= 0) {
                left = left.with(holder, holder.kept(outlastsTermFor(holder.request())));
            }
        }
        left = left.withoutOrphan();
        for (Entry first = left.first(); first != null && now - first.ends() >= 0; first = left.first()) {
            left = left.without(first);
        }
        if (inTheWay(left).size() > 1 || left.hasSoftWriters()) {
            left = left.keeping(entry -> !entry.waits() || now - entry.ends() < 0);
        }
        for (Entry memory : left.memories()) {
            if (now - memory.ends() >= 0) {
                left = left.without(memory);
            }
        }
        return left;
    }

    /**
     * {@return when {@link #expired} may next bring forward somebody who waits; empty if nobody does}
     *
     * @param row as it is, without what is over
     */
    public final OptionalLong nextExpiry(Row row) {
        List<Entry> soft = row.hasSoftWriters() ? row.softWriters() : List.of();
        List<Entry> queue = inTheWay(row);
        if (queue.isEmpty() && soft.isEmpty()) {
            return OptionalLong.empty();
        }
        long next = (queue.isEmpty() ? soft : queue).get(0).ends();
        for (Entry waiter : queue) {
            next = earlier(next, waiter.ends());
        }
        for (Entry writer : soft) {
            next = earlier(next, writer.ends());
        }
        for (Entry holder : row.holders()) {
            next = earlier(next, leaves(holder));
        }
        return OptionalLong.of(next);
    }

    private static long earlier(long one, long other) {
        return other - one < 0 ? other : one;
    }

    /** Returns who of those that wait may be in the way of one behind it. */
    private static List<Entry> inTheWay(Row row) {
        Entry first = row.first();
        if (first == null) {
            return List.of();
        }
        return first.request().mode() == LockMode.PERMITS ? row.waiters() : List.of(first);
    }

    /**
     * {@return who is told when {@link #expired}, or a grant whose upgrade left with it, has made that of the row}
     *
     * @param before the row as it was
     * @param after the row as it is
     */
    public final List<Notice> noticesOfExpiry(Row before, Row after) {
        return before.entries().size() > after.entries().size() ? wake(after, null) : List.of();
    }

    /**
     * {@return who holds and who waits, for people; empty if nobody does at that time}
     *
     * @param key which lock or semaphore
     * @param row as it is, without what is over
     * @param now the store's clock, in nanoseconds
     */
    public final Optional<LockStatus> status(LockKey key, Row row, long now) {
        List<LockStatus.Holder> holders = new ArrayList<>();
        List<LockStatus.Waiter> waiters = new ArrayList<>();
        List<LockStatus.Waiter> softWriters = new ArrayList<>();
        for (Entry entry : row.entries()) {
            long leaves = leaves(entry);
            if (now - leaves >= 0) {
                continue;
            }
            Request request = entry.request();
            Duration since = Duration.ofNanos(Math.max(0, now - entry.since()));
            if (entry.holds()) {
                boolean kept = entry.state() == Entry.State.KEPT
                        || (entry.state() == Entry.State.HOLDING && now - entry.ends() >= 0);
                holders.add(new LockStatus.Holder(
                        request.owner().client(),
                        request.mode(),
                        request.permits(),
                        OptionalLong.of(entry.token()),
                        since,
                        request.owner().metadata(),
                        kept ? Optional.of(Duration.ofNanos(leaves - now)) : Optional.empty()));
            } else if (entry.waits()) {
                (entry.queues() ? waiters : softWriters)
                        .add(new LockStatus.Waiter(
                                request.owner().client(),
                                request.mode(),
                                request.permits(),
                                OptionalLong.empty(),
                                since,
                                request.owner().metadata()));
            }
        }
        return holders.isEmpty() && waiters.isEmpty() && softWriters.isEmpty()
                ? Optional.empty()
                : Optional.of(new LockStatus(key, holders, waiters, List.of(), softWriters));
    }

    /** Tells whose turn may have come, now that {@code left} has left, or whoever it was if that is null. */
    final List<Notice> wake(Row row, @Nullable Entry left) {
        Entry next = next(row, left);
        if (next != null) {
            return List.of(Notice.turn(next));
        }
        return row.holders().isEmpty()
                ? row.softWriters().stream().map(Notice::turn).toList()
                : List.of();
    }
}
