// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lamport;

import io.keyway.lock.LockMode;
import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.home.Ticket;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
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
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A member as a process of Lamport's paper: its logical clock, and its copy of the queues of all locks. One for each
 * member, so that there is one clock for all locks. docs/algorithms/lamport.md numbers where it departs from the
 * source.
 *
 * <p><b>States of the process.</b> <i>Silent</i>: it has restarted, and leases of its former life may be believed in;
 * it hears the others and says nothing. <i>Joining</i>: it speaks, and has not heard of every other member what that
 * one asks for. <i>Joined</i>: it asks for locks.
 *
 * <p><b>States of a request</b> of one of its own clients. <i>Unstamped</i>, until it has joined. <i>Asked</i>: it has
 * a {@link Ticket}, stands in the queues of all who have heard of it, and not all have answered. <i>Answered</i>: of
 * every other member something was heard that is later in the total order. <i>Given</i>: it is the first of its queue,
 * too, and its manager ({@link io.keyway.lock.peer.home.HomeManager}) was told so, once. Of the requests of other
 * members it knows what they said.
 *
 * <p><b>Messages</b> ({@link LamportMessage}), each stamped: REQUEST to all, answered by ACK; RELEASE to all. That is 3
 * (N - 1) for a lock and its release. When a member may be sent to again, what was sent last may be lost: BEGIN, a
 * REQUEST for each of its own that stand, and END, which is answered by ACK, say all that it must know. So a request is
 * its requester's alone to tell and to take back, and a restarted member learns by hearing each of the others what they
 * ask for; it needs nobody's word about a third. BREAK and BROKEN go between the member of an administrator and that of
 * the holder.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>The clock steps before each event of sending and with each receipt, beyond what was received: what happens
 *       before something else has the smaller stamp. Clients carry it from member to member: each frame to them shows
 *       it, and each of theirs the highest that their process was shown. A time is shown only when a block that
 *       contains it is reserved on disk, and a new life begins behind that block: the clock never goes back.
 *   <li>Of each sender, what it asks for and {@code last}, the highest stamp heard of it, move together: every request
 *       that it made before {@code last} and that is not over is in the queue. From BEGIN to END neither moves.
 *   <li>A request is given when it is the first of its queue, by stamp and then by process, and {@code last} of every
 *       other member is behind it. No silence, suspicion or majority stands in for an answer.
 *   <li>What a former life of a member asked for leaves the queues when its next life speaks, which it does when no
 *       lease of the former can be believed in. What a client still holds is claimed before that, and keeps its ticket.
 * </ul>
 *
 * <p>A step costs the number of members, whatever the queues hold.
 */
class LamportProcess implements Machine {
    /** How many stamps one record reserves. */
    static final long BLOCK = 1 << 20;

    private static final String RULE = "every member must answer";
    private static final int LOOK = 0;
    /** Who has not answered for so long is named to those who wait, in nanoseconds. */
    private static final long ATTENTION = 1_000_000_000L;
    /** How many of the first in a queue are told each change of their place. */
    private static final int TOLD = 16;

    /** The number that a manager gave to a request. */
    private record Ask(String name, long number) implements Comparable<Ask> {
        @Override
        public int compareTo(Ask other) {
            int by = name.compareTo(other.name);
            return by != 0 ? by : Long.compare(number, other.number);
        }
    }

    /** What this process knows of a request of one of its own clients. */
    private static final class Own {
        final long number;
        final boolean answerAtOnce;
        final boolean wantPlace;
        /** When it was stamped. */
        final long askedAt;

        boolean answered;
        boolean given;
        /** The place that was told last; -1 if none was. */
        int told = -1;

        Own(long number, boolean answerAtOnce, boolean wantPlace, long askedAt) {
            this.number = number;
            this.answerAtOnce = answerAtOnce;
            this.wantPlace = wantPlace;
            this.askedAt = askedAt;
        }

