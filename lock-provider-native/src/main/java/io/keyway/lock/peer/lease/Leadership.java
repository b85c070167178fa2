// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.ElectionCall.Elected;
import io.keyway.lock.peer.election.ElectionCall.Leased;
import io.keyway.lock.peer.election.ElectionCall.Recorded;
import io.keyway.lock.peer.election.ElectionCall.Reserve;
import io.keyway.lock.peer.election.MemberRequests;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.home.HomeCall;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.lease.NotesMessage.Take;
import io.keyway.lock.peer.lease.NotesMessage.Taken;
import io.keyway.lock.peer.lease.NotesMessage.Write;
import io.keyway.lock.peer.lease.NotesMessage.Written;
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.service.LockMessage.Members;
import io.keyway.lock.peer.session.Holding;
import io.keyway.lock.peer.session.Incarnation;
import io.keyway.lock.peer.session.LeaderGoal;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import io.keyway.lock.peer.session.ListOfCell;
import io.keyway.lock.peer.session.SessionSettings;
import io.keyway.lock.peer.session.Spoken;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether this member decides on all names of its cluster; every member has one.
 *
 * <p><b>States.</b> <i>Following</i>: another member has the one seat of the latest view, or no view is known; no
 * client is let in. <i>Taking</i>: this member has the seat, no client is let in yet, and it takes the notes of the
 * members about clients ({@link ClientNotes}). <i>Waiting</i>: it has the notes of a majority; clients are let in, say
 * what they hold, and queue, and nothing is granted. <i>Silent</i>: the same without these notes. <i>Open</i>: it
 * grants. In the last three it serves for as long as the members have leased the view to it; in between it is as if it
 * were not there, and then goes on where it was.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>A member that gets the seat is closed until no former leader is leased a view any more: the votes for it say
 *       how long that can be ({@link Elected#formerUntil}). A former leader could grant to somebody else what a holder
 *       has asserted here, once it has not heard that holder for long enough.
 *   <li>A majority has noted a client, with a ttl that is no shorter than that of any lease of it, before that
 *       client hears of the lease. A member that has voted for a later leader notes nothing for a former one, and
 *       a leader that has does not count itself. So the notes of any majority that follows the next leader name all
 *       clients that can hold something of a former one; a member that has lost its notes says so, and is not
 *       counted. The next leader grants as soon as each of them has come and said all that it holds, or has been
 *       silent for longer than its ttl.
 *   <li>A leader without such notes is silent for a lease of the view and the longest lease that a former leader can
 *       have told a client of, and for what clocks may differ by. A majority has voted for it by then and confirms
 *       nothing earlier, so the former leader reads no frame of a client after the lease that it had; and no client
 *       believes for longer than its ttl in what such a frame brought it.
 *   <li>A majority has recorded a time that is no shorter than the ttl of any lease, before its client is told of it,
 *       and none shorter than what is left of a place that is kept. It becomes shorter when nothing has needed it for a
 *       quarantine at least, and counts as shorter as soon as that is asked for; as longer, when it is recorded. So the
 *       longest that anybody of a majority knows is long enough ({@link LeaderBound}).
 *   <li>A life of a member that finds itself with the seat is silent again, unless a record says that a former life was
 *       open by that very seat. So is a member that has lost its seat, and with it all sessions, and has the very same
 *       one again since nobody else counts by the view in which it had none.
 *   <li>A majority has recorded an epoch that is no lower than that of any token, before the token is granted; whoever
 *       gets the seat begins above what is recorded. So the tokens of a name rise.
 *   <li>The list of members changes only when this leader is open and a majority of them has all of its notes: then any
 *       majority of the next list has a member that has them.
 *   <li>A leader has no session of a client, and no grant, that is older than its seat: what the table of a clean end
 *       has left, and what is kept, is over when another member leads, or may have led.
 * </ul>
 */
class Leadership implements Machine {
    /** How long the members lease the view to its leader: for longer than a process stands still now and then. */
    static final long LEASE = 1_500_000_000L;
    /** How long members suspect a leader before they elect another one: at once, since no lock is lost by that. */
    static final long PATIENCE = 0;

    private static final int NEXT = 0;
    private static final int AGAIN = 1;
    private static final int OVER = 2;
    private static final int LIST = 3;
    /** After so long a member that does not answer is sent the same again. */
    private static final long PAUSE = 500_000_000L;
    /** Places that are kept are noted as if they were of this client, which never comes. */
    private static final Incarnation KEPT = new Incarnation(0, 0);
    /** So many epochs are reserved at once: seldom more than one is used in a life. */
    private static final long AHEAD = 16;
    /** The first of the times that are recorded, 100 ms; the others are 2, 5, 10, 20, 50 ... times as long. */
    private static final long SHORTEST = 100_000_000L;
    /** For so long at least nothing has needed a time when a shorter one is recorded: what needs it again waits. */
    private static final long UNNEEDED = 60_000_000_000L;

    private enum Stage {
        FOLLOWING,
        TAKING,
        WAITING,
        SILENT,
        OPEN
    }

    /** That this member was open by the seat that it has since that view; NONE if it has lost that. */
    record Opened(ViewId since) implements DurableRecord {}

    /** A question that came before its view, and the member that asks. */
    private record Early(String member, Take question) {}

    private ViewId seat = ViewId.NONE;
    private ViewId opened = ViewId.NONE;
    private String leader = "";
    /** Of the latest view. */
    private List<String> members = List.of();

    private long leasedUntil = Turn.NEVER;
    /** The highest epoch that a majority has recorded, of those reserved for this seat. */
    private long recorded;
    /** What it has asked the election to have recorded last. */
    private long reserved;
    /** How long a lease may be of which a client is told. */
    private long longest;
    /** When there was last something for which the time reserved is not too long. */
    private long neededAt;

    private Stage stage = Stage.FOLLOWING;
    private ClientNotes notes = new ClientNotes();
    /** Since when the leader of the latest view leads. */
    private ViewId leads = ViewId.NONE;
    /** This member has voted for a later view than the one that it knows. */
    private boolean voted;
    /** A question of the leader of a view that this member does not know yet; null if there is none. */
    private @Nullable Early early;
    /** When the lease of a former leader is over. */
    private long formerUntil = Turn.NEVER;
    /** How long it waits for the notes of members that do not answer. */
    private long takesUntil = Turn.NEVER;
    /** The clients for which it waits, and until when. */
    private final Map<Incarnation, Long> awaited = new LinkedHashMap<>();
    /** The sessions here that can hold something. */
    private final Map<Peer, Holding> holding = new LinkedHashMap<>();
    /** Those of them of which a majority does not know. */
    private final Set<Peer> unnoted = new LinkedHashSet<>();
    /** From when on nobody can hold anything that this life of a leader has not noted; {@link Turn#NEVER} if so. */
    private long completeAt = Turn.NEVER;

    private long overAt = Turn.NEVER;
    private long againAt = Turn.NEVER;
    /** For how long something may be kept, as a majority knows. */
    private long keptNoted;
    /** What the election has heard last of the list: {@link ElectionCall.Settled}. */
    private boolean settled = true;
    /** Of the other cells of this member, each of which elects, too. */
    private ListsOfCells lists = new ListsOfCells();
    /** When it says again that its list is to become that of the first cells; {@link Turn#NEVER} if it is. */
    private long followsAt = Turn.NEVER;

    /** Whether who gets the seat is silent; an unsafe variant is not. */
    boolean isSilentAtFirst() {
        return true;
    }

    /** Whether who gets the seat is closed before; an unsafe variant is not. */
    boolean isClosedAtFirst() {
        return true;
    }

    /** Whether it serves only while the view is leased to it; an unsafe variant serves as long as it knows no other. */
    boolean heedsLease() {
        return true;
    }

    /** Whether it begins above what others may have granted; an unsafe variant goes on with its own epoch. */
    boolean raisesEpoch() {
        return true;
    }

    /** Whether it keeps the time that is recorded for as long as a lease needs it; an unsafe variant does not. */
    boolean heedsLeases() {
        return true;
    }

    /** Whether a client hears of a lease when a majority has noted the client; with an unsafe variant at once. */
    boolean awaitsNotes() {
        return true;
    }

    /** Whether a member that has lost its notes does not count; for an unsafe variant it does. */
    boolean heedsLoss() {
        return true;
    }

    /** Whether it waits for those that were noted before; an unsafe variant does not. */
    boolean waitsForNoted() {
        return true;
    }

    /** Whether the list changes only when a majority has all notes; of an unsafe variant always. */
    boolean settlesLists() {
        return true;
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof MemberView.Restored restored) {
            opened = ((Opened) restored.record()).since();
            return;
        } else if (call instanceof Elected elected) {
            elected(elected, turn);
        } else if (call instanceof Leased leased) {
            renewed(leased.until(), turn);
        } else if (call instanceof Recorded bound) {
            recorded = LeaderBound.epoch(bound.bound());
            longest = bound.bound() == reserved ? LeaderBound.longest(reserved) : longest;
        } else if (call instanceof ElectionCall.Voted) {
            voted = true;
        } else if (call instanceof ListOfCell list) {
            lists.heard(list);
        } else if (call instanceof MemberView.Started) {
            turn.peers().watch(FailoverKeys.LEADERSHIP);
        } else if (call instanceof PeerView.PeerDown down) {
            notes.sayAgain(down.member());
        } else if (call instanceof PeerView.PeerUp up) {
            notes.sayAgain(up.member());
            ask(up.member(), turn);
        } else if (leads() && clients(call, turn)) {
            look(false, turn);
            return;
        }
        look(true, turn);
    }

    /** Returns whether that is an event of a client, of which there may be thousands. */
    private boolean clients(Call call, Turn turn) {
        if (call instanceof MemberView.Longer) {
            raise(turn);
            return false;
        } else if (call instanceof Holding more) {
            holding.put(more.peer(), more);
            unnoted.remove(more.peer()); // in the order of the notes
            unnoted.add(more.peer());
            notes.note(more.client(), more.ttl());
        } else if (call instanceof Spoken spoken) {
            awaited.remove(spoken.client());
        } else if (call instanceof MemberView.SessionEnded ended) {
            unnoted.remove(ended.peer());
            Holding over = holding.remove(ended.peer());
            if (over != null && stage == Stage.OPEN) {
                notes.set(over.client(), 0);
            }
        } else {
            return false;
        }
        return true;
    }

    private void renewed(long until, Turn turn) {
        boolean lapsed = leasedUntil != Turn.NEVER && Turn.due(leasedUntil, turn.now());
        if (lapsed && leads()) {
            turn.goal(LeaderGoal.LEASE_RENEWED);
        }
        leasedUntil = until;
    }

    private void elected(Elected elected, Turn turn) {
        View view = elected.view();
        listed(view, turn);
        ViewId mine = view.since(turn.peers().self());
        String former = leader;
        leader = String.join(",", view.leaders());
        leads = view.since(leader);
        voted = false;
        Early asked = early;
        early = null;
        if (asked != null) {
            noted(asked.member(), asked.question(), turn);
        }
        if (!leader.equals(former)) {
            turn.tell(new LeadersElected(view.leaders()));
        }
        if (mine.equals(ViewId.NONE)) {
            if (leads()) {
                turn.goal(LeaderGoal.DEPOSED);
            }
            seat = ViewId.NONE;
            if (!opened.equals(seat)) {
                opened = seat; // the view of that leader may never count, and this one have its seat again
                turn.force(new Opened(seat));
            }
            stage(Stage.FOLLOWING);
            turn.member().follow();
        } else if (!mine.equals(seat)) {
            seat = mine;
            takeOver(view, elected, turn);
        }
    }

    private void listed(View view, Turn turn) {
        boolean now = view.members().contains(turn.peers().self());
        if (!view.members().equals(members)) {
            turn.tell(new ListChanged(
                    view.members(), !now && members.contains(turn.peers().self())));
            notes.listed();
            for (String member : view.members()) {
                if (!members.contains(member)) {
                    notes.sayAgain(member);
                }
            }
        }
        members = view.members();
    }

    private void stage(Stage next) {
        stage = next;
        keptNoted = next == Stage.OPEN ? keptNoted : 0;
        awaited.clear();
        overAt = Turn.NEVER;
        completeAt = Turn.NEVER;
        if (next == Stage.FOLLOWING || next == Stage.TAKING) {
            holding.clear();
            unnoted.clear();
        }
    }

    private boolean leads() {
        return !seat.equals(ViewId.NONE);
    }

    private void takeOver(View view, Elected elected, Turn turn) {
        MemberView member = turn.member();
        boolean first = view.first() && !elected.restored() && view.id().equals(seat);
        leasedUntil = Turn.NEVER;
        formerUntil = elected.formerUntil();
        takesUntil = Math.max(0, formerUntil - turn.now()) + turn.now() + lease(member);
        long silence = Math.max(0, formerUntil - turn.now())
                + SessionSettings.quarantine(LeaderBound.longest(elected.recorded()));
        if (!first && elected.formerUntil() == turn.now()) {
            turn.goal(LeaderGoal.HANDED_OVER);
        }
        if (first || seat.equals(opened) || !isSilentAtFirst()) {
            stage(Stage.OPEN);
            notes.areLost();
            if (first) {
                notes.areAll();
            } else {
                completeAt = turn.now() + silence;
            }
            silence = 0;
        } else {
            turn.goal(elected.restored() ? LeaderGoal.SILENT_AGAIN : LeaderGoal.TOOK_OVER);
            if (elected.restored()) {
                beSilent();
            } else {
                stage(Stage.TAKING);
                notes.takes(turn.peers().self());
                others(turn).forEach(each -> ask(each, turn));
            }
        }
        long known = Math.max(LeaderBound.epoch(elected.recorded()), LeaderBound.epoch(reserved));
        long least = Math.max(known, member.epoch()) + 1;
        member.takeOver(FailoverKeys.LEADERSHIP, raisesEpoch() ? least : member.epoch(), silence);
        member.awaitOpening(FailoverKeys.LEADERSHIP);
        recorded = 0;
        longest = 0;
        neededAt = turn.now();
        reserve(least + AHEAD, Math.max(LeaderBound.longest(elected.recorded()), step(0, member)), turn);
    }

    private void beSilent() {
        stage(Stage.SILENT);
        notes.areLost();
    }

    // Clients that can hold something

    /** Goes on as far as the members and the clients let it. */
    private void progress(Turn turn) {
        MemberView member = turn.member();
        if (stage == Stage.TAKING) {
            take(turn);
        }
        if (stage == Stage.WAITING && awaited.isEmpty() && Turn.due(formerUntil, turn.now())) {
            turn.goal(LeaderGoal.ALL_SPOKEN);
            member.endSilence();
        }
        if ((stage == Stage.WAITING || stage == Stage.SILENT) && !member.quarantined()) {
            stage(Stage.OPEN);
            if (!notes.areComplete()) {
                notes.areAll();
            }
            Set<Incarnation> here = new LinkedHashSet<>();
            for (Holding each : holding.values()) {
                here.add(each.client());
            }
            notes.keep(here);
        }
        if (stage == Stage.OPEN && Turn.due(completeAt, turn.now())) {
            completeAt = Turn.NEVER;
            notes.areAll();
        }
        long kept = member.kept();
        long noted = notes.ttl(KEPT);
        boolean tooLong = kept < noted / 4 && notes.areComplete() && !awaited.containsKey(KEPT);
        if (stage != Stage.TAKING && (kept > noted || tooLong)) {
            notes.set(KEPT, kept == 0 ? 0 : step(kept, member));
        }
    }

    private void ask(String member, Turn turn) {
        if (stage == Stage.TAKING && !notes.hasAnswered(member)) {
            turn.peers().send(member, new Take(seat));
        }
    }

    private void take(Turn turn) {
        boolean late = Turn.due(formerUntil, turn.now());
        if (notes.areTaken(members, heedsLoss())) {
            stage(Stage.WAITING);
            notes.areAll().forEach((client, ttl) -> {
                if (waitsForNoted()) {
                    awaited.put(client, formerUntil + SessionSettings.quarantine(ttl));
                }
            });
        } else if (Turn.due(takesUntil, turn.now()) || (late && haveAnswered(turn))) {
            turn.goal(LeaderGoal.NOTES_LOST);
            beSilent();
        }
    }

    /** Whether enough have answered, and no other one can be asked now. */
    private boolean haveAnswered(Turn turn) {
        List<String> others = others(turn);
        return 2 * (others.size() + 1) > members.size() && notes.haveAnswered(others);
    }

    /** The other members that can be spoken to. */
    private List<String> others(Turn turn) {
        PeerView peers = turn.peers();
        List<String> others = new ArrayList<>(members.size());
        for (String member : members) {
            if (!member.equals(peers.self()) && peers.up(member)) {
                others.add(member);
            }
        }
        return others;
    }

    /** Writes to the members what they have not noted, and lets clients hear of leases that a majority has noted. */
    private void write(Turn turn) {
        String self = turn.peers().self();
        if (stage == Stage.TAKING) {
            return;
        }
        for (String member : others(turn)) {
            notes.unsaid(member, seat).forEach(each -> turn.peers().send(member, each));
        }
        if (!voted) {
            notes.counts();
        }
        notes.forget(members, self);
        long confirmed = notes.majority(members, self);
        for (Iterator<Peer> all = unnoted.iterator(); all.hasNext(); ) {
            Peer peer = all.next();
            Holding holds = holding.get(peer);
            if (holds != null && awaitsNotes() && !notes.isNoted(holds.client(), holds.ttl(), confirmed)) {
                break; // nor are those behind it
            }
            if (holds != null) {
                turn.member().noted(peer, holds.ttl());
            }
            all.remove();
        }
        boolean isNoted = !awaitsNotes() || notes.isNoted(KEPT, 1, confirmed);
        keptNoted = isNoted ? notes.ttl(KEPT) : Math.min(keptNoted, notes.ttl(KEPT));
    }

    private void tellWhetherSettled(Turn turn) {
        boolean now =
                stage == Stage.OPEN && notes.areSettled(members, turn.peers().self());
        if (now != settled && settlesLists()) {
            settled = now;
            turn.call(FailoverKeys.ELECTION, new ElectionCall.Settled(now));
        }
    }

    /** Has the list of this group made that of the first cells, by as many changes as it takes. */
    private void follow(Turn turn) {
        Optional<ElectionCall> change = leads() ? lists.change(members) : Optional.empty();
        if (change.isEmpty()) {
            followsAt = Turn.NEVER;
        } else if (followsAt == Turn.NEVER || Turn.due(followsAt, turn.now())) {
            turn.call(FailoverKeys.ELECTION, change.get());
            followsAt = turn.now() + PAUSE;
        }
        turn.timer(LIST, followsAt);
    }

    /** The shortest time to be recorded that is as long as that. */
    private static long step(long ttl, MemberView member) {
        long step = SHORTEST;
        for (int i = 0; step < ttl; i++) {
            step = i % 3 == 1 ? step / 2 * 5 : step * 2;
        }
        return Math.max(ttl, Math.min(step, member.maxTtl()));
    }

    /** What is shorter from now on counts at once, what is longer when it is recorded. */
    private void reserve(long epoch, long ttl, Turn turn) {
        reserved = LeaderBound.of(epoch, ttl);
        longest = Math.min(longest, LeaderBound.longest(reserved));
        turn.call(FailoverKeys.ELECTION, new Reserve(reserved));
    }

    /** A majority is to know how long the longest lease is. */
    private void raise(Turn turn) {
        long needed = step(turn.member().longestLease(), turn.member());
        if (needed > LeaderBound.longest(reserved)) {
            reserve(LeaderBound.epoch(reserved), needed, turn);
        }
    }

    private void reserve(Turn turn) {
        MemberView member = turn.member();
        if (heedsLeases()) {
            raise(turn);
        }
        long epoch = LeaderBound.epoch(reserved);
        long ttl = LeaderBound.longest(reserved);
        long needed = step(heedsLeases() ? member.longestLease() : 0, member);
        if (needed >= ttl) {
            neededAt = turn.now();
        }
        if (member.epoch() + AHEAD / 2 > epoch) {
            reserve(member.epoch() + AHEAD, ttl, turn);
        } else if (turn.now() - neededAt >= Math.max(member.quarantine(), UNNEEDED) && !member.quarantined()) {
            turn.goal(LeaderGoal.LONGEST_LOWERED);
            reserve(epoch + 1, needed, turn);
        }
    }

    private static long lease(MemberView member) {
        return Math.min(LEASE, member.maxTtl());
    }

    /** @param reserves whether it looks at what is to be recorded, too, which takes a walk over all sessions */
    private void look(boolean reserves, Turn turn) {
        MemberView member = turn.member();
        if (leads()) {
            if (!seat.equals(opened) && !member.quarantined()) {
                opened = seat;
                turn.force(new Opened(seat));
            }
            if (reserves) {
                reserve(turn);
            }
            progress(turn);
            write(turn);
            if (letsClientsIn(turn.now())) {
                member.serve(
                        heedsLease() ? leasedUntil : turn.now() + Long.MAX_VALUE / 4, recorded, longest, keptNoted);
            } else if (leasedUntil != Turn.NEVER) {
                member.expect(leasedUntil, stage == Stage.TAKING ? takesUntil : formerUntil);
            }
        }
        tellWhetherSettled(turn);
        follow(turn);
        turn.timer(NEXT, nextStep(turn));
        arm(turn);
        List<String> deciding = leader.isEmpty() ? List.of() : List.of(leader);
        turn.call(FailoverKeys.CLUSTER, new HomeCall.Deciding(deciding, leasedUntil));
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof ChangeMembers wish && turn.peers().member(from).isEmpty()) {
            Members answer = MemberRequests.answer(wish, FailoverKeys.ELECTION, !members.isEmpty(), turn);
            turn.send(from, lists.answer(wish, answer, turn.peers().shards()));
        } else if (message instanceof NotesMessage said) {
            noted(turn.peers().member(from), said, turn);
            look(false, turn);
        }
    }

    private void noted(String member, NotesMessage said, Turn turn) {
        if (member.isEmpty()) {
            return; // no client speaks for a member
        }
        boolean byLeader = member.equals(leader) && said.seat().equals(leads) && !voted;
        boolean toLeader = leads() && said.seat().equals(seat);
        if (said instanceof Take && byLeader) {
            notes.answer(said.seat()).forEach(page -> turn.peers().send(member, page));
        } else if (said instanceof Take take && take.seat().compareTo(leads) > 0) {
            early = new Early(member, take);
        } else if (said instanceof Write write && byLeader) {
            Written answer = notes.heard(write);
            if (answer != null) {
                turn.peers().send(member, answer);
            }
        } else if (said instanceof Taken taken && toLeader && stage == Stage.TAKING) {
            notes.took(member, taken);
        } else if (said instanceof Written written && toLeader) {
            notes.confirmed(member, written);
        }
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == AGAIN && leads()) {
            for (String member : others(turn)) {
                ask(member, turn);
                notes.lookAfter(member);
            }
            againAt = Turn.NEVER;
        } else if (slot == OVER) {
            awaited.values().removeIf(over -> Turn.due(over, turn.now()));
            overAt = Turn.NEVER;
        }
        look(true, turn);
    }

    private long nextStep(Turn turn) {
        if (stage == Stage.FOLLOWING || stage == Stage.OPEN) {
            return completeAt;
        } else if (!Turn.due(formerUntil, turn.now())) {
            return formerUntil;
        }
        return stage == Stage.TAKING ? takesUntil : Turn.NEVER;
    }

    /** When a client is over for which it waits, and when a member is spoken to again. */
    private void arm(Turn turn) {
        if (overAt == Turn.NEVER) {
            for (long over : awaited.values()) {
                overAt = Turn.earlier(overAt, over);
            }
        }
        boolean isLate = leads() && !notes.areWith(others(turn));
        againAt = !isLate ? Turn.NEVER : againAt == Turn.NEVER ? turn.now() + PAUSE : againAt;
        turn.timer(OVER, overAt);
        turn.timer(AGAIN, againAt);
    }

    /** The key at which each member has one, as an election calls it. */
    static Key key() {
        return FailoverKeys.LEADERSHIP;
    }

    /** Since when it has the seat; {@link ViewId#NONE} if it has none. */
    ViewId seat() {
        return seat;
    }

    /** Whether clients are let in at that time. */
    boolean serves(long now) {
        return leads() && letsClientsIn(now) && leasedUntil != Turn.NEVER && now - leasedUntil < 0;
    }

    private boolean letsClientsIn(long now) {
        return stage == Stage.OPEN || (stage != Stage.TAKING && (Turn.due(formerUntil, now) || !isClosedAtFirst()));
    }

    /** Never: it knows whether this member leads. */
    @Override
    public boolean atRest() {
        return false;
    }

    /** One of the same kind, for {@link #copy}. */
    Leadership fresh() {
        return new Leadership();
    }

    @Override
    public Leadership copy() {
        Leadership copy = fresh();
        copy.seat = seat;
        copy.opened = opened;
        copy.leader = leader;
        copy.members = members;
        copy.leasedUntil = leasedUntil;
        copy.recorded = recorded;
        copy.reserved = reserved;
        copy.longest = longest;
        copy.neededAt = neededAt;
        copy.stage = stage;
        copy.notes = notes.copy();
        copy.leads = leads;
        copy.voted = voted;
        copy.early = early;
        copy.formerUntil = formerUntil;
        copy.takesUntil = takesUntil;
        copy.awaited.putAll(awaited);
        copy.holding.putAll(holding);
        copy.unnoted.addAll(unnoted);
        copy.completeAt = completeAt;
        copy.overAt = overAt;
        copy.againAt = againAt;
        copy.keptNoted = keptNoted;
        copy.settled = settled;
        copy.lists = lists.copy();
        copy.followsAt = followsAt;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.value(seat)
                .value(opened)
                .put(leader)
                .value(members)
                .time(leasedUntil)
                .put(recorded)
                .put(reserved)
                .put(longest)
                .time(neededAt)
                .value(stage)
                .value(leads)
                .put(voted)
                .value(early)
                .time(formerUntil)
                .time(takesUntil)
                .time(completeAt)
                .time(overAt)
                .time(againAt)
                .put(keptNoted)
                .put(settled)
                .value(holding)
                .value(unnoted)
                .put(awaited.size());
        awaited.forEach((client, over) -> out.value(client).time(over));
        notes.encode(out);
        lists.encode(out);
        out.time(followsAt);
    }
}
