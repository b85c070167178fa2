// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** The tickets of one lock at a leader of the bakery, which alone changes them: see {@link BakeryLeader}. */
final class LeaderTable {
    /** A request: the life of a home draws its name once. */
    record RequestId(String member, long life, long number) implements Comparable<RequestId> {
        @Override
        public int compareTo(RequestId other) {
            int by = member.compareTo(other.member);
            by = by != 0 ? by : Long.compare(life, other.life);
            return by != 0 ? by : Long.compare(number, other.number);
        }
    }

    /** What is known of a request. */
    static final class Entry {
        final RequestId id;
        final RequestMode mode;
        final Owner owner;
        final long since;
        /** When it was entering. */
        final long enteredAt;
        /** Null while it is entering. */
        @Nullable
        Ticket ticket;
        /** Those that were entering when it got its ticket. */
        Set<RequestId> before = Set.of();

        boolean holds;
        /** It is to hear whether somebody holds, and nobody has said so yet. */
        boolean unsure;
        /** It is let in. */
        boolean active;
        /** When it was let in; {@link Turn#NEVER} if it held before it was known here. For administrators alone. */
        long activeAt = Turn.NEVER;
        /** Its home was asked to yield; whether it still stands. */
        boolean asked;

        boolean questioned;
        /** The session of its home; null for the home of this member, and for an orphan. */
        @Nullable
        Peer peer;

        long meeting;
        /** Of an orphan, when it is over; {@link Turn#NEVER} for others. */
        long until = Turn.NEVER;
        /** Names its activation to the sessions. */
        long serial;
        /** The place that was told last; -1 if none was. */
        int told = -1;

        Entry(RequestId id, RequestMode mode, Owner owner, long since, long enteredAt) {
            this.id = id;
            this.mode = mode;
            this.owner = owner;
            this.since = since;
            this.enteredAt = enteredAt;
        }

        boolean isOrphan() {
            return until != Turn.NEVER;
        }

        /** It has no place in the order: it is after all others until it holds. */
        boolean isLast() {
            return mode.isSoft() && !holds;
        }

        /** Whether it is to be let in before that one, which does not hold as far as is known. */
        boolean isBefore(Entry other) {
            if (isLast() != other.isLast()) {
                return !isLast();
            }
            return ticket != null && other.ticket != null && (holds || ticket.compareTo(other.ticket) < 0);
        }

        Participant waiter(long now) {
            return participant(0, now - since);
        }

        Participant holder(long now) {
            return participant(ticket == null ? 0 : ticket.token(), now - (activeAt == Turn.NEVER ? since : activeAt));
        }

        private Participant participant(long token, long nanos) {
            return new Participant(owner, mode.mode(), 1, token, Math.max(0, nanos));
        }

        Entry copy() {
            Entry copy = new Entry(id, mode, owner, since, enteredAt);
            copy.ticket = ticket;
            copy.before = before;
            copy.holds = holds;
            copy.unsure = unsure;
            copy.active = active;
            copy.activeAt = activeAt;
            copy.asked = asked;
            copy.questioned = questioned;
            copy.peer = peer;
            copy.meeting = meeting;
            copy.until = until;
            copy.serial = serial;
            copy.told = told;
            return copy;
        }

        void encode(StateEncoder out) {
            out.value(id)
                    .value(mode)
                    .value(owner)
                    .time(since)
                    .time(enteredAt)
                    .value(ticket)
                    .value(before);
            out.put(holds)
                    .put(unsure)
                    .put(active)
                    .put(asked)
                    .put(questioned)
                    .value(peer)
                    .put(meeting)
                    .time(until)
                    .put(serial)
                    .put(told);
        }
    }

    private static final Comparator<Entry> ORDER = Comparator.comparing((Entry entry) -> !entry.holds)
            .thenComparing(Entry::isLast)
            .thenComparing(entry -> Objects.requireNonNull(entry.ticket));

    final String name;
    final TreeMap<RequestId, Entry> entries = new TreeMap<>();

    /** No writer's ticket that is not above this one is let in. */
    Ticket floor;
    /** The same of readers, who may come after one that has a greater ticket. */
    private Ticket floorOfReaders;
    /** Since when no reader is known to have been let in; NEVER while there is no soft writer. */
    private long quietSince = Turn.NEVER;

    LeaderTable(String name, Ticket floor) {
        this.name = name;
        this.floor = floor;
        this.floorOfReaders = floor;
    }