        private Own copy() {
            Own copy = new Own(number, answerAtOnce, wantPlace, askedAt);
            copy.answered = answered;
            copy.given = given;
            copy.told = told;
            return copy;
        }
    }

    /** A request in a queue. */
    static final class Entry {
        final Ticket ticket;
        private final String name;
        private final Owner owner;
        private final long since;
        /** Null for one of another member. */
        private final @Nullable Own own;
        /** When the one before it left; NEVER if there was none. For administrators alone. */
        private long firstAt = Turn.NEVER;

        private Entry(Ticket ticket, String name, Owner owner, long since, @Nullable Own own) {
            this.ticket = ticket;
            this.name = name;
            this.owner = owner;
            this.since = since;
            this.own = own;
        }

        boolean own() {
            return own != null;
        }

        private Participant participant(long token, long now) {
            long begin = token == 0 || firstAt == Turn.NEVER ? since : firstAt;
            return new Participant(owner, LockMode.EXCLUSIVE, 1, token, now - begin);
        }

        private Entry copy() {
            Entry copy = new Entry(ticket, name, owner, since, own == null ? null : own.copy());
            copy.firstAt = firstAt;
            return copy;
        }

        private void encode(StateEncoder out) {
            out.value(ticket).put(name).value(owner).time(since).put(own != null);
            if (own != null) {
                out.put(own.number).put(own.answerAtOnce).put(own.wantPlace).time(own.askedAt);
                out.put(own.answered).put(own.given).put(own.told);
            }
        }
    }

    /** Another member. */
    static final class Other {
        final int process;
        /** The highest stamp heard of it; 0 before it was heard. */
        long last;
        /** It has said all that it asks for, in this life of ours. */
        private boolean joined;
        /** It was told all that this member asks for, and nothing of what was said since is lost. */
        private boolean greeted;
        /** What it says between BEGIN and END; null outside of them. */
        private @Nullable TreeMap<Ticket, Entry> building;

        private Other(int process) {
            this.process = process;
        }
    }

    /**
     * A break that waits for its answer.
     *
     * @param member the one that asked for it; null if an administrator did, here
     * @param holder the member whose client holds; null if it is this one
     * @param request the number of whoever asked
     */
    private record Asked(@Nullable String member, @Nullable String holder, Peer peer, String name, long request) {}

    private final Map<String, Other> others = new LinkedHashMap<>();
    private final TreeMap<String, TreeMap<Ticket, Entry>> queues = new TreeMap<>();
    /** The stamped requests of this member's clients. */
    private final TreeMap<Ask, Entry> own = new TreeMap<>();
    /** Those of them that not all have answered, by stamp. */
    private final TreeMap<Long, Entry> unanswered = new TreeMap<>();

    private final Map<Ask, HomeCall.Want> unstamped = new LinkedHashMap<>();
    private final TreeMap<Long, Asked> breaks = new TreeMap<>();
    private long lastBreak;
    /** The place of this member in the list of all, from 1; 0 before it has started. */
    private int process;

    private long clock;
    private long reserved;
    /** No former life of this member has shown a later time. */
    private long inherited;

    private boolean speaks;
    private boolean looks;

    // What an unsafe variant does in another way

    /** The clock at the start of a life; {@code safe} is behind all that former lives have shown. */
    long begin(long safe) {
        return safe;
    }

    /** Whether nobody can believe in what a former life granted. */
    boolean maySpeak(Turn turn) {
        return !turn.member().quarantined();
    }

    /** The clock after the receipt of something with that stamp. */
    long after(long now, long stamp) {
        return Math.max(now, stamp) + 1;
    }

    /** The clock that a client shows. */
    long shown(Turn turn) {
        return turn.frameClock();
    }

    /** Up to which stamp own requests are answered by that member, which was last heard with {@code other.last}. */
    long answers(String member, Other other, int self, Turn turn) {
        return other.process > self ? other.last : other.last - 1;
    }

