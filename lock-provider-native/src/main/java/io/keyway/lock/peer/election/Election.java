// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionCall.ChangeMembers;
import io.keyway.lock.peer.election.ElectionMessage.Ballot;
import io.keyway.lock.peer.election.ElectionMessage.Confirm;
import io.keyway.lock.peer.election.ElectionMessage.Confirmed;
import io.keyway.lock.peer.election.ElectionMessage.Desist;
import io.keyway.lock.peer.election.ElectionMessage.ElectionDate;
import io.keyway.lock.peer.election.ElectionMessage.Introduce;
import io.keyway.lock.peer.election.ElectionMessage.Leaders;
import io.keyway.lock.peer.election.ElectionMessage.Promised;
import io.keyway.lock.peer.election.ElectionMessage.Remind;
import io.keyway.lock.peer.election.ElectionMessage.Rerun;
import io.keyway.lock.peer.election.ElectionMessage.Retire;
import io.keyway.lock.peer.election.ElectionMessage.Vote;
import io.keyway.lock.peer.kernel.Call;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.MemberView;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Peer;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.Membership;
import io.keyway.lock.peer.session.SeatKept;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A member's part in the election of leaders; every member has one. docs/algorithms/election.md numbers where it
 * departs from the source, and docs/models/README.md says which action of Views.tla is which method.
 *
 * <p><b>States</b>, as the source names them. <i>Booting</i>: this member does not hear a majority of the configured
 * members, or has lost its file and has not learned yet what the others have promised. <i>Pause</i>: an election is
 * wanted, and has a date. <i>Voting</i>: this member has voted for a view, and has not heard who leads in it.
 * <i>Elected</i>: it knows who leads, and has promised nothing later.
 *
 * <p><b>Messages</b> ({@link ElectionMessage}). ELECTION_DATE says when an election is wanted, and at the date asks for
 * votes; VOTE or DESIST answers. LEADERS says who was elected, to whoever may not know. RETIRE and RERUN go on after an
 * election without result. CONFIRM is answered by CONFIRMED, REMIND by PROMISED.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>V1. A member votes once for a view, and from then on neither votes for an earlier one nor confirms one. What it
 *       says of that is on its disk before it leaves. So two views that are confirmed by majorities were elected one
 *       after the other, and the later one's proposer knew of the earlier one.
 *   <li>V2. The users may count what leaders say until {@link ElectionCall.Leased}, which is a lease after the latest
 *       time at which they asked whom a majority of its members has confirmed to have promised nothing later
 *       than the present view. Who knew no view has confirmed none: the leaders of a first view, who need not be
 *       silent, would not have to wait for those who count by one that it voted for.
 *   <li>V5. A member that has started without a record has forgotten what it has promised, and records nothing before
 *       it has learned that: so has its next life, however long the former one has waited. It is silent until nothing
 *       stands that it can have confirmed, and until a majority of others, none of which has forgotten, has said what
 *       it has promised; or all others have, of whom those that have forgotten have waited too. Where all say that the
 *       cluster has never run, nobody has forgotten anything.
 *   <li>A member whose leases were longer in a former life neither votes nor confirms before what is left of its
 *       quarantine is as short as one of this life: others compute by the shorter leases for how long leaders are
 *       silent that get a seat.
 *   <li>A leader keeps its seat while it is heard and confirms: one that has forgotten does not know that it leads.
 *   <li>V6. Leaders let in no ticket above what a majority has recorded by the view that they lead in; so whoever
 *       counts the votes for the next view knows a bound of all of them. {@link Bounds} says what is recorded.
 *   <li>A view counts by the list of members that it has. A majority of the list before it and of its own has voted for
 *       it, and of each list that one of these has voted for since it adopted a view ({@link MemberLists}). Who
 *       stays in the list keeps its number ({@link MemberNumbers}).
 * </ul>
 */
class Election implements Machine {
    private static final int LOOK = 0;
    private static final int ASK = 1;
    private static final int DATE = 2;
    private static final int WAITED = 3;

    private static final long MILLI = 1_000_000L;
    /** How long the first election waits for those that are not there yet. */
    static final long PAUSE = 10_000 * MILLI;
    /** The least and the most that a later one waits, so that seldom two begin together. */
    private static final long SHORT_PAUSE = 100 * MILLI;

    private static final int SPREAD_BITS = 28;
    /** By so many bits that grows at the most while elections have no result. */
    private static final int MOST_FAILURES = 4;
    /** For so long whoever counts votes waits for them; who has voted waits twice as long for LEADERS. */
    private static final long VOTING = 1_500 * MILLI;
    /** Whoever has lost its file waits for so long after a quarantine: all votes have lapsed that it may have given. */
    private static final long LAPSE = 3 * VOTING;

    private static final long AGAIN = 500 * MILLI;
    /** A member has been there for so long before a seat moves to it. */
    private static final long STEADY = 10_000 * MILLI;
    /** A member that does not want a seat is asked again after so long. */
    private static final long UNWANTED = 60_000 * MILLI;

    /** For so many of the longest leases others count what a member has said: those of a leader of a bakery. */
    private static final int LONGEST_WORD = 2;

    enum Phase {
        BOOTING,
        PAUSE,
        VOTING,
        ELECTED
    }

    private final ElectionSettings settings;
    private MemberLists lists = new MemberLists();
    /** The list of the latest view that it has heard of. */
    private List<String> members = List.of();
    /** All that it talks to: the members, and those that are in a list that may come to count. */
    private Set<String> fellows = new TreeSet<>();

