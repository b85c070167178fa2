// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.lease.NotesMessage.Note;
import io.keyway.lock.peer.lease.NotesMessage.Taken;
import io.keyway.lock.peer.lease.NotesMessage.Write;
import io.keyway.lock.peer.lease.NotesMessage.Written;
import io.keyway.lock.peer.session.Incarnation;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The clients that can hold something, as a member knows them: a member that follows has its leader's notes, and a
 * leader those of the members before it and of the clients that have come since. In memory alone: a member that
 * has started again knows none, and says that it is not complete, until a leader has given it all of its own notes.
 *
 * <p>A leader numbers its notes. What it writes to a member goes up to a number, which that member confirms; so many
 * members have noted a client as have confirmed the number of its note.
 */
final class ClientNotes {
    /** Notes in one message. */
    static final int PAGE = 256;

    /** Nothing was said yet. */
    private static final long NOTHING = -1;

    private record Entry(long number, long ttl) {}

    /** A ttl of 0: it holds nothing any more, and not all members have heard so. */
    private Map<Incarnation, Entry> notes = new LinkedHashMap<>();

    /** They are all that there ever were. */
    private boolean complete;

    // As a member that follows

    private ViewId writer = ViewId.NONE;
    private long heardTo;
    /** All notes of that leader, of which some are still to come; null if none are. */
    private @Nullable Map<Incarnation, Entry> incoming;

    // As a leader

    private final TreeMap<Long, Incarnation> byNumber = new TreeMap<>();
    /** Those of them that hold nothing. */
    private final TreeMap<Long, Incarnation> dropped = new TreeMap<>();
    /** It only rises: what members have confirmed before stands for nothing that is said later. */
    private long last;
    /** Up to where this member counts for a majority itself. */
    private long own;
    /** Up to where a majority of the present list has to know before the list may change. */
    private long base;

    private final TreeMap<String, Long> saidTo = new TreeMap<>();
    private final TreeMap<String, Long> confirmed = new TreeMap<>();
    /** What each had confirmed at the last {@link #lookAfter}. */
    private final TreeMap<String, Long> before = new TreeMap<>();
    /** The members that have answered a leader that takes over, and whether their notes are complete. */
    private final TreeMap<String, Boolean> answered = new TreeMap<>();

    // As a member that follows

    /** All notes of this member, for a leader that takes over. */
    List<Taken> answer(ViewId seat) {
        List<Taken> pages = new ArrayList<>();
        List<Note> page = new ArrayList<>();
        for (Map.Entry<Incarnation, Entry> each : notes.entrySet()) {
            if (page.size() == PAGE) {
                pages.add(new Taken(seat, page, false, complete));
                page = new ArrayList<>();
            }
            page.add(new Note(each.getKey(), each.getValue().ttl()));
        }
        pages.add(new Taken(seat, page, true, complete));
        return pages;
    }

    /** Notes what that leader writes, and returns the answer; null if more is to come, or something is missing. */
    @Nullable
    Written heard(Write said) {
        if (said.from() == 0) {
            writer = said.seat();
            incoming = said.complete() ? new LinkedHashMap<>() : null;
        } else if (!said.seat().equals(writer) || said.from() != heardTo) {
            return null;
        }
        heardTo = said.to();
        Map<Incarnation, Entry> into = incoming == null ? notes : incoming;
        for (Note note : said.notes()) {
            if (note.ttl() == 0) {
                into.remove(note.client());
            } else if (said.complete()) {
                into.put(note.client(), new Entry(0, note.ttl()));
            } else {
                keepLonger(into, note);
            }
        }
        if (incoming != null && said.last()) {
            notes = incoming;
            incoming = null;
            complete = true;
        }
        return incoming == null ? new Written(said.seat(), said.to()) : null;
    }

    // As a leader that takes over

    /** This member leads from now on, and knows of the members before it what it has noted itself. */
    void takes(String self) {
        begin();
        answered.put(self, complete);
    }

    private void begin() {
        incoming = null;
        writer = ViewId.NONE;
        byNumber.clear();
        dropped.clear();
        own = NOTHING;
        saidTo.clear();
        confirmed.clear();
        before.clear();
        answered.clear();
    }

    /** What a member has noted. */
    void took(String member, Taken said) {
        for (Note note : said.notes()) {
            if (note.ttl() != 0) {
                keepLonger(notes, note);
            }
        }
        if (said.last()) {
            answered.put(member, said.complete());
        }
    }

    private static void keepLonger(Map<Incarnation, Entry> into, Note note) {
        Entry known = into.get(note.client());
        if (known == null || known.ttl() < note.ttl()) {
            into.put(note.client(), new Entry(0, note.ttl()));
        }
    }

    boolean hasAnswered(String member) {
        return answered.containsKey(member);
    }

    /** Whether those members have answered. */
    boolean haveAnswered(List<String> members) {
        return answered.keySet().containsAll(members);
    }

    /** Whether all notes of a majority of those members are here; a variant counts those that have none, too. */
    boolean areTaken(List<String> members, boolean heedsLoss) {
        int count = 0;
        for (String member : members) {
            Boolean whole = answered.get(member);
            count += whole != null && (whole || !heedsLoss) ? 1 : 0;
        }
        return 2 * count > members.size();
    }

    /** What is here is all that there is: so are its clients from now on, each with its ttl. */
    Map<Incarnation, Long> areAll() {
        List<Map.Entry<Incarnation, Entry>> all = List.copyOf(notes.entrySet());
        Map<Incarnation, Long> clients = new LinkedHashMap<>();
        begin();
        complete = true;
        notes.clear();
        for (Map.Entry<Incarnation, Entry> each : all) {
            if (each.getValue().ttl() != 0) {
                clients.put(each.getKey(), each.getValue().ttl());
                number(each.getKey(), each.getValue().ttl());
            }
        }
        listed();
        return clients;
    }