    /** Whose turn it is. */
    Entry first(NavigableMap<Ticket, Entry> queue) {
        return queue.firstEntry().getValue();
    }

    /** Brings a message on its way. */
    void transmit(String member, LamportMessage message, Turn turn) {
        turn.peers().send(member, message);
    }

    /** What a member is told first when it may be sent to again. */
    void greet(String member, Turn turn) {
        sayAll(member, turn);
    }

    /** Whether it must have heard of every other member before it asks. */
    boolean joins() {
        return true;
    }

    /** Whether a request with that stamp was not heard before of a sender that was last heard with {@code last}. */
    boolean isNew(long last, long stamp) {
        return stamp > last;
    }

    /** What of a member's requests one release ends. */
    void over(String member, Ticket released, String name, Turn turn) {
        remove(released, name, turn);
    }

    // Messages

    @Override
    public void received(Peer from, Message message, Turn turn) {
        String member = turn.peers().member(from);
        Other other = others.get(member);
        if (other == null || !(message instanceof LamportMessage said)) {
            return; // no client speaks for a member
        }
        if (said.stamp() < 1 || said.stamp() > Ticket.MAX_STAMP - BLOCK) {
            String text = "the clock of " + member + " shows " + said.stamp() + ", which no clock can; it is not heard";
            turn.tell(new LockNotice.Alarm(LamportKeys.PROCESS, text));
            return;
        }
        clock = after(clock, said.stamp());
        reserve(turn);
        if (said instanceof LamportMessage.Begin) {
            other.building = new TreeMap<>();
        } else if (said instanceof LamportMessage.Request request) {
            requested(member, other, request, turn);
        } else if (said instanceof LamportMessage.End end) {
            ended(member, other, end.stamp(), turn);
        } else {
            other.last = other.building == null ? Math.max(other.last, said.stamp()) : other.last;
            if (said instanceof LamportMessage.Release release) {
                over(member, new Ticket(release.request(), other.process), release.name(), turn);
                look(release.name(), turn);
            } else if (said instanceof LamportMessage.Break request) {
                breaks.put(++lastBreak, new Asked(member, null, from, request.name(), request.number()));
                long token = new Ticket(request.request(), process).token();
                call(request.name(), new HomeCall.BreakHere(lastBreak, token, request.reason()), turn);
            } else if (said instanceof LamportMessage.Broken broken) {
                answerBreak(member, broken, turn);
            }
        }
        answered(turn);
    }

    private void requested(String member, Other other, LamportMessage.Request request, Turn turn) {
        Ticket ticket = new Ticket(request.stamp(), other.process);
        Entry entry = new Entry(ticket, request.name(), request.owner(), turn.now() - request.waited(), null);
        if (other.building != null) {
            other.building.put(ticket, entry);
        } else if (isNew(other.last, request.stamp())) { // one that is heard again is known, or over
            other.last = Math.max(other.last, request.stamp());
            insert(entry, turn);
            say(member, new LamportMessage.Ack(tick(turn)), turn);
            look(entry.name, turn);
        }
    }

    /** All that a member asks for was said: nothing else of it stands. */
    private void ended(String member, Other other, long stamp, Turn turn) {
        TreeMap<Ticket, Entry> stands = other.building;
        if (stands == null) {
            return;
        }
        other.building = null;
        for (String name : List.copyOf(queues.keySet())) {
            for (Ticket ticket :
                    List.copyOf(queues.getOrDefault(name, new TreeMap<>()).keySet())) {
                if (ticket.process() == other.process && !stands.containsKey(ticket)) {
                    turn.goal(LamportGoal.LOST_RELEASE_TOLD);
                    remove(ticket, name, turn);
                }
            }
        }
        for (Entry entry : stands.values()) {
            if (other.joined && !stands(entry)) {
                turn.goal(LamportGoal.LOST_REQUEST_TOLD);
            }
            insert(entry, turn);
        }
        other.joined = true;
        other.last = Math.max(other.last, stamp);
        say(member, new LamportMessage.Ack(tick(turn)), turn);
        List.copyOf(queues.keySet()).forEach(name -> look(name, turn));
        stampAll(turn);
    }