    private String self = "";
    private long life;
    private int random;
    private Ranks ranks = Ranks.NONE;
    private Phase phase = Phase.BOOTING;
    private boolean started;
    /** It has no record, although it may have had one: it takes no part before it has learned. */
    private boolean forgot;
    /** Its quarantine is over. */
    private boolean opened;
    /** Nothing stands any more that it may have confirmed in a former life. */
    private boolean waited;
    /** It is in no list that it knows of, and has waited for so long that no vote of a former life is on its way. */
    private boolean listened;
    /** Until when it neither votes nor confirms; NEVER if it does. */
    private long abstainsUntil = Turn.NEVER;
    /** Members that this one did not know and that know it, and when each said so last; while it has forgotten. */
    private final TreeMap<String, Long> strangers = new TreeMap<>();

    private long startedAt = Turn.NEVER;

    /** A record was forced or found. */
    private boolean recordedOnce;

    private ViewId promised = ViewId.NONE;
    private View adopted = View.NONE;
    /** A later one that was elected, which this member cannot adopt since it has voted for a later one still. */
    private View missed = View.NONE;

    private long recorded;
    /** When this member holds an election, in its pause, or waits no more, while it votes. */
    private long date = Turn.NEVER;
    /** Who has said that it wants one, since the last view. */
    private ElectionDates dates = new ElectionDates(VOTING);

    private VoteCount counting = new VoteCount();

    /** Elections without result since the last view, up to {@link #MOST_FAILURES}. */
    private int failures;
    /** The highest round that it was told of. */
    private long heard;

    private Reminders reminders = new Reminders();
    /** Since when leaders are not heard. */
    private LostLeaders lost = new LostLeaders();

    private Confirmations confirmations = new Confirmations();
    /** Since when those were met that have confirmed nothing since. */
    private final TreeMap<String, Long> unconfirmed = new TreeMap<>();
    /** What that member has asked of a view that this one did not know. */
    private final TreeMap<String, Confirm> early = new TreeMap<>();

    /** Since when each member is there. */
    private final TreeMap<String, Long> met = new TreeMap<>();
    /** Members that did not want the seat of this one though they come first, and when they are asked again. */
    private final TreeMap<String, Long> behind = new TreeMap<>();
    /** This member is about to end. */
    private boolean leaves;
    /** When this member has got its seat, or has tried last to give it to one that comes before it. */
    private long triedAt = Turn.NEVER;

    private ListChange change = new ListChange();
    /** Whether the list may change now; null while that is for no user to say. */
    private @Nullable Boolean settled;

    private long leased = Turn.NEVER;
    /**
     * When the leases of all leaders up to now are over, as far as this member knows: by what it has confirmed to
     * leaders, and by what others have said of views that were elected.
     */
    private long formerUntil = Turn.NEVER;

    private long lookAt = Turn.NEVER;
    private long wanted;
    private long granted;

    Election(ElectionSettings settings) {
        this.settings = settings;
    }

    // What an unsafe variant does in another way

    /** Whether it keeps what it has voted for. */
    boolean keepsPromises() {
        return true;
    }

    /** Whether a member without a record waits and learns. */
    boolean learns() {
        return true;
    }

    /**
     * For so many nanoseconds a leader may still lead by what this member has said. It confirms itself until it votes;
     * so it may itself be leased the view for a whole lease from now, where it leads. An unsafe variant says 0.
     */
    long left(Turn turn) {
        long now = turn.now();
        long until = adopted.leads(self) ? Turn.later(formerUntil, now + lease(turn)) : formerUntil;
        return until == Turn.NEVER ? 0 : Math.max(0, until - now);
    }