    /** Another list counts from now on. */
    void listed() {
        base = last;
    }

    /** It is not known which clients can hold something. */
    void areLost() {
        begin();
        notes.clear();
        complete = false;
    }

    boolean areComplete() {
        return complete;
    }

    // As a leader

    /** That client can hold something with that ttl. */
    void note(Incarnation client, long ttl) {
        Entry known = notes.get(client);
        if (known == null || known.number() == 0 || known.ttl() < ttl) {
            number(client, known == null ? ttl : Math.max(ttl, known.ttl()));
        }
    }

    /** That client is noted with this ttl from now on, be it longer or shorter; 0 if it holds nothing any more. */
    void set(Incarnation client, long ttl) {
        if (ttl != ttl(client)) {
            number(client, ttl);
        }
    }

    private void number(Incarnation client, long ttl) {
        Entry former = notes.put(client, new Entry(++last, ttl));
        if (former != null) {
            byNumber.remove(former.number());
            dropped.remove(former.number());
        }
        byNumber.put(last, client);
        if (ttl == 0) {
            dropped.put(last, client);
        }
    }

    /** All clients except those hold nothing any more. */
    void keep(Set<Incarnation> kept) {
        for (Incarnation client : List.copyOf(notes.keySet())) {
            if (!kept.contains(client)) {
                set(client, 0);
            }
        }
    }

    /** The ttl by which that client is noted here; 0 if it is not. */
    long ttl(Incarnation client) {
        Entry known = notes.get(client);
        return known == null || known.number() == 0 ? 0 : known.ttl();
    }

    /** What that member has not been sent yet. */
    List<Write> unsaid(String member, ViewId seat) {
        long from = saidTo.getOrDefault(member, NOTHING);
        if (from == last) {
            return List.of();
        }
        List<Write> pages = new ArrayList<>();
        List<Note> page = new ArrayList<>();
        long to = Math.max(0, from);
        long first = to;
        for (Map.Entry<Long, Incarnation> each : byNumber.tailMap(to, false).entrySet()) {
            if (page.size() == PAGE) {
                pages.add(new Write(seat, first, to, page, false, complete));
                page = new ArrayList<>();
                first = to;
            }
            to = each.getKey();
            Entry entry = notes.get(each.getValue());
            page.add(new Note(each.getValue(), entry == null ? 0 : entry.ttl()));
        }
        pages.add(new Write(seat, first, last, page, true, complete));
        saidTo.put(member, last);
        return pages;
    }

    void confirmed(String member, Written said) {
        confirmed.merge(member, said.to(), Math::max);
    }

    /** Whether those members have confirmed all. */
    boolean areWith(List<String> members) {
        boolean all = true;
        for (String member : members) {
            all &= confirmed.getOrDefault(member, NOTHING) == last;
        }
        return all;
    }

    /** What was said to that member is lost, or may be. */
    void sayAgain(String member) {
        saidTo.remove(member);
        confirmed.remove(member);
        before.remove(member);
    }

    /** To be called now and then: a member that has confirmed nothing since the last time is sent all notes again. */
    void lookAfter(String member) {
        long now = confirmed.getOrDefault(member, NOTHING);
        Long then = before.put(member, now);
        if (then != null && then == now && now != last) {
            sayAgain(member);
        }
    }

    /** This member counts for a majority. */
    void counts() {
        own = last;
    }

    /** Forgets those that hold nothing, when all of those members have. */
    void forget(List<String> members, String self) {
        if (dropped.isEmpty()) {
            return;
        }
        long all = last;
        for (String member : members) {
            if (member.equals(self) || saidTo.containsKey(member)) { // the others are sent all notes when they are back
                all = Math.min(all, confirmed(member, self));
            }
        }
        Map<Long, Incarnation> over = dropped.headMap(all, true);
        over.forEach((number, client) -> {
            notes.remove(client);
            byNumber.remove(number);
        });
        over.clear();
    }

    private long confirmed(String member, String self) {
        return member.equals(self) ? own : confirmed.getOrDefault(member, NOTHING);
    }

    /** Up to which number a majority of those members has confirmed. */
    long majority(List<String> members, String self) {
        long[] all = new long[members.size()];
        for (int i = 0; i < all.length; i++) {
            all[i] = confirmed(members.get(i), self);
        }
        Arrays.sort(all);
        return all.length == 0 ? NOTHING : all[(all.length - 1) / 2];
    }

    /** Whether that client is noted with that ttl by those who have confirmed that number. */
    boolean isNoted(Incarnation client, long ttl, long number) {
        Entry known = notes.get(client);
        return known != null && known.number() != 0 && known.ttl() >= ttl && known.number() <= number;
    }

    /** Whether a majority of those members has all that was noted before they were the list. */
    boolean areSettled(List<String> members, String self) {
        return complete && majority(members, self) >= base;
    }

    ClientNotes copy() {
        ClientNotes copy = new ClientNotes();
        copy.notes.putAll(notes);
        copy.complete = complete;
        copy.writer = writer;
        copy.heardTo = heardTo;
        copy.incoming = incoming == null ? null : new LinkedHashMap<>(incoming);
        copy.byNumber.putAll(byNumber);
        copy.dropped.putAll(dropped);
        copy.last = last;
        copy.own = own;
        copy.base = base;
        copy.saidTo.putAll(saidTo);
        copy.confirmed.putAll(confirmed);
        copy.before.putAll(before);
        copy.answered.putAll(answered);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(notes).put(complete).value(writer).put(heardTo).value(incoming);
        out.put(last)
                .put(own)
                .put(base)
                .value(saidTo)
                .value(confirmed)
                .value(before)
                .value(answered);
    }
}