    private boolean stands(Entry entry) {
        TreeMap<Ticket, Entry> queue = queues.get(entry.name);
        return queue != null && queue.containsKey(entry.ticket);
    }

    // The clock

    /** The next time, for an event of sending. */
    private long tick(Turn turn) {
        clock++;
        reserve(turn);
        return clock;
    }

    private void reserve(Turn turn) {
        if (clock > reserved) {
            turn.goal(LamportGoal.CLOCK_RESERVED);
            reserved = clock + BLOCK;
            turn.force(new LamportMessage.Reserved(reserved));
        }
        turn.showClock(clock);
    }

    /** A client asks for something: what its process has heard of, from whichever member, comes before that. */
    private void hear(Turn turn) {
        long heard = shown(turn);
        if (heard <= clock) {
            return;
        }
        if (heard > Math.min(Ticket.ofEpoch(turn.member().lastEpoch()), Ticket.MAX_STAMP - BLOCK)) {
            String text = "a client shows the clock " + heard + ", which no member can have shown; it is not heeded";
            turn.tell(new LockNotice.Alarm(LamportKeys.PROCESS, text));
            return;
        }
        turn.goal(LamportGoal.CLOCK_OF_CLIENT);
        clock = heard;
        reserve(turn);
    }

    // What becomes of the queues

    private void insert(Entry entry, Turn turn) {
        TreeMap<Ticket, Entry> queue = queues.computeIfAbsent(entry.name, fresh -> new TreeMap<>());
        Ticket twin = queue.floorKey(entry.ticket);
        if (twin != null && twin.stamp() == entry.ticket.stamp() && twin.process() != entry.ticket.process()) {
            turn.goal(LamportGoal.EQUAL_STAMPS);
        }
        queue.putIfAbsent(entry.ticket, entry);
    }

    final void remove(Ticket ticket, String name, Turn turn) {
        TreeMap<Ticket, Entry> queue = queues.get(name);
        if (queue != null && queue.remove(ticket) != null) {
            if (queue.isEmpty()) {
                queues.remove(name);
            } else if (ticket.compareTo(queue.firstKey()) < 0) {
                queue.firstEntry().getValue().firstAt = turn.now();
            }
        }
    }

    /** Up to which stamp own requests are answered by all. */
    long answeredUpTo(Turn turn) {
        long least = Long.MAX_VALUE;
        for (Map.Entry<String, Other> each : others.entrySet()) {
            least = Math.min(least, answers(each.getKey(), each.getValue(), process, turn));
        }
        return least;
    }

    private void answered(Turn turn) {
        if (unanswered.isEmpty()) {
            return;
        }
        long upTo = answeredUpTo(turn);
        while (!unanswered.isEmpty() && unanswered.firstKey() <= upTo) {
            Entry entry = unanswered.pollFirstEntry().getValue();
            Own request = entry.own;
            if (request == null) {
                continue;
            }
            request.answered = true;
            look(entry.name, turn);
            if (!request.given) {
                turn.goal(LamportGoal.WAITED_FOR_A_RELEASE);
                var before = queues.getOrDefault(entry.name, new TreeMap<>()).headMap(entry.ticket);
                place(entry, before.size() - 1, turn);
                if (request.answerAtOnce) {
                    call(entry.name, new HomeCall.Behind(request.number, holders(entry.name, turn)), turn);
                }
            }
        }
    }

