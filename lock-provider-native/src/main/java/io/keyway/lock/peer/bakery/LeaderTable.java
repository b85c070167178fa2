// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.Participant;
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
        final int process;
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

        Entry(RequestId id, int process, Owner owner, long since, long enteredAt) {
            this.id = id;
            this.process = process;
            this.owner = owner;
            this.since = since;
            this.enteredAt = enteredAt;
        }

        Participant participant(long token, long now) {
            return new Participant(owner, LockMode.EXCLUSIVE, 1, token, Math.max(0, now - since));
        }

        Entry copy() {
            Entry copy = new Entry(id, process, owner, since, enteredAt);
            copy.ticket = ticket;
            copy.before = before;
            copy.holds = holds;
            copy.unsure = unsure;
            copy.peer = peer;
            copy.meeting = meeting;
            copy.until = until;
            copy.serial = serial;
            copy.told = told;
            return copy;
        }

        void encode(StateEncoder out) {
            out.value(id)
                    .put(process)
                    .value(owner)
                    .time(since)
                    .time(enteredAt)
                    .value(ticket)
                    .value(before);
            out.put(holds)
                    .put(unsure)
                    .value(peer)
                    .put(meeting)
                    .time(until)
                    .put(serial)
                    .put(told);
        }
    }

    final String name;
    final TreeMap<RequestId, Entry> entries = new TreeMap<>();

    @Nullable
    Entry active;
    /** The home of the active one was asked to yield; whether it still stands. */
    boolean asked;

    boolean questioned;
    /** No ticket that is not above this one is let in. */
    Ticket floor;

    LeaderTable(String name, Ticket floor) {
        this.name = name;
        this.floor = floor;
    }

    /** Those that wait with a ticket, in order; who holds already before all others. */
    List<Entry> waiting() {
        List<Entry> all = new ArrayList<>();
        for (Entry entry : entries.values()) {
            if (entry.ticket != null && entry != active) {
                all.add(entry);
            }
        }
        all.sort(Comparator.comparing((Entry entry) -> !entry.holds)
                .thenComparing(entry -> Objects.requireNonNull(entry.ticket)));
        return all;
    }
}