    /** Those that are let in. */
    List<Entry> active() {
        List<Entry> all = new ArrayList<>(1);
        for (Entry entry : entries.values()) {
            if (entry.active) {
                all.add(entry);
            }
        }
        return all;
    }

    /** Those that wait with a ticket, in order; who holds already before all others, and soft writers after them. */
    List<Entry> waiting() {
        List<Entry> all = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.ticket != null && !entry.active) {
                all.add(entry);
            }
        }
        all.sort(ORDER);
        return all;
    }

    /** Whose turn it is of those that wait; null if nobody does but soft writers whose time is not over. */
    @Nullable
    Entry first(long now) {
        for (Entry entry : waiting()) {
            if (!entry.isLast() || now - quietUntil(entry) >= 0) {
                return entry;
            }
        }
        return null;
    }

    /** Whether that one may hold beside all that are let in. */
    boolean fits(Entry entry) {
        for (Entry other : entries.values()) {
            if (other.active && !other.mode.goesWith(entry.mode)) {
                return false;
            }
        }
        return true;
    }

    /** Whether a greater ticket has held that excludes it. */
    boolean isLate(Entry entry) {
        Ticket least = entry.mode.isReader() ? floorOfReaders : floor;
        return entry.ticket != null && !entry.holds && entry.ticket.compareTo(least) <= 0;
    }

    /**
     * That request has held, or may have.
     *
     * @param granted when it was granted, or later
     */
    void held(Entry entry, long granted) {
        if (entry.ticket == null) {
            return;
        }
        floor = Ticket.later(floor, entry.ticket);
        if (!entry.mode.isReader()) {
            floorOfReaders = Ticket.later(floorOfReaders, entry.ticket);
        } else if (quietSince != Turn.NEVER && granted - quietSince > 0) {
            quietSince = granted;
        }
    }

    // Soft writers

    /** From the first of them on readers are looked at. */
    void watchReaders(long now) {
        boolean soft = false;
        for (Entry entry : entries.values()) {
            soft |= entry.mode.isSoft();
        }
        quietSince = !soft ? Turn.NEVER : quietSince == Turn.NEVER ? now : quietSince;
    }

    private long quietUntil(Entry soft) {
        long since = soft.since - quietSince > 0 ? soft.since : quietSince;
        return since + soft.mode.quiet();
    }

    /** Whether nobody else wants the lock, and no reader was let in for as long as that soft writer asks for. */
    boolean isDrained(Entry soft, long now) {
        for (Entry entry : entries.values()) {
            if (entry.active || !entry.mode.isSoft()) {
                return false;
            }
        }
        return now - quietUntil(soft) >= 0;
    }

    /** When the time of the next soft writer is over; NEVER if there is none. */
    private long nextQuiet(long now) {
        long next = Turn.NEVER;
        for (Entry entry : entries.values()) {
            if (entry.mode.isSoft() && !entry.active && quietUntil(entry) - now > 0) {
                next = Turn.earlier(next, quietUntil(entry));
            }
        }
        return next;
    }

    /** When time alone changes something here; {@link Turn#NEVER} if it does not. */
    long nextChange(boolean speaks, long maxTtl, long now) {
        long next = Turn.NEVER;
        boolean written = false;
        for (Entry active : active()) {
            next = Turn.earlier(next, active.until);
            written |= !active.mode.isReader();
        }
        if (written || !speaks) {
            return next;
        }
        for (Entry entry : entries.values()) {
            long at = entry.enteredAt + maxTtl; // from then on it keeps nobody waiting
            if (entry.ticket == null && now - at < 0) {
                next = Turn.earlier(next, at);
            }
        }
        return Turn.earlier(next, nextQuiet(now));
    }

    /** For administrators. */
    ParticipantList listed(long now) {
        ParticipantList all = new ParticipantList();
        active().forEach(entry -> all.add(entry.holder(now)));
        for (Entry entry : waiting()) {
            Participant waiter = entry.waiter(now);
            if (entry.isLast()) {
                all.addSoftWriter(waiter);
            } else {
                all.add(waiter);
            }
        }
        return all;
    }

    LeaderTable copy() {
        LeaderTable copy = new LeaderTable(name, floor);
        copy.floorOfReaders = floorOfReaders;
        copy.quietSince = quietSince;
        entries.forEach((id, entry) -> copy.entries.put(id, entry.copy()));
        return copy;
    }

    void encode(StateEncoder out) {
        out.put(name).value(floor).value(floorOfReaders).time(quietSince).put(entries.size());
        entries.values().forEach(entry -> entry.encode(out));
    }
}