    /** A queue has changed, or a request was answered: gives, and tells places. */
    private void look(String name, Turn turn) {
        TreeMap<Ticket, Entry> queue = queues.get(name);
        if (queue == null) {
            return;
        }
        Entry first = first(queue);
        if (first.own != null && first.own.answered && !first.own.given) {
            first.own.given = true;
            call(name, new HomeCall.Yours(first.own.number, first.ticket.token()), turn);
        }
        int before = -1; // the first one holds the lock, or is about to
        for (Entry entry : queue.values()) {
            if (before == TOLD) {
                return;
            }
            place(entry, before++, turn);
        }
    }

    /** As long as not all have answered nobody may hold what it waits for, and it learns nothing. */
    private void place(Entry entry, int ahead, Turn turn) {
        Own request = entry.own;
        if (request != null
                && request.answered
                && request.wantPlace
                && !request.given
                && ahead >= 0
                && ahead != request.told) {
            request.told = ahead;
            call(entry.name, new HomeCall.Placed(request.number, ahead, holders(entry.name, turn)), turn);
        }
    }

    private List<Participant> holders(String name, Turn turn) {
        TreeMap<Ticket, Entry> queue = queues.get(name);
        if (queue == null) {
            return List.of();
        }
        Entry first = queue.firstEntry().getValue();
        return List.of(first.participant(first.ticket.token(), turn.now()));
    }

    private static void call(String name, HomeCall call, Turn turn) {
        turn.call(LamportKeys.lock(name), call);
    }