    // Calls

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof MemberView.Restored restored) {
            Ballot ballot = (Ballot) restored.record();
            promised = ballot.promised();
            adopted = ballot.adopted();
            recorded = ballot.recorded();
            lists.restored(ballot.open());
            recordedOnce = true;
        } else if (call instanceof MemberView.Started) {
            start(turn);
        } else if (call instanceof MemberView.Opening) {
            opens(turn);
        } else if (call instanceof PeerView.PeerUp up) {
            unconfirmed.put(up.member(), turn.now());
            meets(up.member(), turn);
            greet(up.member(), turn);
        } else if (call instanceof PeerView.PeerDown down) {
            unconfirmed.remove(down.member());
            met.remove(down.member());
            change.isGone(down.member());
        } else if (call instanceof PeerView.PeerTrusted again) {
            meets(again.member(), turn);
        } else if (call instanceof PeerView.Stranger stranger && forgot && started) {
            greets(stranger.member(), turn);
        } else if (call instanceof ChangeMembers wish && started) {
            change.wants(wish, turn.now());
            relist(turn);
            if (wish.add()) {
                sayToAll(new Introduce(settings.key(), wish.member()), turn);
            }
        } else if (call instanceof ElectionCall.Settled now) {
            settled = now.settled();
        } else if (call instanceof ElectionCall.HandOver) {
            handOver(turn);
        } else if (call instanceof ElectionCall.Reserve reserve) {
            wanted = Math.max(wanted, reserve.bound());
            ask(turn);
        }
        look(turn);
    }

    private void start(Turn turn) {
        PeerView peers = turn.peers();
        self = peers.self();
        ranks = new Ranks(peers.shard(), peers.shards());
        lists.configured(peers.members());
        adopted = adopted.listed(lists.configured());
        life = turn.draw(62);
        random = (int) turn.draw(Identifier.RANDOM_BITS);
        forgot = !recordedOnce && learns();
        started = true;
        startedAt = turn.now();
        formerMayLead(longestLease(turn), turn); // by what a former life has confirmed
        abstainsUntil = turn.member().opensAt() == Turn.NEVER
                ? Turn.NEVER
                : said(turn.member().opensAt() - turn.member().quarantine());
        if (!forgot) {
            record(turn);
        } else if (!lists.configured().contains(self)) {
            turn.timer(WAITED, turn.now() + LAPSE);
        }
        if (turn.member().quarantined()) {
            turn.member().awaitOpening(settings.key());
        } else {
            opens(turn);
        }
        relist(turn);
        peers.watch(settings.key());
        if (!adopted.id().equals(ViewId.NONE)) {
            tell(new ElectionCall.Elected(adopted, true, recorded, formerUntil), turn);
        }
        tellVoted(turn);
        ask(turn);
    }

    private void tellVoted(Turn turn) {
        if (isStuck()) {
            tell(new ElectionCall.Voted(), turn);
        }
    }

    /** It is known what former lives there can have been: none, or one whose votes have soon lapsed. */
    private void opens(Turn turn) {
        opened = true;
        if (!turn.member().isFirstUse()) {
            turn.timer(WAITED, turn.now() + LAPSE);
            return;
        }
        turn.goal(ElectionGoal.FIRST_USE);
        waited = true;
        if (forgot) {
            forgot = false;
            record(turn);
        }
    }

    private void record(Turn turn) {
        recordedOnce = true;
        turn.force(new Ballot(settings.key(), promised, adopted, recorded, lists.open()));
    }

    private void record(long bound, Turn turn) {
        long now = settings.bounds().after(recorded, bound);
        if (now != recorded) {
            recorded = now;
            record(turn);
        }
    }

    private void tell(ElectionCall call, Turn turn) {
        for (Key user : settings.users()) {
            turn.call(user, call);
        }
    }

    private void say(String member, ElectionMessage message, Turn turn) {
        if (!member.equals(self) && turn.peers().up(member)) {
            turn.peers().send(member, message);
        }
    }

    private void sayToAll(ElectionMessage message, Turn turn) {
        for (String member : fellows) {
            say(member, message, turn);
        }
    }

    /** The latest view that it has heard of. */
    private View latest() {
        return missed.id().compareTo(adopted.id()) > 0 ? missed : adopted;
    }

    /** By whom it counts, and whom it talks to, follows from what it knows. */
    private void relist(Turn turn) {
        List<String> now = lists.of(latest());
        if (!now.equals(members)) {
            change.leave(members, now, turn.now());
            members = now;
            confirmations.forgetAll();
            dates.keep(members);
        }
        Set<String> all = new TreeSet<>(members);
        all.addAll(lists.voted());
        if (!members.contains(self)) {
            all.addAll(lists.configured()); // whoever is no member yet has to be heard by those that are
        }
        if (forgot) {
            all.addAll(strangers.keySet());
            reminders.lists(lists.of(reminders.latest())).forEach(all::addAll);
        }
        change.addTo(all);
        all.remove(self);
        fellows = all;
        turn.peers().follow(members, all);
    }

    private void greet(String member, Turn turn) {
        if (forgot) {
            reminders.remove(member);
            if (listened) {
                say(member, new Remind(settings.key()), turn);
            }
            return;
        }
        if (phase == Phase.PAUSE) {
            say(member, date(turn), turn);
        }
        sayLeaders(member, turn);
        if (abstains(turn)) {
            return;
        }
        say(member, new Confirm(settings.key(), adopted.id(), turn.now(), bound()), turn);
    }

    private void sayLeaders(String member, Turn turn) {
        if (!adopted.id().equals(ViewId.NONE)) {
            say(member, leaders(turn), turn);
        }
    }

    private Leaders leaders(Turn turn) {
        return leaders(false, turn);
    }

    private Leaders leaders(boolean over, Turn turn) {
        return new Leaders(settings.key(), adopted, recorded, left(turn), over);
    }

    // Messages

    @Override
    public void received(Peer from, Message message, Turn turn) {
        String member = turn.peers().member(from);
        if (!started || !fellows.contains(member)) {
            return; // no client speaks for a member
        }
        if (message instanceof Promised answer) {
            reminders.put(member, answer);
            relist(turn);
        } else if (message instanceof Remind) {
            boolean sound = !forgot;
            if (sound || waited) {
                say(member, new Promised(settings.key(), promised, latest(), recorded, sound, lists.open()), turn);
            }
        } else if (message instanceof Introduce guest && members.contains(member)) {
            change.introduced(guest.member(), turn.now());
            relist(turn);
        } else if (!forgot && !abstains(turn)) {
            heard(member, (ElectionMessage) message, turn);
        }
        look(turn);
    }

    private void heard(String member, ElectionMessage message, Turn turn) {
        if (message instanceof ElectionDate wish) {
            date(member, wish, turn);
        } else if (message instanceof Vote vote) {
            heard = Math.max(heard, vote.adopted().id().round());
            counting.voted(member, vote, turn.now());
        } else if (message instanceof Desist desist) {
            heard = Math.max(heard, desist.promised().round());
            counting.desisted(member, desist.round());
        } else if (message instanceof Retire retire) {
            if (phase == Phase.VOTING && retire.round().equals(promised) && !counting.isOpen()) {
                pause(turn);
            }
        } else if (message instanceof Rerun rerun) {
            heard = Math.max(heard, rerun.round().round());
            if (adopted.id().compareTo(rerun.round()) >= 0) {
                sayLeaders(member, turn);
            }
        } else if (message instanceof Leaders leaders) {
            leaders(member, leaders, turn);
        } else if (message instanceof Confirm confirm) {
            confirm(member, confirm, turn);
        } else if (message instanceof Confirmed confirmed) {
            confirmed(member, confirmed, turn);
        }
    }

    /** When nobody counts any more what a former life has said by longer leases, which last until that time. */
    private long said(long until) {
        long lease = settings.lease(Long.MAX_VALUE);
        return lease == Long.MAX_VALUE ? until : Turn.earlier(until, startedAt + SessionSettings.quarantine(lease));
    }

    /** Somebody takes this member for one that it works with. */
    private void greets(String stranger, Turn turn) {
        boolean known = strangers.containsKey(stranger);
        if (known || (!stranger.equals(self) && strangers.size() < Membership.MAX_MEMBERS)) {
            strangers.put(stranger, turn.now());
        }
        if (!known) {
            relist(turn);
        }
    }

    /** Strangers that have gone for as long as anything can count that a former life of this member has said. */
    private boolean isGone(String stranger, long greeted, Turn turn) {
        return !turn.peers().up(stranger)
                && turn.now() - greeted >= turn.member().quarantine() + LAPSE;
    }

    /** It has promised by longer leases than those of this life, which are not over. */
    private boolean abstains(Turn turn) {
        return abstainsUntil != Turn.NEVER && !Turn.due(abstainsUntil, turn.now());
    }

    /** It has voted for a later view than the one that it knows. */
    private boolean isStuck() {
        return promised.compareTo(adopted.id()) > 0;
    }

    // Who wants an election

    private ElectionDate date(Turn turn) {
        return date(ViewId.NONE, true, members, turn);
    }

    /** @param mayReplace false: all leaders are there, and another list or another leader is wanted */
    private ElectionDate date(ViewId round, boolean mayReplace, List<String> list, Turn turn) {
        long left = date == Turn.NEVER ? 0 : Math.max(0, date - turn.now());
        boolean replaces = mayReplace && !isStuck() && !adopted.id().equals(ViewId.NONE);
        return new ElectionDate(settings.key(), round, left, identifier(), adopted.id(), promised, replaces, list);
    }

    private Identifier identifier() {
        return identifier(adopted.leads(self) ? 0 : settings.priority());
    }

    private Identifier identifier(int priority) {
        return new Identifier(priority, ranks.before(random, self, members), self);
    }

    private void date(String member, ElectionDate wish, Turn turn) {
        if (!wish.round().equals(ViewId.NONE)) {
            asked(member, wish, turn);
            return;
        }
        if (!members.contains(member)) {
            sayLeaders(member, turn); // it may not know that it is none, and takes part in no election of others
            return;
        }
        boolean isNew = dates.isNew(member, wish, turn.now());
        if (isNew && phase == Phase.PAUSE) {
            say(member, date(turn), turn); // when that was said to all it may not have listened yet
        }
        if (wish.adopted().compareTo(adopted.id()) < 0) {
            sayLeaders(member, turn); // too late: the election is over
        }
        long theirs = turn.now() + wish.left();
        // One that wants to replace a leader may ask for long whether others agree, which this one cannot if it is
        // stuck.
        boolean waits = !wish.replaces() || !isStuck();
        if (phase == Phase.PAUSE && waits && theirs - date < 0) {
            date = theirs + VOTING; // the smallest date counts; this one is for the case that nothing comes of it
        }
    }

    /** Asked for its vote. */
    private void asked(String member, ElectionDate wish, Turn turn) {
        heard = Math.max(heard, wish.round().round());
        // Who has promised a later view than this one cannot adopt it: it needs another election.
        boolean late =
                wish.adopted().compareTo(adopted.id()) < 0 && wish.promised().compareTo(adopted.id()) <= 0;
        if (late) {
            sayLeaders(member, turn);
        }
        boolean heardOtherwise = !isStuck()
                && wish.replaces()
                && missing(turn).isEmpty()
                && adopted.seats().size() == seats(members);
        if (heardOtherwise) {
            turn.goal(ElectionGoal.SUSPECTED_ALONE);
        }
        boolean promisedLater = wish.round().compareTo(promised) <= 0 && keepsPromises();
        if (promisedLater || (late && !isStuck()) || heardOtherwise || !lists.canVoteFor(wish.list())) {
            turn.goal(ElectionGoal.DESISTED);
            say(member, new Desist(settings.key(), wish.round(), promised), turn);
            return;
        }
        Vote own = own(wish.round(), turn);
        countNoMore(turn);
        vote(wish.round(), wish.list(), turn);
        date = turn.now() + 2 * VOTING;
        say(member, own, turn);
    }

    /**
     * Its vote, before it votes: it names the lists for which it has voted before (J2). A member that could not serve
     * with the seat wants it only if no other one does.
     */
    Vote own(ViewId round, Turn turn) {
        boolean isReady = adopted.leads(self) || (!leaves && !turn.member().quarantined() && hearsMajority(turn));
        Identifier identifier = isReady ? identifier() : identifier(Identifier.OFF);
        return new Vote(settings.key(), round, identifier, latest(), recorded, left(turn), lists.open());
    }

    private void vote(ViewId round, List<String> list, Turn turn) {
        if (keepsPromises()) {
            promised = round;
            lists.votedFor(list);
            record(turn);
            relist(turn);
            tellVoted(turn);
        }
        phase = Phase.VOTING;
        date = turn.now() + VOTING;
        counting.forget();
    }

    /** The leaders that this member does not hear, whatever for. */
    private Set<String> missing(Turn turn) {
        Set<String> missing = new TreeSet<>();
        for (View.Seat seat : adopted.seats()) {
            String leader = seat.leader();
            if (isSilent(leader, turn) || !members.contains(leader) || hasForgotten(leader, turn)) {
                missing.add(leader);
            }
        }
        return missing;
    }

    /** Whether that member was met long ago, is asked four times in a lease, and has not confirmed anything since. */
    private boolean hasForgotten(String member, Turn turn) {
        Long since = unconfirmed.get(member);
        return since != null && turn.now() - since >= lease(turn) / 2;
    }

    /** Whether that member is there, as far as those know that are to replace it. */
    private boolean isThere(String member, Turn turn) {
        boolean replaced = hasForgotten(member, turn) && lost.isLost(member, turn.now(), detection(turn));
        return heard(member, turn) && !replaced;
    }

    private boolean isSilent(String member, Turn turn) {
        return !member.equals(self)
                && (!fellows.contains(member) || turn.peers().suspected(member));
    }

    private boolean heard(String member, Turn turn) {
        return !isSilent(member, turn);
    }

    private boolean hearsMajority(Turn turn) {
        List<String> present = new ArrayList<>(members);
        present.removeIf(member -> isSilent(member, turn));
        return MemberLists.isMajority(present, members);
    }

    private int seats(List<String> list) {
        return Math.min(settings.leaders(), list.size());
    }

    private long detection(Turn turn) {
        return Math.min(settings.patience(), lease(turn));
    }

    /** Whether a leader was lost, for long enough, whose seat another member can take. */
    private boolean lacksLeader(Turn turn) {
        boolean isLost = lost.areLost(missing(turn), turn.now(), detection(turn));
        boolean spare = false;
        for (String member : members) {
            spare |= !adopted.leads(member) && !isSilent(member, turn);
        }
        return isLost && spare;
    }

    /** Its state follows from what it knows. */
    private void look(Turn turn) {
        if (!started) {
            return;
        }
        if (forgot) {
            learn(turn);
        }
        boolean known = members.size() == 1 || turn.peers().confirmed();
        if (change.isOver(members, turn.now())) {
            relist(turn);
        }
        if (forgot || abstains(turn) || !known || !members.contains(self) || !hearsMajority(turn)) {
            phase = Phase.BOOTING;
            countNoMore(turn);
            date = Turn.NEVER;
        } else if (phase == Phase.VOTING) {
            if (counting.isOpen()) {
                count(turn);
            }
            if (phase == Phase.VOTING && Turn.due(date, turn.now())) {
                giveUp(turn);
            }
        } else {
            boolean none = adopted.id().equals(ViewId.NONE);
            boolean lacks = !none && (adopted.seats().size() != seats(members) || lacksLeader(turn));
            if (!none && !isStuck() && !lacks) {
                phase = Phase.ELECTED;
                date = Turn.NEVER;
                // It may have heard of another leader in this turn, and its user not yet.
                boolean mayChange = settled == null || (settled && adopted.leads(self));
                if (mayChange && !listAfter(turn).equals(members)) {
                    begin(false, turn);
                } else if (mayLeave() && isToMove(turn)) {
                    triedAt = turn.now();
                    begin(members, false, VoteCount.Seat.MOVED, turn);
                }
            } else if (phase != Phase.PAUSE) {
                pause(turn);
            }
            if (phase == Phase.PAUSE && mayBegin(turn)) {
                begin(true, turn);
            } else if (phase == Phase.PAUSE && !none && dates.isDue(turn.now())) {
                sayDate(turn); // the dates of others put off its own, and its wish is to count
            }
        }
        renew(turn);
        arm(turn);
    }

    private void pause(Turn turn) {
        phase = Phase.PAUSE;
        countNoMore(turn);
        boolean first = adopted.id().equals(ViewId.NONE) && promised.equals(ViewId.NONE);
        date = turn.now() + (first ? PAUSE : spread(turn));
        sayDate(turn);
    }

    private void sayDate(Turn turn) {
        dates.said(turn.now());
        sayToAll(date(turn), turn);
    }

    /** Seldom the same at two members. */
    private long spread(Turn turn) {
        return SHORT_PAUSE + turn.draw(SPREAD_BITS + failures);
    }

    private boolean mayBegin(Turn turn) {
        boolean replaces = !isStuck() && !adopted.id().equals(ViewId.NONE);
        if (!Turn.due(date, turn.now())) {
            boolean first = adopted.id().equals(ViewId.NONE) && dates.isSmallestOf(identifier(), members);
            if (first) {
                turn.goal(ElectionGoal.ALL_THERE);
            }
            return first;
        }
        if (replaces && !MemberLists.isMajority(agree(turn), members)) {
            date = turn.now() + spread(turn); // the others may come to miss that leader too
            sayDate(turn);
            return false;
        }
        return true;
    }

    /** Those that want to replace a leader of its view, too, and have said so not long ago. */
    private Set<String> agree(Turn turn) {
        return dates.agree(self, adopted.id(), turn.now() - Math.max(2 * VOTING, lease(turn)));
    }

    // Votes

    /** @param mayReplace false: all leaders are there, and another list is wanted */
    private void begin(boolean mayReplace, Turn turn) {
        // What a leader has settled is no more so when another one is elected.
        begin(mayReplace && settled != null ? members : listAfter(turn), mayReplace, VoteCount.Seat.KEPT, turn);
    }

    private void begin(List<String> list, boolean mayReplace, VoteCount.Seat seat, Turn turn) {
        long round = Math.max(heard, Math.max(promised.round(), latest().id().round())) + 1;
        ElectionDate now = date(new ViewId(round, self, life), mayReplace, list, turn);
        heard = round;
        Vote own = own(now.round(), turn);
        vote(now.round(), list, turn);
        counting.begin(now.round(), members, list, seat);
        counting.voted(self, own, turn.now());
        sayToAll(now, turn);
        count(turn);
    }

    /**
     * Gives its seat to another member, if the others can do without this one. That one waits for no lease: this one
     * counts the votes, and adopts the view before anybody else hears of it.
     */
    private void handOver(Turn turn) {
        leaves = true;
        List<String> others = new ArrayList<>(members);
        others.removeIf(member -> !isFit(member, turn));
        if (mayLeave() && MemberLists.isMajority(others, members)) {
            begin(members, false, VoteCount.Seat.LEFT, turn);
        } else {
            turn.tell(new SeatKept());
        }
    }

    private void meets(String member, Turn turn) {
        if (ranks.shards() > 1) {
            met.put(member, turn.now());
        }
    }

    /** Whether it has the one seat, and may give it away. */
    private boolean mayLeave() {
        return settled != null && settled && phase == Phase.ELECTED && adopted.leads(self) && !isStuck();
    }

    /** Whether another member can get the seat. */
    private boolean isFit(String member, Turn turn) {
        return !member.equals(self) && !isSilent(member, turn) && !hasForgotten(member, turn);
    }

    /** Whether a member is back that is to lead before this one, and has been there for some time. */
    private boolean isToMove(Turn turn) {
        boolean before = triedAt == Turn.NEVER || turn.now() - triedAt >= STEADY;
        boolean found = false;
        for (String member : met.isEmpty() ? List.<String>of() : ranks.order(members)) {
            before &= !member.equals(self);
            Long since = met.get(member);
            boolean steady = since != null && turn.now() - since >= STEADY && isFit(member, turn);
            found |= before && steady && Turn.due(behind.getOrDefault(member, turn.now()), turn.now());
        }
        return found;
    }

    private List<String> listAfter(Turn turn) {
        return change.after(members, each -> heard(each, turn));
    }

    private void count(Turn turn) {
        if (turn.now() - date > VOTING) {
            return; // this member stood still: who has voted may have forgotten
        }
        VoteCount.Result result = counting.result(Turn.due(date, turn.now()), each -> heard(each, turn));
        if (result == VoteCount.Result.ELECTED) {
            elect(turn);
        } else if (result == VoteCount.Result.HOPELESS) {
            giveUp(turn);
        }
    }

    /** Counts no more; the seat that this member wanted to give away stays with it for now. */
    private void countNoMore(Turn turn) {
        if (counting.isOpen() && counting.isToLeave()) {
            turn.tell(new SeatKept());
        }
        counting.end();
    }

    private void giveUp(Turn turn) {
        failures = Math.min(failures + 1, MOST_FAILURES);
        if (counting.view().equals(promised)) {
            turn.goal(ElectionGoal.RETIRED);
            sayToAll(new Retire(settings.key(), promised), turn);
        } else {
            turn.goal(ElectionGoal.RERUN);
            sayToAll(new Rerun(settings.key(), promised), turn);
        }
        pause(turn);
    }

    /** Majorities have voted. */
    private void elect(Turn turn) {
        View last = counting.latest(latest());
        formerUntil = Turn.later(formerUntil, counting.formerUntil());
        List<String> target = counting.list();
        if (!lists.of(last).equals(counting.base())) {
            missed = last;
            relist(turn);
            giveUp(turn);
            return;
        } else if (!target.equals(counting.base())) {
            turn.goal(ListGoal.LIST_CHANGED);
        }
        String leaver = counting.leaves(identifier(settings.priority())) ? self : "";
        Seating seating = Seating.of(last, leaver, counting, seats(target), each -> isThere(each, turn));
        // A view that this member did not know has a leader of its own, which may be leased it.
        boolean over = !leaver.isEmpty() && last.id().equals(adopted.id());
        if (seating.replaces()) {
            turn.goal(ElectionGoal.LEADER_REPLACED);
        } else if (counting.isToMove()) {
            counting.votes().forEach(vote -> behind.put(vote.identifier().member(), turn.now() + UNWANTED));
        }
        View view = last.listed(counting.base()).next(counting.view(), seating.seats(), target);
        adopt(view, false, counting.recorded(settings.bounds()), formerUntil, turn);
        sayToAll(leaders(over, turn), turn); // to whom it is without, too
        relist(turn);
    }

    // Views

    private void leaders(String member, Leaders said, Turn turn) {
        ViewId id = said.view().id();
        heard = Math.max(heard, id.round());
        formerMayLead(said.left(), turn);
        long former = said.over() ? turn.now() : formerUntil;
        if (id.compareTo(adopted.id()) < 0) {
            sayLeaders(member, turn);
        } else if (id.compareTo(adopted.id()) > 0 && id.compareTo(promised) >= 0) {
            if (!id.equals(promised)) {
                turn.goal(ElectionGoal.LATE);
            }
            adopt(said.view(), false, said.recorded(), former, turn);
            relist(turn);
        } else if (id.compareTo(latest().id()) > 0) {
            missed = said.view();
            relist(turn);
        }
    }

    /** @param former when the lease of the former leader is over */
    private void adopt(View view, boolean known, long bound, long former, Turn turn) {
        if (!view.since(self).equals(adopted.since(self))) {
            confirmations.forgetAll(); // voters count what they have confirmed to leaders alone
            triedAt = turn.now(); // the member that gave it away may be about to end
        }
        adopted = view;
        promised = view.id();
        recorded = settings.bounds().after(recorded, bound);
        lists.adopted();
        record(turn);
        phase = Phase.ELECTED;
        date = Turn.NEVER;
        if (view.leads(self)) {
            countNoMore(turn);
        }
        counting.end();
        counting.forget();
        dates.forget();
        failures = 0;
        confirmations.forgetBounds();
        lost.forget();
        tell(new ElectionCall.Elected(view, known, recorded, former), turn);
        ask(turn);
        Map<String, Confirm> questions = new TreeMap<>(early);
        early.clear();
        questions.forEach((member, question) -> confirm(member, question, turn));
    }

    // Confirmations

    private long bound() {
        return wanted > granted ? wanted : 0;
    }

    /** Asks all for their confirmations. */
    private void ask(Turn turn) {
        if (!started || forgot) {
            return;
        } else if (abstains(turn)) {
            turn.timer(ASK, abstainsUntil);
            return;
        }
        if (!isStuck()) {
            record(bound(), turn);
        }
        sayToAll(new Confirm(settings.key(), adopted.id(), turn.now(), bound()), turn);
        turn.timer(ASK, turn.now() + lease(turn) / 4);
    }

    private void confirm(String member, Confirm question, Turn turn) {
        if (!members.contains(member)) {
            change.canVote(member);
        }
        int later = question.view().compareTo(adopted.id());
        if (later < 0) {
            sayLeaders(member, turn);
        } else if (later > 0) {
            ViewId known = adopted.id();
            early.put(member, question);
            say(member, new Confirmed(settings.key(), known, question.asked(), 0), turn); // it says who leads
        } else if (isStuck()) {
            turn.goal(ElectionGoal.NOT_CONFIRMED);
        } else {
            record(question.bound(), turn);
            if (adopted.leads(member)) {
                formerMayLead(lease(turn), turn);
            }
            say(member, new Confirmed(settings.key(), question.view(), question.asked(), question.bound()), turn);
        }
    }

    private void confirmed(String member, Confirmed answer, Turn turn) {
        if (answer.view().compareTo(adopted.id()) < 0) {
            sayLeaders(member, turn);
        } else if (answer.view().equals(adopted.id()) && !adopted.id().equals(ViewId.NONE)) {
            unconfirmed.remove(member);
            confirmations.confirmed(member, answer.asked(), answer.bound());
        }
    }

    /** What a majority has confirmed and recorded. */
    private void renew(Turn turn) {
        if (adopted.id().equals(ViewId.NONE) || forgot || abstains(turn)) {
            return;
        }
        if (!isStuck()) {
            confirmations.confirmed(self, turn.now(), 0);
        }
        List<String> counted = lists.of(adopted);
        long asked = confirmations.majorityAsked(counted, turn.now());
        long lease = lease(turn);
        long until = asked == Turn.NEVER ? Turn.NEVER : asked + lease;
        if (until != Turn.NEVER && (leased == Turn.NEVER || until - leased > 0)) {
            leased = until;
            tell(new ElectionCall.Leased(until), turn);
        }
        boolean asksMore = wanted > granted && recorded >= wanted && !isStuck();
        if (asksMore && confirmations.haveRecorded(counted, self, wanted, turn.now() - lease)) {
            granted = wanted;
            tell(new ElectionCall.Recorded(granted), turn);
        }
    }

    // After the loss of a file

    /** Others have had longer leases, as this one may have had, and may count what it has said by them. */
    private boolean mayCountLonger(Turn turn) {
        long longest = turn.peers().longestTtl();
        if (longest <= turn.member().maxTtl()) {
            return false;
        }
        long lasts = LONGEST_WORD * SessionSettings.quarantine(longest)
                - turn.member().quarantine();
        return !Turn.due(said(startedAt + lasts), turn.now());
    }

    private void learn(Turn turn) {
        if (strangers.entrySet().removeIf(each -> isGone(each.getKey(), each.getValue(), turn))) {
            relist(turn);
        }
        View latest = reminders.latest();
        Set<String> known = new TreeSet<>(lists.of(latest));
        if (latest.id().equals(ViewId.NONE)) {
            known.addAll(strangers.keySet());
        }
        List<String> list = List.copyOf(known);
        boolean mayHaveVoted = false;
        for (List<String> each : reminders.lists(list)) {
            mayHaveVoted |= each.contains(self);
        }
        boolean hasWaited = waited || (listened && !mayHaveVoted);
        if (!hasWaited || !reminders.areEnough(self, list, turn) || mayCountLonger(turn)) {
            return;
        }
        turn.goal(ElectionGoal.LEARNED);
        promised = reminders.promised(promised);
        recorded = reminders.recorded(recorded, settings.bounds());
        forgot = false;
        strangers.clear();
        record(turn);
        formerMayLead(longestLease(turn), turn);
        if (latest.id().compareTo(promised) >= 0 && !latest.id().equals(ViewId.NONE)) {
            adopt(latest, true, recorded, formerUntil, turn);
        } else {
            missed = latest;
        }
        tellVoted(turn);
        relist(turn);
        ask(turn);
    }

    // Time

    private void formerMayLead(long left, Turn turn) {
        formerUntil = Turn.later(formerUntil, VoteCount.until(left, turn.now()));
    }

    /** Of a leader whose longest grant may be longer than that of this life. */
    private long longestLease(Turn turn) {
        long lease = settings.lease(Long.MAX_VALUE);
        return lease == Long.MAX_VALUE ? lease(turn) : lease;
    }

    private long lease(Turn turn) {
        return settings.lease(turn.member().maxTtl());
    }

    private void arm(Turn turn) {
        turn.timer(DATE, date);
        long next = lost.next(turn.now(), detection(turn), AGAIN);
        if (phase == Phase.BOOTING || phase == Phase.PAUSE || change.isOpen()) {
            next = Turn.earlier(next, turn.now() + AGAIN);
        } else if (phase == Phase.ELECTED && next == Turn.NEVER && members.size() > 1) {
            next = turn.now() + Math.max(detection(turn), AGAIN); // whether leaders are heard
        }
        next = abstains(turn) ? Turn.earlier(next, abstainsUntil) : next;
        lookAt = Turn.earlier(next, Turn.due(lookAt, turn.now()) ? Turn.NEVER : lookAt); // messages put it off never
        turn.timer(LOOK, lookAt);
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == ASK) {
            ask(turn);
        } else if (slot == WAITED) {
            listened = true;
            waited = opened;
            if (waited) {
                reminders = new Reminders(); // others may have recorded more since they answered
            }
        }
        if (slot != ASK && forgot && listened) {
            sayToAll(new Remind(settings.key()), turn);
        }
        look(turn);
    }

    // State

    Phase phase() {
        return phase;
    }

    View adopted() {
        return adopted;
    }

    ViewId promised() {
        return promised;
    }

    /** Until when what is said by its view may be counted; NEVER if it may not. */
    long leased() {
        return leased;
    }

    /** Never: what it has promised is not to be forgotten. */
    @Override
    public boolean atRest() {
        return false;
    }

    /** One of the same kind, for {@link #copy}. */
    Election fresh(ElectionSettings same) {
        return new Election(same);
    }

    @Override
    public Election copy() {
        Election copy = fresh(settings);
        copy.lists = lists.copy();
        copy.members = members;
        copy.fellows = fellows;
        copy.self = self;
        copy.life = life;
        copy.random = random;
        copy.ranks = ranks;
        copy.phase = phase;
        copy.started = started;
        copy.forgot = forgot;
        copy.opened = opened;
        copy.waited = waited;
        copy.listened = listened;
        copy.abstainsUntil = abstainsUntil;
        copy.strangers.putAll(strangers);
        copy.startedAt = startedAt;
        copy.recordedOnce = recordedOnce;
        copy.promised = promised;
        copy.adopted = adopted;
        copy.missed = missed;
        copy.recorded = recorded;
        copy.date = date;
        copy.dates = dates.copy();
        copy.counting = counting.copy();
        copy.failures = failures;
        copy.heard = heard;
        copy.reminders = reminders.copy();
        copy.lost = lost.copy();
        copy.confirmations = confirmations.copy();
        copy.unconfirmed.putAll(unconfirmed);
        copy.early.putAll(early);
        copy.met.putAll(met);
        copy.behind.putAll(behind);
        copy.leaves = leaves;
        copy.triedAt = triedAt;
        copy.change = change.copy();
        copy.settled = settled;
        copy.leased = leased;
        copy.formerUntil = formerUntil;
        copy.lookAt = lookAt;
        copy.wanted = wanted;
        copy.granted = granted;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        lists.encode(out);
        out.value(members).value(fellows).put(self).put(life).put(random).value(phase);
        out.time(abstainsUntil).time(startedAt).put(strangers.size());
        strangers.forEach((member, greeted) -> out.put(member).time(greeted));
        out.put(started).put(forgot).put(opened).put(waited).put(listened).put(recordedOnce);
        out.value(promised)
                .value(adopted)
                .value(missed)
                .put(recorded)
                .time(date)
                .put(failures)
                .put(heard);
        dates.encode(out);
        counting.encode(out);
        change.encode(out);
        out.value(settled);
        reminders.encode(out);
        lost.encode(out);
        confirmations.encode(out);
        out.put(unconfirmed.size());
        unconfirmed.forEach((member, since) -> out.put(member).time(since));
        out.time(triedAt).put(leaves).put(met.size()).put(behind.size());
        met.forEach((member, since) -> out.put(member).time(since));
        behind.forEach((member, until) -> out.put(member).time(until));
        out.value(early).time(leased).time(formerUntil).time(lookAt).put(wanted).put(granted);
    }
}
