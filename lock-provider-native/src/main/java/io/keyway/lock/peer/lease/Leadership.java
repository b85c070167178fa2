// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.lease;

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
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.session.LeaderGoal;
import io.keyway.lock.peer.session.LeadersElected;
import io.keyway.lock.peer.session.ListChanged;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.List;

/**
 * Whether this member decides on all names of its cluster; every member has one.
 *
 * <p><b>States.</b> <i>Following</i>: another member has the one seat of the latest view, or no view is known; no
 * client is let in. <i>Closed</i>: this member has the seat, and no client is let in yet. <i>Silent</i>: clients are
 * let in, hold what they held and queue, and nothing is granted. <i>Open</i>: it grants. In the last two it serves for
 * as long as the members have leased the view to it; in between it is as if it were not there, and then goes on where
 * it was.
 *
 * <p><b>Invariants.</b>
 *
 * <ul>
 *   <li>Who gets the seat is closed for a lease of the view. By then the former leader serves nobody: it could grant to
 *       somebody else what a holder has asserted here, once it has not heard that holder for long enough.
 *   <li>Who gets the seat is silent for a lease of the view and the longest lease that a former leader can have told a
 *       client of, and for what clocks may differ by. A majority has voted for it by then and confirms nothing earlier,
 *       so the former leader reads no frame of a client after the lease that it had; and no client believes for longer
 *       than its ttl in what such a frame brought it.
 *   <li>A majority has recorded a time that is no shorter than the ttl of any lease, before its client is told of it,
 *       and none shorter than what is left of a place that is kept. It becomes shorter when nothing has needed it for a
 *       quarantine at least, and counts as shorter as soon as that is asked for; as longer, when it is recorded. So the
 *       longest that anybody of a majority knows is long enough ({@link LeaderBound}).
 *   <li>A life of a member that finds itself with the seat is silent again, unless a record says that a former life was
 *       open by that very seat.
 *   <li>A majority has recorded an epoch that is no lower than that of any token, before the token is granted; whoever
 *       gets the seat begins above what is recorded. So the tokens of a name rise.
 *   <li>A leader has no session of a client, and no grant, that is older than its seat: what the table of a clean end
 *       has left, and what is kept, is over when another member leads, or may have led.
 * </ul>
 */
class Leadership implements Machine {
    /** How long the members lease the view to its leader. */
    static final long LEASE = 2_000_000_000L;

    private static final int LET_IN = 0;
    /** So many epochs are reserved at once: seldom more than one is used in a life. */
    private static final long AHEAD = 16;
    /** The first of the times that are recorded, 100 ms; the others are 2, 5, 10, 20, 50 ... times as long. */
    private static final long SHORTEST = 100_000_000L;
    /** For so long at least nothing has needed a time when a shorter one is recorded: what needs it again waits. */
    private static final long UNNEEDED = 60_000_000_000L;

    /** That this member was open by the seat that it has since that view. */
    record Opened(ViewId since) implements DurableRecord {}

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
    /** Until when it is closed; {@link Turn#NEVER} if it is not. */
    private long closedUntil = Turn.NEVER;

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

    /** Whether a time counts once a majority has recorded it; for an unsafe variant once it is wanted. */
    boolean awaitsRecord() {
        return true;
    }

    /** Whether it keeps the time that is recorded for as long as a lease needs it; an unsafe variant does not. */
    boolean heedsLeases() {
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
        } else if (call instanceof MemberView.Longer && leads()) {
            raise(turn);
        }
        look(turn);
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
        if (!leader.equals(former)) {
            turn.tell(new LeadersElected(view.leaders()));
        }
        if (mine.equals(ViewId.NONE)) {
            if (leads()) {
                turn.goal(LeaderGoal.DEPOSED);
            }
            seat = ViewId.NONE;
            closedUntil = Turn.NEVER;
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
        }
        members = view.members();
    }

    private boolean leads() {
        return !seat.equals(ViewId.NONE);
    }

    private void takeOver(View view, Elected elected, Turn turn) {
        MemberView member = turn.member();
        boolean first = view.first() && !elected.restored() && view.id().equals(seat);
        long silence = 0;
        closedUntil = Turn.NEVER;
        if (!first && !seat.equals(opened) && isSilentAtFirst()) {
            long closed = lease(member) + lease(member) / 50;
            silence = closed + SessionSettings.quarantine(LeaderBound.longest(elected.recorded()));
            closedUntil = isClosedAtFirst() ? turn.now() + closed : Turn.NEVER;
            turn.goal(elected.restored() ? LeaderGoal.SILENT_AGAIN : LeaderGoal.TOOK_OVER);
        }
        long known = Math.max(LeaderBound.epoch(elected.recorded()), LeaderBound.epoch(reserved));
        long least = Math.max(known, member.epoch()) + 1;
        member.takeOver(FailoverKeys.LEADERSHIP, raisesEpoch() ? least : member.epoch(), silence);
        member.awaitOpening(FailoverKeys.LEADERSHIP);
        recorded = 0;
        longest = 0;
        neededAt = turn.now();
        reserve(least + AHEAD, Math.max(LeaderBound.longest(elected.recorded()), step(0, member)), turn);
        longest = awaitsRecord() ? 0 : longest;
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
        longest = awaitsRecord() ? Math.min(longest, LeaderBound.longest(reserved)) : LeaderBound.longest(reserved);
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

    private void look(Turn turn) {
        MemberView member = turn.member();
        if (leads()) {
            if (!seat.equals(opened) && !member.quarantined()) {
                opened = seat;
                turn.force(new Opened(seat));
            }
            reserve(turn);
            if (Turn.due(closedUntil, turn.now())) {
                closedUntil = Turn.NEVER;
            }
            if (closedUntil == Turn.NEVER) {
                member.serve(heedsLease() ? leasedUntil : turn.now() + Long.MAX_VALUE / 4, recorded, longest);
            }
        }
        turn.timer(LET_IN, closedUntil);
        List<String> deciding = leader.isEmpty() ? List.of() : List.of(leader);
        turn.call(FailoverKeys.CLUSTER, new HomeCall.Deciding(deciding, leasedUntil));
    }

    @Override
    public void received(Peer from, Message message, Turn turn) {
        if (message instanceof ChangeMembers wish && turn.peers().member(from).isEmpty()) {
            turn.send(from, MemberRequests.answer(wish, FailoverKeys.ELECTION, !members.isEmpty(), turn));
        }
    }

    @Override
    public void due(int slot, Turn turn) {
        look(turn);
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
        return leads() && closedUntil == Turn.NEVER && leasedUntil != Turn.NEVER && now - leasedUntil < 0;
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
        copy.closedUntil = closedUntil;
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
                .time(closedUntil);
    }
}