    // Calls

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof HomeCall.OfManager said) {
            hear(turn);
            asked(said, turn);
        } else if (call instanceof MemberView.Restored restored) {
            inherited = ((LamportMessage.Reserved) restored.record()).stamp();
            reserved = inherited;
        } else if (call instanceof MemberView.Started) {
            start(turn);
        } else if (call instanceof MemberView.Opening || call instanceof PeerView.ListConfirmed) {
            open(turn);
        } else if (call instanceof PeerView.PeerUp up) {
            if (speaks) {
                meet(up.member(), turn);
            }
        } else if (call instanceof PeerView.PeerDown down) {
            parted(down, turn);
        }
        answered(turn);
        armLook(turn);
    }

    private void start(Turn turn) {
        PeerView peers = turn.peers();
        for (String member : peers.members()) {
            int place = peers.members().indexOf(member) + 1;
            if (member.equals(peers.self())) {
                process = place;
            } else {
                others.put(member, new Other(place));
            }
        }
        clock = begin(Math.max(inherited, Ticket.ofEpoch(turn.member().epoch())));
        peers.watch(LamportKeys.PROCESS);
        open(turn);
    }

    private void open(Turn turn) {
        if (!speaks && process != 0) {
            if (!maySpeak(turn)) {
                turn.member().awaitOpening(LamportKeys.PROCESS);
                return;
            }
            speaks = true;
            for (String member : others.keySet()) {
                if (turn.peers().up(member)) {
                    meet(member, turn);
                }
            }
        }
        stampAll(turn);
    }

    private void meet(String member, Turn turn) {
        Other other = others.get(member);
        if (other != null) {
            other.greeted = true;
            greet(member, turn);
        }
    }

    /** Says all that this member asks for; whatever it said before may be lost. */
    final void sayAll(String member, Turn turn) {
        TreeMap<Ticket, Entry> all = new TreeMap<>();
        own.values().forEach(entry -> all.put(entry.ticket, entry));
        long stamp = tick(turn);
        say(member, new LamportMessage.Begin(stamp), turn);
        all.values().forEach(entry -> say(member, request(entry, turn), turn));
        say(member, new LamportMessage.End(stamp), turn);
    }

    private static LamportMessage.Request request(Entry entry, Turn turn) {
        long waited = Math.max(0, turn.now() - entry.since);
        return new LamportMessage.Request(entry.ticket.stamp(), entry.name, entry.owner, waited);
    }

    /** Says something to a member; one that was not told everything yet will be. */
    private void say(String member, LamportMessage message, Turn turn) {
        Other other = others.get(member);
        if (other != null && other.greeted) {
            transmit(member, message, turn);
        }
    }

    private void sayToAll(LamportMessage message, Turn turn) {
        others.keySet().forEach(member -> say(member, message, turn));
    }

    private void parted(PeerView.PeerDown down, Turn turn) {
        Other other = others.get(down.member());
        if (other == null) {
            return;
        }
        other.building = null;
        other.greeted = false;
        if (down.restarted()) {
            turn.goal(LamportGoal.OTHER_RESTARTED);
        }
        breaks.values().removeIf(asked -> down.member().equals(asked.holder()));
    }

    private void asked(HomeCall.OfManager said, Turn turn) {
        if (said instanceof HomeCall.Want want) {
            unstamped.put(new Ask(want.name(), want.number()), want);
            if (!mayAsk(turn)) {
                turn.goal(LamportGoal.ASKED_BEFORE_JOINED);
            }
            stampAll(turn);
        } else if (said instanceof HomeCall.Leave leave) {
            leave(new Ask(leave.name(), leave.number()), turn);
        } else if (said instanceof HomeCall.Adopt claim) {
            adopt(claim, turn);
        } else if (said instanceof HomeCall.WhoIsSilent question) {
            Ask ask = new Ask(question.name(), question.number());
            tellSilent(ask, own.get(ask), turn);
        } else if (said instanceof HomeCall.Show show) {
            show(show, turn);
        } else if (said instanceof HomeCall.Break request) {
            breakGrant(request, turn);
        } else if (said instanceof HomeCall.BrokenHere broken) {
            answerBreak(broken, turn);
        }
    }

    private boolean mayAsk(Turn turn) {
        if (!speaks || !(others.isEmpty() || turn.peers().confirmed())) {
            return false;
        }
        for (Other other : others.values()) {
            if (!other.joined && joins()) {
                return false;
            }
        }
        return true;
    }

    private void stampAll(Turn turn) {
        if (unstamped.isEmpty() || !mayAsk(turn)) {
            return;
        }
        List<HomeCall.Want> all = List.copyOf(unstamped.values());
        unstamped.clear();
        for (HomeCall.Want want : all) {
            Ticket ticket = new Ticket(tick(turn), process);
            Own asks = new Own(want.number(), want.answerAtOnce(), want.wantPlace(), turn.now());
            Entry entry = new Entry(ticket, want.name(), want.owner(), want.since(), asks);
            own.put(new Ask(want.name(), want.number()), entry);
            unanswered.put(ticket.stamp(), entry);
            insert(entry, turn);
            sayToAll(request(entry, turn), turn);
        }
        answered(turn);
    }

    private void leave(Ask ask, Turn turn) {
        Entry entry = unstamped.remove(ask) == null ? own.remove(ask) : null;
        if (entry == null) {
            return;
        }
        long stamp = entry.ticket.stamp();
        unanswered.remove(stamp);
        remove(entry.ticket, entry.name, turn);
        sayToAll(new LamportMessage.Release(tick(turn), entry.name, stamp), turn);
        look(entry.name, turn);
    }

    /** What a client still holds keeps its place: nobody has been given the lock since, for this member was silent. */
    private void adopt(HomeCall.Adopt claim, Turn turn) {
        Ticket ticket = Ticket.of(claim.token());
        boolean stands = !speaks && ticket.process() == process && ticket.stamp() <= inherited && !holds(claim.name());
        turn.goal(stands ? LamportGoal.CLAIM_ADOPTED : LamportGoal.CLAIM_REFUSED);
        if (stands) {
            Own request = new Own(claim.number(), false, false, turn.now());
            request.answered = true;
            request.given = true;
            Entry entry = new Entry(ticket, claim.name(), claim.owner(), claim.since(), request);
            own.put(new Ask(claim.name(), claim.number()), entry);
            insert(entry, turn);
        }
        call(claim.name(), new HomeCall.Adopted(claim.number(), stands), turn);
    }

    private boolean holds(String name) {
        TreeMap<Ticket, Entry> queue = queues.get(name);
        if (queue != null) {
            for (Entry entry : queue.values()) {
                if (entry.own != null && entry.own.given) {
                    return true;
                }
            }
        }
        return false;
    }

    // Who keeps others waiting

    /** Who has not answered that request, or keeps this member from asking at all. */
    private List<String> silent(@Nullable Entry entry, Turn turn) {
        List<String> silent = new ArrayList<>();
        for (Map.Entry<String, Other> each : others.entrySet()) {
            Other other = each.getValue();
            boolean misses = entry != null
                    ? answers(each.getKey(), other, process, turn) < entry.ticket.stamp()
                    : speaks && !other.joined;
            if (misses) {
                silent.add(each.getKey());
            }
        }
        return List.copyOf(silent);
    }

    private void tellSilent(Ask ask, @Nullable Entry entry, Turn turn) {
        call(ask.name(), new HomeCall.Waiting(ask.number(), entry != null, RULE, silent(entry, turn)), turn);
    }

    private void armLook(Turn turn) {
        boolean needed = !unanswered.isEmpty() || !unstamped.isEmpty();
        if (needed && !looks) {
            turn.timer(LOOK, turn.now() + ATTENTION);
        }
        looks |= needed;
    }

    @Override
    public void due(int slot, Turn turn) {
        looks = false;
        for (Entry entry : unanswered.values()) {
            Own request = entry.own;
            if (request != null && turn.now() - request.askedAt >= ATTENTION) {
                tellSilent(new Ask(entry.name, request.number), entry, turn);
            }
        }
        for (Ask ask : unstamped.keySet()) {
            tellSilent(ask, null, turn);
        }
        armLook(turn);
    }

    // Administrators

    private void show(HomeCall.Show show, Turn turn) {
        TreeMap<Ticket, Entry> queue = queues.getOrDefault(show.name(), new TreeMap<>());
        ParticipantList all = new ParticipantList();
        holders(show.name(), turn).forEach(all::add);
        boolean holder = true;
        for (Entry entry : queue.values()) {
            if (!holder) {
                all.add(entry.participant(0, turn.now()));
            }
            holder = false;
        }
        Key key = LamportKeys.lock(show.name());
        for (ParticipantList.Part part : all.parts()) {
            turn.send(
                    show.peer(),
                    new LockMessage.Status(
                            key, show.request(), part.holders(), part.waiters(), part.more(), part.last()));
        }
    }

    private void breakGrant(HomeCall.Break request, Turn turn) {
        Ticket ticket = Ticket.of(request.token());
        String name = request.name();
        if (ticket.process() == process) {
            breaks.put(++lastBreak, new Asked(null, null, request.peer(), name, request.request()));
            call(name, new HomeCall.BreakHere(lastBreak, request.token(), request.reason()), turn);
            return;
        }
        for (Map.Entry<String, Other> each : others.entrySet()) {
            if (each.getValue().process == ticket.process()) {
                String holder = each.getKey();
                if (each.getValue().greeted) { // otherwise nobody knows, and the question runs out
                    breaks.put(++lastBreak, new Asked(null, holder, request.peer(), name, request.request()));
                    long stamp = tick(turn);
                    long asked = ticket.stamp();
                    say(holder, new LamportMessage.Break(stamp, lastBreak, name, asked, request.reason()), turn);
                }
                return;
            }
        }
        turn.send(request.peer(), new LockMessage.Answer(LamportKeys.lock(name), request.request(), false));
    }

    private void answerBreak(HomeCall.BrokenHere broken, Turn turn) {
        Asked asked = breaks.remove(broken.number());
        if (asked == null) {
            return;
        }
        if (asked.member() == null) {
            answer(asked, broken.done(), turn);
        } else {
            say(asked.member(), new LamportMessage.Broken(tick(turn), asked.request(), broken.done()), turn);
        }
    }

    private void answerBreak(String member, LamportMessage.Broken broken, Turn turn) {
        Asked asked = breaks.get(broken.number());
        if (asked != null && member.equals(asked.holder())) {
            breaks.remove(broken.number());
            turn.goal(LamportGoal.BROKEN_ELSEWHERE);
            answer(asked, broken.done(), turn);
        }
    }

    private static void answer(Asked asked, boolean done, Turn turn) {
        turn.send(asked.peer(), new LockMessage.Answer(LamportKeys.lock(asked.name()), asked.request(), done));
    }

    // State

    /** What its logical clock shows. */
    long clock() {
        return clock;
    }

    /** The others, for variants. */
    Collection<Other> others() {
        return others.values();
    }

    /** The requests of that lock, in order. */
    List<Ticket> queue(String name) {
        return List.copyOf(queues.getOrDefault(name, new TreeMap<>()).keySet());
    }

    /** The tickets of the requests of its own clients that stand. */
    List<Ticket> tickets() {
        List<Ticket> all = new ArrayList<>(own.size());
        own.values().forEach(entry -> all.add(entry.ticket));
        return all;
    }

    /** True if nobody asks for anything. */
    boolean isIdle() {
        return queues.isEmpty() && unstamped.isEmpty();
    }

    /** Never: the clock and what was heard of the others are not to be forgotten. */
    @Override
    public boolean atRest() {
        return false;
    }

    /** A process of the same kind, for {@link #copy}. */
    LamportProcess fresh() {
        return new LamportProcess();
    }

    @Override
    public LamportProcess copy() {
        LamportProcess copy = fresh();
        others.forEach((member, other) -> {
            Other twin = new Other(other.process);
            twin.last = other.last;
            twin.joined = other.joined;
            twin.greeted = other.greeted;
            twin.building = other.building == null ? null : new TreeMap<>(other.building);
            copy.others.put(member, twin);
        });
        queues.forEach((name, queue) -> {
            TreeMap<Ticket, Entry> twin = new TreeMap<>();
            queue.forEach((ticket, entry) -> twin.put(ticket, entry.copy()));
            copy.queues.put(name, twin);
        });
        own.forEach((ask, entry) -> {
            Entry twin = copy.queues.getOrDefault(ask.name(), new TreeMap<>()).get(entry.ticket);
            if (twin != null) {
                copy.own.put(ask, twin);
                if (unanswered.containsKey(entry.ticket.stamp())) {
                    copy.unanswered.put(entry.ticket.stamp(), twin);
                }
            }
        });
        copy.unstamped.putAll(unstamped);
        copy.breaks.putAll(breaks);
        copy.lastBreak = lastBreak;
        copy.process = process;
        copy.clock = clock;
        copy.reserved = reserved;
        copy.inherited = inherited;
        copy.speaks = speaks;
        copy.looks = looks;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(process).put(clock).put(reserved).put(inherited).put(speaks).put(looks);
        out.put(others.size());
        others.forEach((member, other) -> {
            out.put(member).put(other.process).put(other.last).put(other.joined).put(other.greeted);
            out.put(other.building != null);
            if (other.building != null) {
                out.put(other.building.size());
                other.building.values().forEach(entry -> entry.encode(out));
            }
        });
        out.put(queues.size());
        queues.forEach((name, queue) -> {
            out.put(name).put(queue.size());
            queue.values().forEach(entry -> entry.encode(out));
        });
        out.value(List.copyOf(unanswered.keySet()));
        out.put(unstamped.size());
        unstamped.values().forEach(want -> {
            out.put(want.name()).put(want.number()).value(want.owner()).put(want.answerAtOnce());
            out.put(want.wantPlace()).time(want.since());
        });
        out.put(lastBreak).value(breaks);
    }
}
