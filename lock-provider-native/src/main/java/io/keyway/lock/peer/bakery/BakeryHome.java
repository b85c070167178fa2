// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.bakery.BakeryMessage.Activated;
import io.keyway.lock.peer.bakery.BakeryMessage.AddTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.Answer;
import io.keyway.lock.peer.bakery.BakeryMessage.Begin;
import io.keyway.lock.peer.bakery.BakeryMessage.Break;
import io.keyway.lock.peer.bakery.BakeryMessage.Broken;
import io.keyway.lock.peer.bakery.BakeryMessage.DropTicket;
import io.keyway.lock.peer.bakery.BakeryMessage.End;
import io.keyway.lock.peer.bakery.BakeryMessage.Entered;
import io.keyway.lock.peer.bakery.BakeryMessage.Entering;
import io.keyway.lock.peer.bakery.BakeryMessage.Leading;
import io.keyway.lock.peer.bakery.BakeryMessage.Look;
import io.keyway.lock.peer.bakery.BakeryMessage.Question;
import io.keyway.lock.peer.bakery.BakeryMessage.Refused;
import io.keyway.lock.peer.bakery.BakeryMessage.Relinquished;
import io.keyway.lock.peer.bakery.BakeryMessage.Seen;
import io.keyway.lock.peer.bakery.BakeryMessage.Stands;
import io.keyway.lock.peer.bakery.BakeryMessage.TicketAdded;
import io.keyway.lock.peer.bakery.BakeryMessage.ToLeader;
import io.keyway.lock.peer.bakery.BakeryMessage.Yield;
import io.keyway.lock.peer.bakery.HomeRequest.Ask;
import io.keyway.lock.peer.bakery.HomeRequest.Phase;
import io.keyway.lock.peer.election.ElectionCall;
import io.keyway.lock.peer.election.MemberRequests;
import io.keyway.lock.peer.election.View;
import io.keyway.lock.peer.election.ViewId;
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
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.service.Participant;
import io.keyway.lock.peer.service.ParticipantList;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import io.keyway.lock.spi.Owner;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * What a member asks of the leaders of the bakery ({@link BakeryLeader}) for the clients that are attached to it; every
 * member has one, and it may be a leader itself. docs/algorithms/bakery.md numbers where it departs from the source.
 *
 * <p><b>States of a request.</b> <i>Unasked</i>, until this member may ask. <i>Entering</i>: asks the leaders for their
 * highest ticket. <i>Ticketed</i>: a majority has answered; its ticket is the highest of those, plus one.
 * <i>Holding</i>: a majority has it active, and its manager ({@link io.keyway.lock.peer.home.HomeManager}) was told so,
 * once. <i>Lost</i>: the majority is gone; its client was told, and may believe until a time. A request whose ticket
 * comes too late enters anew, under another number: no leader is asked again for a ticket that it has refused, since it
 * would refuse it again.
 *
 * <p><b>Messages</b> ({@link BakeryMessage}) to all leaders: ENTERING, ADDTICKET, DROPTICKET; to one of them
 * RELINQUISHED and STANDS. At each beginning of a session with a leader BEGIN, all that stands, END. BREAK and BROKEN
 * go between the homes of an administrator and of a holder.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>B1, B6. A leader is counted that has said ACTIVATED in answer to what was said in the present session with its
 *       present life, and that has answered something that was sent less than the longest lease ago. A client believes
 *       for less than a lease after its member's last word; so nobody believes when an activation lapses that is not
 *       counted any more, which it does after {@link BakeryLeader#VOTE} leases.
 *   <li>B3. Who does not hold gives an activation back for a smaller ticket, in the step in which it ceases to count
 *       it.
 *   <li>B4. A number is used once in a life. What is over is dropped at each leader that may know of it, behind all
 *       that was said of it, or not said again.
 *   <li>A ticket has the number that this member has in the list of its latest view. A member without one, or with
 *       another one than before, asks anew for all that waits.
 * </ul>
 */
class BakeryHome implements Machine {
    private static final String RULE = "a majority of the leaders, and of all members, must answer";

    private static final int LOOK = 0;
    private static final int COUNT = 1;
    /** Who has not answered for so long is named to those who wait, in nanoseconds. */
    private static final long ATTENTION = 1_000_000_000L;
    /** After so long a holder tells those leaders that have not let it in, or do not any more. */
    private static final long TELL = ATTENTION / 10;

    /**
     * A break that waits for its answer.
     *
     * @param member the one that asked for it; null if an administrator did, here
     * @param holder the member whose client holds; null if it is this one
     * @param request the number of whoever asked
     */
    private record Broke(@Nullable String member, @Nullable String holder, Peer peer, String name, long request) {}

    /** An administrator's question that waits for a leader's answer. */
    private record Asked(String leader, HomeCall.Show show) {}

    private final TreeMap<Ask, HomeRequest> requests = new TreeMap<>();
    /** Those that were asked, by number. */
    private final TreeMap<Long, HomeRequest> asked = new TreeMap<>();
    /** By leader, the meeting in which it was told all that stands; none while it cannot be told anything. */
    private final Map<String, Long> meetings = new LinkedHashMap<>();

    private final TreeMap<Long, Broke> breaks = new TreeMap<>();
    private final TreeMap<Long, Asked> questions = new TreeMap<>();
    /** The latest view that it knows; its leaders are asked. */
    private View view = View.NONE;

    private final List<String> leaders = new ArrayList<>();
    /** By member, since which view it has a seat, as it has said itself. */
    private final TreeMap<String, ViewId> announced = new TreeMap<>();
    /** Until when anything counts that leaders say; NEVER if nothing does. */
    private long lease = Turn.NEVER;

    /** When the leader lets somebody in that was elected last; NEVER before the first that was. */
    private long silentUntil = Turn.NEVER;

    private String self = "";
    private int process;
    private long life;
    private long numbers;
    private long lastMeeting;
    /** The last ticket that it has drawn, or a greater one that a leader knew when it said that it leads. */
    private long lastTicket;

    private long lastBreak;
    private long lastQuestion;
    private boolean open;
    private boolean looks;

    // What an unsafe variant does in another way

    /** As what that request is told to leaders. */
    RequestMode mode(HomeRequest request) {
        return request.mode();
    }

    /** Whether it gives an activation back for a smaller ticket. */
    boolean yields() {
        return true;
    }

    /** Whether what a leader has said counts only in the session, and for the life, in which that was said. */
    boolean countsLives() {
        return true;
    }

    /** Whether only those are counted that have their seats by its view. */
    boolean forgetsFormerLeaders() {
        return true;
    }

    /** Whether anything counts only while a majority of the members has confirmed the view. */
    boolean needsLease() {
        return true;
    }

    // Leaders

    private boolean isMajority(int count) {
        return 2 * count > leaders.size();
    }

    private void say(String leader, ToLeader message, Turn turn) {
        if (leader.equals(self)) {
            turn.call(BakeryKeys.LEADER, new BakeryCall.Said(message));
        } else if (meetings.containsKey(leader)) {
            turn.peers().send(leader, message);
        }
    }

    private void sayToAll(ToLeader message, Turn turn) {
        leaders.forEach(leader -> say(leader, message, turn));
    }

    /** Until when that leader is counted; the past if it has not answered anything yet. */
    private long countedUntil(String leader, Turn turn) {
        if (needsLease() && lease == Turn.NEVER) {
            return turn.now() - 1;
        }
        long heard = leader.equals(self) ? turn.now() : turn.peers().echo(leader);
        long until =
                heard == Turn.NEVER ? turn.now() - 1 : heard + turn.member().maxTtl();
        return needsLease() ? Turn.earlier(until, lease) : until;
    }

    private int counted(HomeRequest request, Turn turn) {
        int count = 0;
        for (String leader : request.active) {
            count += turn.now() - countedUntil(leader, turn) < 0 ? 1 : 0;
        }
        return count;
    }

    private void announced(String leader, Leading leading, Turn turn) {
        announced.put(leader, leading.since());
        lastTicket = Math.max(lastTicket, leading.highest());
        meetIfMay(leader, turn);
    }

    /** If that is a leader that knows of its seat. */
    private void meetIfMay(String leader, Turn turn) {
        boolean there = leader.equals(self) || turn.peers().up(leader);
        ViewId since = view.since(leader);
        if (open && there && !since.equals(ViewId.NONE) && since.equals(announced.get(leader))) {
            meet(leader, turn);
        }
    }

    private void meet(String leader, Turn turn) {
        meetings.put(leader, ++lastMeeting);
        say(leader, new Begin(life, lastMeeting, view.since(leader)), turn);
        for (HomeRequest request : List.copyOf(asked.values())) {
            say(leader, said(request, turn), turn);
        }
        say(leader, new End(lastMeeting), turn);
    }

    private ToLeader said(HomeRequest request, Turn turn) {
        String name = request.want.name();
        Owner owner = request.want.owner();
        long age = request.age(turn.now());
        if (request.phase == Phase.ENTERING) {
            return new Entering(name, request.number, mode(request), owner, age);
        }
        boolean holds = request.phase != Phase.TICKETED;
        boolean asks = request.want.answerAtOnce();
        return new AddTicket(
                name, request.number, mode(request), request.ticket, request.process, asks, holds, owner, age);
    }

    // Messages

    @Override
    public void received(Peer from, Message message, Turn turn) {
        String member = turn.peers().member(from);
        if (member.isEmpty()) { // no client speaks for a member
            if (message instanceof ChangeMembers wish) {
                turn.send(from, changed(wish, turn));
            }
            return;
        }
        if (message instanceof Answer answer) {
            answered(member, answer, turn);
        } else if (message instanceof Leading leading) {
            announced(member, leading, turn);
        } else if (message instanceof Seen seen) {
            seen(member, seen, turn);
        } else if (message instanceof Break request) {
            breaks.put(++lastBreak, new Broke(member, null, from, request.name(), request.number()));
            call(request.name(), new HomeCall.BreakHere(lastBreak, request.token(), request.reason()), turn);
        } else if (message instanceof Broken broken) {
            Broke waits = breaks.get(broken.number());
            if (waits != null && member.equals(waits.holder())) {
                breaks.remove(broken.number());
                turn.goal(BakeryGoal.BROKEN_ELSEWHERE);
                answerBreak(waits, broken.done(), turn);
            }
        }
        armTimers(turn);
    }

    private void answered(String leader, Answer answer, Turn turn) {
        HomeRequest request = asked.get(answer.number());
        boolean present = !countsLives() || Long.valueOf(answer.meeting()).equals(meetings.get(leader));
        if (request == null || !present || !leaders.contains(leader)) {
            return;
        }
        if (answer instanceof Entered entered) {
            entered(leader, request, entered.highest(), turn);
        } else if (answer instanceof Activated) {
            request.behind.remove(leader);
            if (request.phase != Phase.ENTERING) {
                request.active.add(leader);
                hold(request, turn);
            }
        } else if (answer instanceof TicketAdded added) {
            behind(leader, request, added, turn);
        } else if (answer instanceof Refused) {
            refused(leader, request, turn);
        } else if (answer instanceof Yield) {
            askedToYield(leader, request, turn);
        } else if (answer instanceof Question) {
            say(leader, new Stands(request.want.name(), request.number), turn);
        }
    }

    private void entered(String leader, HomeRequest request, long highest, Turn turn) {
        if (request.phase != Phase.ENTERING) {
            return;
        }
        request.entered.add(leader);
        request.best = Math.max(request.best, highest);
        if (isMajority(request.entered.size())) {
            request.phase = Phase.TICKETED;
            request.ticket = Math.max(request.best, lastTicket) + 1;
            request.process = process;
            lastTicket = request.ticket;
            sayToAll(said(request, turn), turn);
            HomeCall.Want want = request.want;
            if (request.mode().isSoft() && want.wantPlace()) {
                // It has its answer, also while others are there: it waits, if only for its time.
                call(want.name(), new HomeCall.Placed(want.number(), 0, List.of()), turn);
            }
        }
    }

    private void hold(HomeRequest request, Turn turn) {
        if (request.phase == Phase.TICKETED && isMajority(counted(request, turn))) {
            request.phase = Phase.HOLDING;
            request.grantedAt = turn.now();
            request.tellAt = turn.now() + TELL;
            call(request.want.name(), new HomeCall.Yours(request.want.number(), request.token()), turn);
        }
    }

    private void behind(String leader, HomeRequest request, TicketAdded added, Turn turn) {
        if (request.phase != Phase.TICKETED) {
            return;
        }
        request.behind.add(leader);
        HomeCall.Want want = request.want;
        List<Participant> holders = List.of(added.holder());
        if (want.answerAtOnce() && !isMajority(leaders.size() - request.behind.size())) {
            call(want.name(), new HomeCall.Behind(want.number(), holders), turn);
        } else if (want.wantPlace() && leader.equals(spokesman())) {
            call(want.name(), new HomeCall.Placed(want.number(), added.ahead(), holders), turn);
        }
    }

    /** The leader whose word on places is passed on, so that those of several do not alternate. */
    private String spokesman() {
        for (String leader : leaders) {
            if (meetings.containsKey(leader)) {
                return leader;
            }
        }
        return self;
    }

    private void refused(String leader, HomeRequest request, Turn turn) {
        request.active.remove(leader); // that one may have let it in, and not have heard this member for too long
        if (request.phase == Phase.TICKETED) {
            request.refused.add(leader);
            drawAgainIfMust(request, turn);
        } else {
            request.tellAt = turn.now() + TELL; // if it holds: a spare part, should another leader be lost
            count(turn);
        }
    }

    /**
     * Of those that have not refused its ticket no majority is there, or answers: one may be silent for two leases, and
     * those that have refused this ticket can let another one in.
     */
    private boolean drawAgainIfMust(HomeRequest request, Turn turn) {
        if (request.phase != Phase.TICKETED || request.refused.isEmpty()) {
            return false;
        }
        boolean lately = turn.now() - request.askedAt < ATTENTION;
        int left = 0;
        for (String leader : leaders) {
            boolean answers = lately || request.active.contains(leader) || request.behind.contains(leader);
            left += answers && meetings.containsKey(leader) && !request.refused.contains(leader) ? 1 : 0;
        }
        if (isMajority(left)) {
            return false;
        }
        turn.goal(BakeryGoal.DREW_AGAIN);
        enterAnew(request, turn);
        return true;
    }

    private void enterAnew(HomeRequest request, Turn turn) {
        DropTicket drop = new DropTicket(request.want.name(), request.number, DropTicket.NEVER_HELD);
        boolean first = !request.mode().isSoft(); // leaders watch readers as long as a soft writer is there
        asked.remove(request.number);
        if (first) {
            sayToAll(drop, turn);
        }
        request.startOver();
        request.phase = Phase.UNASKED;
        if (open) {
            enter(request, turn);
        }
        if (!first) {
            sayToAll(drop, turn);
        }
    }

    private void askedToYield(String leader, HomeRequest request, Turn turn) {
        if (request.phase == Phase.TICKETED && yields()) {
            turn.goal(BakeryGoal.RELINQUISHED);
            request.active.remove(leader);
            say(leader, new Relinquished(request.want.name(), request.number), turn);
        } else if (request.phase == Phase.HOLDING) {
            turn.goal(BakeryGoal.KEPT_BY_ITS_HOLDER);
        }
    }

    // Calls

    private static void call(String name, HomeCall call, Turn turn) {
        turn.call(BakeryKeys.lock(name), call);
    }

    @Override
    public void called(Call call, Turn turn) {
        if (call instanceof HomeCall.OfManager said) {
            asked(said, turn);
        } else if (call instanceof BakeryCall.Said said && said.message() instanceof Answer answer) {
            answered(self, answer, turn);
        } else if (call instanceof BakeryCall.Said said && said.message() instanceof Leading leading) {
            announced(self, leading, turn);
        } else if (call instanceof ElectionCall.Elected elected) {
            elected(elected.view(), turn);
        } else if (call instanceof ElectionCall.Leased leased) {
            lease = leased.until();
            turn.call(BakeryKeys.CLUSTER, new HomeCall.Deciding(List.copyOf(leaders), lease));
        } else if (call instanceof MemberView.Started) {
            start(turn);
        } else if (call instanceof MemberView.Opening || call instanceof PeerView.ListConfirmed) {
            openIfMay(turn);
        } else if (call instanceof PeerView.PeerUp up) {
            meetIfMay(up.member(), turn);
        } else if (call instanceof PeerView.PeerDown down) {
            parted(down.member());
            if (down.restarted()) {
                announced.remove(down.member());
            }
        }
        count(turn);
        armTimers(turn);
    }

    private void start(Turn turn) {
        PeerView peers = turn.peers();
        self = peers.self();
        life = turn.draw(62);
        peers.watch(BakeryKeys.HOME);
        openIfMay(turn);
    }

    /** A leader goes when the one that was elected last speaks, so that holders never lose their majority by it. */
    private LockMessage changed(ChangeMembers wish, Turn turn) {
        boolean leads = !view.since(wish.member()).equals(ViewId.NONE);
        if (!wish.add() && leads && silentUntil != Turn.NEVER && turn.now() - silentUntil < 0) {
            long seconds = (silentUntil - turn.now()) / 1_000_000_000L + 1;
            String why = "another leader was elected lately, and lets nobody in for up to " + seconds + " s:"
                    + " this one is removed after that.";
            return new LockMessage.Members(
                    wish.key(), wish.request(), turn.peers().members(), false, why);
        }
        return MemberRequests.answer(wish, BakeryKeys.ELECTION, !view.members().isEmpty(), turn);
    }

    /** A view was elected. What those leaders have let in that keep their seats is counted as before. */
    private void elected(View next, Turn turn) {
        for (String leader : List.copyOf(leaders)) {
            if (!next.since(leader).equals(view.since(leader)) && forgetsFormerLeaders()) {
                meetings.remove(leader);
                asked.values().forEach(request -> request.forget(leader));
            }
        }
        if (!next.members().equals(view.members())) {
            boolean removed = view.number(self) != 0 && next.number(self) == 0;
            turn.tell(new ListChanged(next.members(), removed));
        }
        for (View.Seat seat : next.seats()) {
            // After a start it is not known when the others were elected.
            if (!next.first() && !seat.since().equals(view.since(seat.leader()))) {
                silentUntil = turn.now() + 2 * turn.member().quarantine();
            }
        }
        view = next;
        if (!leaders.equals(next.leaders())) {
            turn.tell(new LeadersElected(next.leaders()));
        }
        leaders.clear();
        leaders.addAll(next.leaders());
        renumber(next.number(self), turn);
        openIfMay(turn);
        for (String leader : leaders) {
            if (!meetings.containsKey(leader)) {
                meetIfMay(leader, turn);
            }
        }
    }

    /**
     * What has no place yet draws a ticket under the new number, or waits until this is a member again. What holds goes
     * on with the ticket that it has, as long as it is counted.
     */
    private void renumber(int now, Turn turn) {
        int former = process;
        process = now;
        if (former == 0 || former == now) {
            return;
        }
        turn.goal(BakeryGoal.NUMBER_LOST);
        open &= now != 0;
        for (HomeRequest request : List.copyOf(asked.values())) {
            if (isPending(request)) {
                enterAnew(request, turn);
            }
        }
    }

    /** A member whose list others do not share, that has just started anew, or that knows no leaders, asks nobody. */
    private void openIfMay(Turn turn) {
        if (open || process == 0 || leaders.isEmpty()) {
            return;
        }
        if (turn.member().quarantined()) {
            turn.member().awaitOpening(BakeryKeys.HOME);
        } else if (turn.peers().members().size() == 1 || turn.peers().confirmed()) {
            open = true;
            for (String leader : leaders) {
                meetIfMay(leader, turn);
            }
            for (HomeRequest request : List.copyOf(requests.values())) {
                if (request.phase == Phase.UNASKED) {
                    enter(request, turn);
                }
            }
        }
    }

    private void parted(String member) {
        breaks.values().removeIf(waits -> member.equals(waits.holder()));
        questions.values().removeIf(waits -> member.equals(waits.leader()));
        meetings.remove(member);
        if (countsLives()) {
            asked.values().forEach(request -> request.forget(member));
        }
    }

    private void asked(HomeCall.OfManager said, Turn turn) {
        if (said instanceof HomeCall.Want want) {
            HomeRequest request = new HomeRequest(want);
            requests.put(request.ask(), request);
            if (open) {
                enter(request, turn);
            } else {
                turn.goal(BakeryGoal.ASKED_BEFORE_OPEN);
            }
        } else if (said instanceof HomeCall.Leave leave) {
            leave(leave, turn);
        } else if (said instanceof HomeCall.NotGiven back) {
            HomeRequest request = requests.get(new Ask(back.name(), back.number()));
            if (request != null && request.phase == Phase.LOST) {
                request.over = Turn.NEVER;
                enterAnew(request, turn);
            }
        } else if (said instanceof HomeCall.Adopt claim) {
            // What a former life granted, another home may have by now: leaders wait for its end.
            call(claim.name(), new HomeCall.Adopted(claim.number(), false), turn);
        } else if (said instanceof HomeCall.WhoIsSilent question) {
            HomeRequest request = requests.get(new Ask(question.name(), question.number()));
            if (request != null) {
                tellSilent(request, turn);
            }
        } else if (said instanceof HomeCall.Show show) {
            show(show, turn);
        } else if (said instanceof HomeCall.Break request) {
            breakGrant(request, turn);
        } else if (said instanceof HomeCall.BrokenHere broken) {
            Broke waits = breaks.remove(broken.number());
            if (waits != null) {
                answerBreak(waits, broken.done(), turn);
            }
        }
    }

    private void enter(HomeRequest request, Turn turn) {
        request.phase = Phase.ENTERING;
        request.number = ++numbers;
        request.askedAt = turn.now();
        asked.put(request.number, request);
        sayToAll(said(request, turn), turn);
    }

    private void leave(HomeCall.Leave leave, Turn turn) {
        HomeRequest request = requests.remove(new Ask(leave.name(), leave.number()));
        if (request != null && request.phase != Phase.UNASKED) {
            asked.remove(request.number);
            boolean held = request.phase == Phase.HOLDING || request.phase == Phase.LOST;
            // That a reader's turn came is no grant if its client was not heard then.
            long never = request.mode().isReader() ? request.askedAt : turn.now();
            long since = leave.granted() == Turn.NEVER ? never : leave.granted();
            long nanos = held ? Math.max(0, turn.now() - since) : DropTicket.NEVER_HELD;
            sayToAll(new DropTicket(leave.name(), request.number, nanos), turn);
        }
    }

    // Whether a majority is counted

    /** Whether whoever has that token holds, by its last count. */
    boolean holds(String name, long token) {
        for (HomeRequest request : asked.values()) {
            if (request.phase == Phase.HOLDING
                    && request.token() == token
                    && request.want.name().equals(name)) {
                return true;
            }
        }
        return false;
    }

    /** Those that have let another one in are to ask that one to yield: the holder can then spare one that it has. */
    private void tellHolder(HomeRequest request, Turn turn) {
        request.tellAt = Turn.NEVER;
        for (String leader : leaders) {
            if (!request.active.contains(leader) && meetings.containsKey(leader)) {
                turn.goal(BakeryGoal.HOLDER_TOLD_A_LEADER);
                say(leader, said(request, turn), turn);
            }
        }
    }

    /** Who has no majority any more has lost the lock; who gets one by an answer that was late has it. */
    private void count(Turn turn) {
        for (HomeRequest request : List.copyOf(asked.values())) {
            if (request.phase == Phase.HOLDING && Turn.due(request.tellAt, turn.now())) {
                tellHolder(request, turn);
            }
            if (request.phase == Phase.HOLDING && !isMajority(counted(request, turn))) {
                turn.goal(BakeryGoal.MAJORITY_LOST);
                request.phase = Phase.LOST;
                request.over = turn.now() + turn.member().maxTtl();
                String why = "the majority of the leaders is gone";
                call(request.want.name(), new HomeCall.TakenBack(request.want.number(), why), turn);
            } else if (request.phase == Phase.LOST && Turn.due(request.over, turn.now())) {
                call(request.want.name(), new HomeCall.Over(request.want.number()), turn);
            } else if (!drawAgainIfMust(request, turn)) {
                hold(request, turn);
            }
        }
    }

    /** When the first of the holders may cease to have a majority, or is over. */
    private long nextCount(Turn turn) {
        long next = Turn.NEVER;
        for (HomeRequest request : asked.values()) {
            next = Turn.earlier(next, request.over);
            if (request.phase == Phase.HOLDING) {
                next = Turn.earlier(next, request.tellAt);
                for (String leader : request.active) {
                    long until = countedUntil(leader, turn);
                    boolean always = leader.equals(self) && !needsLease();
                    next = !always && turn.now() - until < 0 ? Turn.earlier(next, until) : next;
                }
            }
        }
        return next;
    }

    private void armTimers(Turn turn) {
        turn.timer(COUNT, nextCount(turn));
        boolean needed = false;
        for (HomeRequest request : requests.values()) {
            needed |= isPending(request);
        }
        if (needed && !looks) {
            turn.timer(LOOK, turn.now() + ATTENTION);
        }
        looks |= needed;
    }

    private static boolean isPending(HomeRequest request) {
        return request.phase == Phase.UNASKED || request.phase == Phase.ENTERING || request.phase == Phase.TICKETED;
    }

    @Override
    public void due(int slot, Turn turn) {
        if (slot == LOOK) {
            looks = false;
            for (HomeRequest request : requests.values()) {
                if (isPending(request) && turn.now() - request.askedAt >= ATTENTION) {
                    tellSilent(request, turn);
                }
            }
        }
        count(turn);
        armTimers(turn);
    }

    // Who keeps others waiting

    private boolean hasAnswered(String leader, HomeRequest request, Turn turn) {
        if (request.phase == Phase.ENTERING) {
            return request.entered.contains(leader);
        }
        boolean waitsToBeTold = request.phase == Phase.UNASKED || request.mode().isSoft();
        return waitsToBeTold
                ? leader.equals(self) || turn.peers().up(leader)
                : request.active.contains(leader)
                        || request.behind.contains(leader)
                        || request.refused.contains(leader);
    }

    private void tellSilent(HomeRequest request, Turn turn) {
        List<String> silent = new ArrayList<>();
        for (String leader : leaders) {
            if (!hasAnswered(leader, request, turn)) {
                silent.add(leader);
            }
        }
        List<String> missing = new ArrayList<>();
        for (String member : turn.peers().members()) {
            if (!member.equals(self) && turn.peers().suspected(member)) {
                missing.add(member);
            }
        }
        boolean few = 2 * missing.size() >= turn.peers().members().size();
        boolean enough = !few && (leaders.isEmpty() || isMajority(leaders.size() - silent.size()));
        HomeCall.Waiting waiting = new HomeCall.Waiting(
                request.want.number(),
                request.phase != Phase.UNASKED,
                RULE,
                enough ? List.of() : few ? missing : List.copyOf(silent));
        call(request.want.name(), waiting, turn);
    }

    // Administrators

    /** A leader knows the whole queue; while this member knows none, it says what its own clients want. */
    private void show(HomeCall.Show show, Turn turn) {
        String leader = "";
        for (String each : leaders) {
            boolean longer = leader.isEmpty() || view.since(each).compareTo(view.since(leader)) < 0;
            leader = meetings.containsKey(each) && longer ? each : leader;
        }
        if (leader.equals(self)) {
            turn.call(BakeryKeys.LEADER, new BakeryCall.Show(show));
            return;
        } else if (!leader.isEmpty()) {
            questions.put(++lastQuestion, new Asked(leader, show));
            turn.peers().send(leader, new Look(lastQuestion, show.name()));
            return;
        }
        ParticipantList all = new ParticipantList();
        for (HomeRequest request : requests.values()) {
            HomeCall.Want want = request.want;
            if (want.name().equals(show.name())) {
                long token = request.phase == Phase.HOLDING ? request.token() : 0;
                if (request.mode().isSoft() && token == 0) {
                    all.addSoftWriter(request.participant(token, turn.now()));
                } else {
                    all.add(request.participant(token, turn.now()));
                }
            }
        }
        Key key = BakeryKeys.lock(show.name());
        for (ParticipantList.Part part : all.parts()) {
            Seen seen = new Seen(0, part.holders(), part.waiters(), part.softWriters(), part.more(), part.last());
            turn.send(show.peer(), status(key, show.request(), seen));
        }
    }

    private static LockMessage.Status status(Key key, long request, Seen seen) {
        return new LockMessage.Status(
                key, request, seen.holders(), seen.waiters(), seen.softWriters(), 0, 0, seen.more(), seen.last());
    }

    private void seen(String leader, Seen seen, Turn turn) {
        Asked waits = questions.get(seen.number());
        if (waits == null || !leader.equals(waits.leader())) {
            return;
        }
        HomeCall.Show show = waits.show();
        turn.send(show.peer(), status(BakeryKeys.lock(show.name()), show.request(), seen));
        if (seen.last()) {
            questions.remove(seen.number());
        }
    }

    private void breakGrant(HomeCall.Break request, Turn turn) {
        String member = view.member(Ticket.of(request.token()).process());
        String name = request.name();
        if (member.equals(self)) {
            breaks.put(++lastBreak, new Broke(null, null, request.peer(), name, request.request()));
            call(name, new HomeCall.BreakHere(lastBreak, request.token(), request.reason()), turn);
        } else if (member.isEmpty()) {
            turn.send(request.peer(), new LockMessage.Answer(BakeryKeys.lock(name), request.request(), false));
        } else if (turn.peers().up(member)) { // otherwise nobody knows, and the question runs out
            breaks.put(++lastBreak, new Broke(null, member, request.peer(), name, request.request()));
            turn.peers().send(member, new Break(lastBreak, name, request.token(), request.reason()));
        }
    }

    private static void answerBreak(Broke waits, boolean done, Turn turn) {
        if (waits.member() == null) {
            turn.send(waits.peer(), new LockMessage.Answer(BakeryKeys.lock(waits.name()), waits.request(), done));
        } else {
            turn.peers().send(waits.member(), new Broken(waits.request(), done));
        }
    }

    // State

    /** True if nobody asks for anything. */
    boolean isIdle() {
        return requests.isEmpty();
    }

    /** Never: it answers leaders, and its numbers are not to be used again. */
    @Override
    public boolean atRest() {
        return false;
    }

    /** A home of the same kind, for {@link #copy}. */
    BakeryHome fresh() {
        return new BakeryHome();
    }

    @Override
    public BakeryHome copy() {
        BakeryHome copy = fresh();
        requests.forEach((ask, request) -> {
            HomeRequest twin = request.copy();
            copy.requests.put(ask, twin);
            if (asked.get(request.number) == request) {
                copy.asked.put(request.number, twin);
            }
        });
        copy.meetings.putAll(meetings);
        copy.breaks.putAll(breaks);
        copy.questions.putAll(questions);
        copy.view = view;
        copy.leaders.addAll(leaders);
        copy.announced.putAll(announced);
        copy.lease = lease;
        copy.silentUntil = silentUntil;
        copy.self = self;
        copy.process = process;
        copy.life = life;
        copy.numbers = numbers;
        copy.lastMeeting = lastMeeting;
        copy.lastTicket = lastTicket;
        copy.lastBreak = lastBreak;
        copy.lastQuestion = lastQuestion;
        copy.open = open;
        copy.looks = looks;
        return copy;
    }

    @Override
    public void encode(StateEncoder out) {
        out.put(self).put(process).put(life).put(numbers).put(lastMeeting).put(lastTicket);
        out.put(open)
                .put(looks)
                .value(view)
                .value(leaders)
                .value(announced)
                .time(lease)
                .time(silentUntil)
                .value(meetings)
                .put(requests.size());
        requests.values().forEach(request -> request.encode(out));
        out.put(lastBreak).value(breaks).put(lastQuestion).value(questions);
    }
}
