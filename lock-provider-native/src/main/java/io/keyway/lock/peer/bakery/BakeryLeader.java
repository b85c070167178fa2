// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.bakery.BakeryMessage.Activated;
import io.keyway.lock.peer.bakery.BakeryMessage.AddTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.Answer;
import io.keyway.lock.peer.bakery.BakeryMessage.Begin;
import io.keyway.lock.peer.bakery.BakeryMessage.DropTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.End;
import io.keyway.lock.peer.bakery.BakeryMessage.Entered;
import io.keyway.lock.peer.bakery.BakeryMessage.Entering;
import io.keyway.lock.peer.bakery.BakeryMessage.Leading;
import io.keyway.lock.peer.bakery.BakeryMessage.Look;
import io.keyway.lock.peer.bakery.BakeryMessage.OfRequest;
import io.keyway.lock.peer.bakery.BakeryMessage.Question;
import io.keyway.lock.peer.bakery.BakeryMessage.Refused;
import io.keyway.lock.peer.bakery.BakeryMessage.Relinquished;
import io.keyway.lock.peer.bakery.BakeryMessage.Reserved;
import io.keyway.lock.peer.bakery.BakeryMessage.Seen;
import io.keyway.lock.peer.bakery.BakeryMessage.Stands;
import io.keyway.lock.peer.bakery.BakeryMessage.TicketAdded;
import io.keyway.lock.peer.bakery.BakeryMessage.Yield;
import io.keyway.lock.peer.bakery.LeaderHomes.Home;
import io.keyway.lock.peer.bakery.LeaderTable.Entry;
import io.keyway.lock.peer.bakery.LeaderTable.RequestId;
import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage;
import io.keyway.lock.peer.service.LockNotice;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.peer.service.Promising;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A leader of the bakery: the tickets of all locks as this member knows them, and whom it lets in. Homes
 * ({@link BakeryHome}) ask it for their clients. docs/algorithms/bakery.md numbers where it departs from the source,
 * and says which action of docs/models/Activation.tla is which method.
 *
 * <p><b>States of the leader.</b> <i>Without a seat</i>, by the latest view that this member knows
 * ({@link io.keyway.lock.peer.election.Election}): it hears nothing. <i>Silent</i>: it has started anew, or has just
 * got its seat, and somebody may count what its former life, or the former leader, has said; it hears and answers
 * nothing. <i>Speaking</i>.
 *
 * <p><b>States of a request.</b> <i>Entering</i>: it has no ticket yet. <i>Ticketed</i>: it waits, in the order of
 * tickets; soft writers after all others. <i>Active</i>: this leader lets it in, and nobody whom it excludes.
 * <i>Orphaned</i>, of an active one: the session with its home is over, and somebody may hold by it until a time.
 *
 * <p><b>Messages</b> ({@link BakeryMessage}). ENTERING is answered by ENTERED, ADDTICKET by ACTIVATED, TICKETADDED or
 * REFUSED, now or later. DROPTICKET ends a request, RELINQUISHED an activation. BEGIN to END say all that a home asks
 * for, at each beginning of a session. YIELD and QUESTION ask the home of an active request for RELINQUISHED and
 * STANDS.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>B1. One writer of a lock is active at most, or readers and no writer, each until its home drops it or gives it
 *       back, or was not heard for {@link #VOTE} times the longest lease, by which time nobody counts it.
 *   <li>B2. The smallest ticket that waits is let in, and none over the head of one that excludes it and was entering
 *       before it; so no reader passes a writer. This is for order; nobody's safety depends on it.
 *   <li>A soft writer is let in when nobody else is known here, and gives way to whoever comes before it holds.
 *   <li>B4. What a home has dropped, or does not say again, is over here. Messages of a session come in order, and
 *       those of an earlier session never after those of a later one.
 *   <li>B5. A leader that starts again is silent until nothing that its former lives have said is counted: a life that
 *       is quarantined at its start for one of the longest leases more than that.
 *   <li>V3. A leader that has got a seat is silent until nothing that the former one has said is counted, which is two
 *       leases after the view was elected by which it got it. That it has spoken in its seat is on its disk: a life
 *       that finds itself with a seat in which none has spoken is silent as if it had got it now. It hears homes that
 *       know of its seat, and only those.
 *   <li>V6. It lets no ticket in above what a majority of the members has recorded, and begins above what was recorded
 *       when it got its seat.
 *   <li>It serves the homes of its latest view, and takes a new ticket under the number alone that its home has there.
 *       So of two members that have had one number, the later one draws above all that the former was let in with.
 *   <li>Tokens rise: a ticket is refused that is not above all that exclude it, have held here and were forgotten; for
 *       a new life, above all of the former ones, which a record on disk bounds. The one exception holds already.
 * </ul>
 */
class BakeryLeader implements Machine, Promising {
    /** How many tickets one record reserves. */
    static final long BLOCK = 1 << 20;

    /** For so many of the longest leases an activation stands after its home was heard for the last time. */
    static final int VOTE = 2;

    private static final int LAPSES = 0;
    private static final int SPEAKS = 1;
    private static final int SEATED = 2;
    /** How many of the first in a queue are told each change of their place. */
    private static final int TOLD = 16;

    private LeaderHomes homes = new LeaderHomes();
    private final TreeMap<String, LeaderTable> tables = new TreeMap<>();
    /** Of locks that nobody asks for. */
    private Ticket floor = new Ticket(0, 0);

    private long high;
    private long reserved;
    private String self = "";
    /** Nobody counts what former lives have said. */
    private boolean open;
    /** The view by which this member has got its seat; NONE if it has none. */
    private ViewId tenure = ViewId.NONE;
    /** The view since which it has the seat in which it spoke last, in this life or a former one. */
    private ViewId spoken = ViewId.NONE;
    /** When nobody counts what the former leader has said; NEVER if that is so. */
    private long seated = Turn.NEVER;

    private boolean speaks;
    private long serials;
    /** No ticket above this one is let in: so far a majority has recorded tickets. */
    private long bound;
    /** What it has asked for. */
    private long wanted;

    // What an unsafe variant does in another way

    /** Whether an active request keeps out all that it excludes. */
    boolean isExclusive() {
        return true;
    }

    /** Who is let in next; null if nobody is. */
    @Nullable
    Entry next(LeaderTable table, Turn turn) {
        Entry first = table.first(turn.now());
        boolean fits = first != null && (table.fits(first) || !isExclusive());
        if (first == null || !fits || (first.isLast() && !table.isDrained(first, turn.now()))) {
            return null;
        }
        if (first.ticket != null && first.ticket.stamp() > bound && !first.holds) {
            turn.goal(BakeryGoal.WAITED_FOR_A_RECORD);
            return null;
        }
        for (RequestId id : first.before) {
            Entry entering = table.entries.get(id);
            boolean lately = entering != null
                    && turn.now() - entering.enteredAt < turn.member().maxTtl();
            if (entering != null && entering.ticket == null && lately && !first.holds) {
                turn.goal(BakeryGoal.WAITED_FOR_AN_ENTERING);
                return null;
            }
        }
        return first;
    }

    /** Whether what a home does not say again is over. */
    boolean forgetsWhatIsOver() {
        return true;
    }

    /** Whether a life heeds that none has spoken in the seat with which it finds itself. */
    boolean heedsSilences() {
        return true;
    }

    /** Whether nobody can count what former lives have said, as far as the member knows. */
    boolean maySpeak(Turn turn) {
        return !turn.member().quarantined();
    }

    /** For how long it is silent after the quarantine of its member. */
    long silence(Turn turn) {
        return (VOTE - 1) * turn.member().maxTtl();
    }

    /** For how long it is silent when it has got the seat of another one. */
    long silenceOfSeat(Turn turn) {
        return 2 * turn.member().quarantine();
    }

    /** Whether it takes a ticket under the number alone that its home has by the latest view. */
    boolean heedsNumbers() {
        return true;
    }

    /** Whether what is let in stays when its home is a member no more. */
    boolean keepsRemoved() {
        return true;
    }

    /** What a leader that has got a seat does not let in. */
    long floorOfSeat(long recorded) {
        return recorded;
    }

    /** What a new life does not let in. */
    long floor(long inherited) {
        return inherited;
    }

    // Messages

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof Look look) {
            for (ParticipantList.Part part : listed(look.name(), turn).parts()) {
                Seen seen = new Seen(
                        look.number(), part.holders(), part.waiters(), part.softWriters(), part.more(), part.last());
                turn.send(from, seen);
            }
        } else if (message instanceof BakeryMessage.ToLeader said) { // no client speaks for a member
            heard(turn.peers().member(from), from, said, turn);
        }
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof BakeryCall.Said said && said.message() instanceof BakeryMessage.ToLeader message) {
            heard(self, null, message, turn);
        } else if (call instanceof BakeryCall.Show show) {
            show(show.show(), turn);
        } else if (call instanceof MemberView.Expired expired) {
            expired(expired, turn);
        } else if (call instanceof MemberView.SessionEnded ended) {
            sessionEnded(ended.peer(), turn);
        } else if (call instanceof PeerView.PeerUp up) {
            if (!tenure.equals(ViewId.NONE)) {
                turn.peers().send(up.member(), new Leading(tenure, high));
            }
            answerAgain(up.member(), turn);
        } else if (call instanceof MemberView.Restored restored) {
            Reserved record = (Reserved) restored.record();
            reserved = record.ticket();
            spoken = record.since();
        } else if (call instanceof MemberView.Started) {
            start(turn);
        } else if (call instanceof MemberView.Opening) {
            turn.timer(SPEAKS, turn.now() + (turn.member().isFirstUse() ? 0 : silence(turn)));
        } else if (call instanceof ElectionCall.Elected elected) {
            elected(elected, turn);
        } else if (call instanceof ElectionCall.Recorded recorded) {
            bound = Math.max(bound, recorded.bound());
            settleAll(turn);
        }
        armLapses(turn);
    }

    private void start(Turn turn) {
        PeerView peers = turn.peers();
        self = peers.self();
        high = Math.max(floor(reserved), Ticket.ofEpoch(turn.member().epoch()));
        floor = new Ticket(high, Ticket.MAX_PROCESS);
        peers.watch(BakeryKeys.LEADER);
        open = maySpeak(turn);
        if (!open) {
            turn.member().awaitOpening(BakeryKeys.LEADER);
        }
    }

    private void elected(ElectionCall.Elected elected, Turn turn) {
        View view = elected.view();
        ViewId since = view.since(self);
        List<String> anew = list(view, turn);
        if (since.equals(tenure)) {
            if (!since.equals(ViewId.NONE)) { // so that who has got a seat does not refuse what is drawn from now on
                high = Math.max(high, floorOfSeat(elected.recorded()));
                sayLeading(anew, turn);
                settleAll(turn);
            }
            return;
        }
        if (!tenure.equals(ViewId.NONE)) {
            turn.goal(BakeryGoal.UNSEATED);
        }
        tenure = since;
        speaks = false;
        seated = Turn.NEVER;
        for (LeaderTable table : List.copyOf(tables.values())) {
            List.copyOf(table.entries.values()).forEach(entry -> drop(table, entry, turn));
            settle(table, turn);
        }
        homes.unmeet();
        turn.timer(SEATED, Turn.NEVER);
        if (since.equals(ViewId.NONE)) {
            if (!spoken.equals(since)) {
                spoken = since; // the view without it may never count, and it have its seat again
                record(high, turn);
            }
            return;
        }
        high = Math.max(high, floorOfSeat(elected.recorded()));
        floor = Ticket.later(floor, new Ticket(high, Ticket.MAX_PROCESS));
        boolean isFirst = view.first() && !elected.restored();
        boolean mayBeCounted = !isFirst && !since.equals(spoken) && (heedsSilences() || !elected.restored());
        if (mayBeCounted && silenceOfSeat(turn) > 0) {
            turn.goal(BakeryGoal.SEATED);
            seated = turn.now() + silenceOfSeat(turn);
        }
        turn.timer(SEATED, seated);
        sayLeading(homes.listed(), turn);
        speak(turn);
    }

    /**
     * What waits of a home that has another number now, or none, is over. What it holds stays until it says something
     * else, or is not heard.
     *
     * @return those that have to begin anew
     */
    private List<String> list(View view, Turn turn) {
        List<String> anew = new ArrayList<>();
        for (Home home : homes.renumbered(view)) {
            for (LeaderTable table : List.copyOf(tables.values())) {
                for (Entry entry : List.copyOf(table.entries.values())) {
                    if (entry.id.member().equals(home.member) && (!entry.active || !keepsRemoved())) {
                        turn.goal(BakeryGoal.RENUMBERED);
                        drop(table, entry, turn);
                    }
                }
                settle(table, turn);
            }
            if (home.process > 0) {
                anew.add(home.member);
            }
        }
        return anew;
    }

    private void sayLeading(List<String> members, Turn turn) {
        Leading leading = new Leading(tenure, high);
        for (String member : members) {
            if (member.equals(self)) {
                turn.call(BakeryKeys.HOME, new BakeryCall.Said(leading));
            } else {
                turn.peers().send(member, leading);
            }
        }
    }

    /** If it may. */
    private void speak(Turn turn) {
        if (speaks || !open || tenure.equals(ViewId.NONE) || seated != Turn.NEVER) {
            return;
        }
        speaks = true;
        if (!spoken.equals(tenure)) {
            spoken = tenure;
            record(high, turn);
        }
        reserve(turn);
        for (LeaderTable table : List.copyOf(tables.values())) {
            table.entries.values().forEach(entry -> answerEntering(entry, turn));
            settle(table, turn);
        }
    }

    private void record(long ticket, Turn turn) {
        reserved = Math.max(reserved, ticket);
        turn.force(new Reserved(reserved, spoken));
    }

    private void settleAll(Turn turn) {
        reserve(turn);
        List.copyOf(tables.values()).forEach(table -> settle(table, turn));
    }

    /** Early enough that no ticket waits for it. */
    private void reserve(Turn turn) {
        if (speaks && high + BLOCK / 2 > wanted) {
            wanted = high + BLOCK;
            turn.call(BakeryKeys.ELECTION, new ElectionCall.Reserve(wanted));
        }
    }

    private void heard(String member, @Nullable Peer from, BakeryMessage.ToLeader message, Turn turn) {
        Home home = homes.get(member);
        if (home == null) {
            return;
        }
        if (!speaks) {
            turn.goal(BakeryGoal.ASKED_WHILE_SILENT);
        }
        if (message instanceof Begin begin) {
            home.met = home.process > 0
                    && !tenure.equals(ViewId.NONE)
                    && begin.since().equals(tenure);
            home.life = begin.life();
            home.meeting = begin.meeting();
            home.peer = from;
        } else if (message instanceof End && home.met && forgetsWhatIsOver()) {
            ended(member, home, turn);
        } else if (message instanceof OfRequest said && (home.met || said instanceof DropTicket)) {
            asked(member, home, said, turn);
        }
        armLapses(turn);
    }

    private void asked(String member, Home home, OfRequest said, Turn turn) {
        RequestId id = new RequestId(member, home.life, said.number());
        if (said instanceof Entering entering) {
            LeaderTable table = tables.computeIfAbsent(said.name(), name -> new LeaderTable(name, floor));
            Entry entry = entry(table, id, home, entering.mode(), entering.owner(), entering.waited(), turn);
            answerEntering(entry, turn);
        } else if (said instanceof AddTicket add) {
            addTicket(id, home, add, turn);
        }
        LeaderTable table = tables.get(said.name());
        Entry entry = table == null ? null : table.entries.get(id);
        if (table == null || entry == null) {
            return;
        }
        if (said instanceof DropTicket drop) {
            if (drop.held() != DropTicket.NEVER_HELD) {
                table.held(entry, turn.now() - drop.held());
            }
            drop(table, entry, turn);
        } else if (said instanceof Relinquished && entry.active) {
            deactivate(entry, turn);
        } else if (said instanceof Stands && entry.active) {
            entry.questioned = false;
            tellHeld(table, turn);
        }
        settle(table, turn);
    }

    /** The entry of that request, bound to the session by which it was said last. */
    private Entry entry(
            LeaderTable table, RequestId id, Home home, RequestMode mode, Owner owner, long waited, Turn turn) {
        Entry entry = table.entries.get(id);
        if (entry == null) {
            entry = new Entry(id, mode, owner, turn.now() - Math.max(0, waited), turn.now());
            table.entries.put(id, entry);
        }
        if (home.peer != null && !home.peer.equals(entry.peer)) {
            entry.peer = home.peer;
            turn.member().await(home.peer, BakeryKeys.LEADER, patience(turn));
            if (entry.active) {
                turn.goal(BakeryGoal.TAKEN_UP_AGAIN);
                turn.member().grant(home.peer, BakeryKeys.LEADER, entry.serial, vote(turn));
            }
        }
        if (entry.meeting != home.meeting) { // The home has begun anew: what it was asked before is not heeded.
            entry.asked = false;
            entry.questioned = false;
        }
        entry.until = Turn.NEVER;
        entry.meeting = home.meeting;
        return entry;
    }

    private boolean isActive(String name, RequestId id) {
        LeaderTable table = tables.get(name);
        Entry entry = table == null ? null : table.entries.get(id);
        return entry != null && entry.active;
    }

    private void addTicket(RequestId id, Home home, AddTicket add, Turn turn) {
        boolean stands = add.holds() || isActive(add.name(), id); // and so was drawn under a number that it had then
        if (add.process() != home.process && !stands && heedsNumbers()) {
            return; // one of us does not know the latest list: it asks anew when it does, or when I do
        }
        if (add.ticket() < 1 || add.ticket() > Ticket.MAX_STAMP - BLOCK || add.process() < 1) {
            String text = id.member() + " has drawn the ticket " + add.ticket() + ", which none can; it is not let in";
            turn.tell(new LockNotice.Alarm(BakeryKeys.LEADER, text));
            return;
        }
        high = Math.max(high, add.ticket());
        reserve(turn);
        if (high > reserved) {
            turn.goal(BakeryGoal.TICKETS_RESERVED);
            record(high + BLOCK, turn);
        }
        LeaderTable table = tables.computeIfAbsent(add.name(), name -> new LeaderTable(name, floor));
        Entry entry = entry(table, id, home, add.mode(), add.owner(), add.age(), turn);
        entry.holds = add.holds();
        if (entry.ticket == null) {
            Ticket ticket = new Ticket(add.ticket(), add.process());
            Set<RequestId> before = new TreeSet<>();
            for (Entry other : table.entries.values()) {
                boolean counts = other != entry && !other.mode.isSoft() && !other.mode.goesWith(entry.mode);
                if (counts && other.ticket == null) {
                    before.add(other.id);
                } else if (other.ticket != null && other.ticket.stamp() == ticket.stamp()) {
                    turn.goal(BakeryGoal.EQUAL_TICKETS);
                }
            }
            entry.ticket = ticket;
            entry.before = before;
            entry.unsure = add.asks();
            if (add.holds()) {
                turn.goal(BakeryGoal.HOLDER_TOLD_ANEW);
            }
        } else if (entry.active) {
            answer(entry, new Activated(entry.meeting, entry.id.number()), turn);
        }
        entry.told = -1;
    }

    /** All that a home asks for was said: nothing else of this life of it stands. */
    private void ended(String member, Home home, Turn turn) {
        for (LeaderTable table : List.copyOf(tables.values())) {
            for (Entry entry : List.copyOf(table.entries.values())) {
                boolean ofIt = entry.id.member().equals(member) && entry.id.life() == home.life;
                if (ofIt && entry.meeting != home.meeting) {
                    turn.goal(BakeryGoal.NOT_SAID_AGAIN);
                    table.held(entry, turn.now()); // or may have
                    drop(table, entry, turn);
                }
            }
            settle(table, turn);
        }
    }

    // Who is let in

    private static long vote(Turn turn) {
        return VOTE * turn.member().maxTtl();
    }

    /** The session outlives what it has to end. */
    private static long patience(Turn turn) {
        return vote(turn) + turn.member().maxTtl();
    }

    /** A table has changed: refuses, lets in, asks, tells places, and forgets it if nobody is left. */
    private void settle(LeaderTable table, Turn turn) {
        table.watchReaders(turn.now());
        if (speaks) {
            refuseLate(table, turn);
            for (Entry next = next(table, turn); next != null; next = next(table, turn)) {
                reached(table, next, turn);
                activate(next, turn);
            }
            askToYield(table, turn);
            askWhetherHeld(table, turn);
            tellPlaces(table, turn);
        }
        if (table.entries.isEmpty()) {
            floor = Ticket.later(floor, table.floor);
            tables.remove(table.name);
        }
    }

    private static void reached(LeaderTable table, Entry next, Turn turn) {
        if (next.mode.isReader() && !table.active().isEmpty()) {
            turn.goal(BakeryGoal.LET_IN_BESIDE);
        } else if (next.isLast() && turn.now() - next.enteredAt > 0) {
            turn.goal(BakeryGoal.DRAINED);
        }
    }

    private void refuseLate(LeaderTable table, Turn turn) {
        for (Entry entry : table.waiting()) {
            if (!table.isLate(entry) || (entry.isLast() && !table.isDrained(entry, turn.now()))) {
                continue; // whoever is after all others draws when nobody is before it
            }
            turn.goal(BakeryGoal.REFUSED);
            answer(entry, new Refused(entry.meeting, entry.id.number()), turn);
            if (entry.mode.isSoft()) {
                turn.goal(BakeryGoal.SOFT_DREW_AGAIN);
                entry.ticket = null; // its home asks again before it drops this one, so that readers stay watched
            } else {
                drop(table, entry, turn);
            }
        }
    }

    private void activate(Entry entry, Turn turn) {
        entry.active = true;
        entry.activeAt = turn.now();
        entry.asked = false;
        entry.questioned = false;
        entry.unsure = false;
        entry.serial = ++serials;
        if (entry.peer != null) {
            turn.member().grant(entry.peer, BakeryKeys.LEADER, entry.serial, vote(turn));
        }
        answer(entry, new Activated(entry.meeting, entry.id.number()), turn);
    }

    private static void deactivate(Entry entry, Turn turn) {
        entry.active = false;
        entry.asked = false;
        entry.questioned = false;
        if (entry.peer != null) {
            turn.member().ungrant(entry.peer, BakeryKeys.LEADER, entry.serial, vote(turn));
        }
    }

    private static void drop(LeaderTable table, Entry entry, Turn turn) {
        if (entry.active) {
            deactivate(entry, turn);
        }
        if (entry.peer != null) {
            turn.member().unawait(entry.peer, BakeryKeys.LEADER, patience(turn));
        }
        table.entries.remove(entry.id);
    }

    /** Those that are let in and exclude the first that waits, and are after it. */
    private void askToYield(LeaderTable table, Turn turn) {
        Entry first = table.first(turn.now());
        if (first == null || first.ticket == null) {
            return;
        }
        for (Entry active : table.active()) {
            boolean mayBe = !active.asked && !active.isOrphan() && !active.mode.goesWith(first.mode);
            if (mayBe && first.isBefore(active)) {
                if (active.isLast() && !first.isLast()) {
                    turn.goal(BakeryGoal.SOFT_GAVE_WAY);
                }
                active.asked = true;
                answer(active, new Yield(active.meeting, active.id.number()), turn);
            }
        }
    }

    /**
     * Whoever asks only whether it can have the lock hears so when the home of one that is let in has said that that
     * is not over: a release that was made before the question counts, wherever it was made.
     */
    private void askWhetherHeld(LeaderTable table, Turn turn) {
        List<Entry> active = table.active();
        boolean questions = false;
        for (Entry entry : table.waiting()) {
            if (entry.unsure && !active.isEmpty()) {
                for (Entry each : active) {
                    entry.unsure &= !each.isOrphan() && !entry.id.member().equals(each.id.member());
                }
                questions |= entry.unsure;
            }
        }
        for (Entry each : active) {
            questions &= !each.questioned;
        }
        if (questions) {
            turn.goal(BakeryGoal.QUESTIONED);
            Entry first = active.get(0);
            first.questioned = true;
            answer(first, new Question(first.meeting, first.id.number()), turn);
        }
    }

    private void tellHeld(LeaderTable table, Turn turn) {
        for (Entry entry : table.waiting()) {
            entry.unsure = false;
        }
        tellPlaces(table, turn);
    }

    private void tellPlaces(LeaderTable table, Turn turn) {
        List<Entry> active = table.active();
        if (active.isEmpty()) {
            return;
        }
        int ahead = 0;
        for (Entry entry : table.waiting()) {
            int place = entry.isLast() ? 0 : ahead; // a soft writer has none
            if (entry.mode.isReader() && active.get(0).mode.isReader()) {
                turn.goal(BakeryGoal.WAITED_BEHIND_A_WRITER);
            }
            if (!entry.unsure && entry.told != place && (place < TOLD || entry.told < 0)) {
                entry.told = place;
                Participant holder = active.get(0).holder(turn.now());
                answer(entry, new TicketAdded(entry.meeting, entry.id.number(), place, holder), turn);
            }
            ahead++;
        }
    }

    // Answers

    private void answerEntering(Entry entry, Turn turn) {
        if (entry.ticket == null) {
            answer(entry, new Entered(entry.meeting, entry.id.number(), high), turn);
        }
    }

    private void answer(Entry entry, Answer answer, Turn turn) {
        Home home = homes.get(entry.id.member());
        if (!speaks || entry.isOrphan() || home == null || home.life != entry.id.life()) {
            return;
        }
        if (entry.id.member().equals(self)) {
            turn.call(BakeryKeys.HOME, new BakeryCall.Said(answer));
        } else {
            turn.peers().send(entry.id.member(), answer);
        }
    }

    /** What was answered last to that member may be lost. */
    private void answerAgain(String member, Turn turn) {
        for (LeaderTable table : List.copyOf(tables.values())) {
            for (Entry entry : table.entries.values()) {
                if (entry.id.member().equals(member)) {
                    answerEntering(entry, turn);
                    entry.told = -1;
                    if (entry.active) {
                        entry.asked = false;
                        entry.questioned = false;
                        answer(entry, new Activated(entry.meeting, entry.id.number()), turn);
                    }
                }
            }
            settle(table, turn);
        }
    }

    // Who is not heard

    /** Its home was not heard for so long that nobody can hold by this leader. */
    private void expired(MemberView.Expired expired, Turn turn) {
        for (LeaderTable table : List.copyOf(tables.values())) {
            for (Entry active : table.active()) {
                if (expired.peer().equals(active.peer) && active.serial == expired.token()) {
                    lapsed(table, active, turn);
                }
            }
        }
    }

    private void lapsed(LeaderTable table, Entry active, Turn turn) {
        turn.goal(BakeryGoal.LAPSED);
        table.held(active, turn.now()); // or may have
        answer(active, new Refused(active.meeting, active.id.number()), turn); // before any echo by which it counts
        drop(table, active, turn);
        settle(table, turn);
    }

    private void sessionEnded(Peer peer, Turn turn) {
        for (LeaderTable table : List.copyOf(tables.values())) {
            for (Entry entry : List.copyOf(table.entries.values())) {
                if (!peer.equals(entry.peer)) {
                    continue;
                }
                entry.peer = null;
                if (entry.active) {
                    turn.goal(BakeryGoal.ORPHANED);
                    entry.until = turn.now() + vote(turn);
                    turn.member().keep(entry.until);
                } else {
                    table.entries.remove(entry.id);
                }
            }
            settle(table, turn);
        }
    }

    private void armLapses(Turn turn) {
        long next = Turn.NEVER;
        for (LeaderTable table : tables.values()) {
            next = Turn.earlier(next, table.nextChange(speaks, turn.member().maxTtl(), turn.now()));
        }
        turn.timer(LAPSES, next);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == SPEAKS) {
            open = true;
            speak(turn);
        } else if (slot == SEATED) {
            seated = Turn.NEVER;
            speak(turn);
        } else {
            for (LeaderTable table : List.copyOf(tables.values())) {
                for (Entry active : table.active()) {
                    if (Turn.due(active.until, turn.now())) {
                        lapsed(table, active, turn);
                    }
                }
                settle(table, turn);
            }
        }
        armLapses(turn);
    }

    // Administrators

    private ParticipantList listed(String name, Turn turn) {
        LeaderTable table = tables.get(name);
        return table == null ? new ParticipantList() : table.listed(turn.now());
    }

    private void show(HomeCall.Show show, Turn turn) {
        for (ParticipantList.Part part : listed(show.name(), turn).parts()) {
            LockMessage.Status status = new LockMessage.Status(
                    BakeryKeys.lock(show.name()),
                    show.request(),
                    part.holders(),
                    part.waiters(),
                    part.softWriters(),
                    0,
                    0,
                    part.more(),
                    part.last());
            turn.send(show.peer(), status);
        }
    }

    // State

    /** It lets somebody in, who may hold by that when this life is over. */
    @Override
    public boolean hasPromised() {
        boolean letsIn = false;
        for (LeaderTable table : tables.values()) {
            letsIn |= !table.active().isEmpty();
        }
        return letsIn || (!speaks && !tenure.equals(ViewId.NONE));
    }

    /** The locks that somebody asks for. */
    Collection<LeaderTable> tables() {
        return tables.values();
    }

    /** Whom it lets in. */
    List<RequestId> active(String name) {
        List<RequestId> all = new ArrayList<>();
        LeaderTable table = tables.get(name);
        if (table != null) {
            table.active().forEach(entry -> all.add(entry.id));
        }
        return all;
    }

    boolean speaks() {
        return speaks;
    }

    ViewId tenure() {
        return tenure;
    }

    /** Never: the tickets that it has seen are not to be forgotten. */
    @Override
    public boolean atRest() {
        return false;
    }

    /** A leader of the same kind, for {@link #copy}. */
    BakeryLeader fresh() {
        return new BakeryLeader();
    }

    @Override
    public BakeryLeader copy() {
        BakeryLeader copy = fresh();
        copy.homes = homes.copy();
        tables.forEach((name, table) -> copy.tables.put(name, table.copy()));
        copy.floor = floor;
        copy.high = high;
        copy.reserved = reserved;
        copy.self = self;
        copy.open = open;
        copy.tenure = tenure;
        copy.spoken = spoken;
        copy.seated = seated;
        copy.bound = bound;
        copy.wanted = wanted;
        copy.speaks = speaks;
        copy.serials = serials;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(self)
                .value(floor)
                .put(high)
                .put(reserved)
                .put(open)
                .value(tenure)
                .value(spoken)
                .time(seated)
                .put(bound)
                .put(wanted)
                .put(speaks)
                .put(serials);
        homes.encode(out);
        out.put(tables.size());
        tables.values().forEach(table -> table.encode(out));
    }
}
