// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Vote;
import io.keyway.lock.peer.kernel.StateEncoder;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.session.SessionSettings;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/** The votes for one view at a time, as the member counts them that asks for them. */
final class VoteCount {
    /** What comes of it. */
    enum Result {
        OPEN,
        ELECTED,
        HOPELESS
    }

    /** What the member that counts them wants with the seat that it has. */
    enum Seat {
        KEPT,
        /** Another member that votes is to get it. */
        LEFT,
        /** The same, if one of them comes before this one. */
        MOVED
    }

    /** NONE if nothing is counted. */
    private ViewId view = ViewId.NONE;
    /** Which the view takes the place of. */
    private List<String> base = List.of();
    /** Which the view is to have. */
    private List<String> list = List.of();

    private Seat seat = Seat.KEPT;

    private final TreeMap<String, Vote> votes = new TreeMap<>();
    /** When no leader of an earlier view leads any more, as far as voters know. */
    private long formerUntil = Turn.NEVER;

    private final Set<String> desisted = new TreeSet<>();

    void begin(ViewId asked, List<String> before, List<String> members, Seat wanted) {
        forget();
        view = asked;
        base = before;
        list = members;
        seat = wanted;
    }

    /** Counts no more; what was counted stays until {@link #forget}. */
    void end() {
        view = ViewId.NONE;
    }

    void forget() {
        formerUntil = Turn.NEVER;
        votes.clear();
        desisted.clear();
    }

    boolean isOpen() {
        return !view.equals(ViewId.NONE);
    }

    ViewId view() {
        return view;
    }

    List<String> base() {
        return base;
    }

    List<String> list() {
        return list;
    }

    /** Whether that member, which counts them, gives its seat to another one. */
    boolean leaves(Identifier own) {
        boolean isBefore = false;
        for (Vote vote : votes.values()) {
            Identifier other = vote.identifier();
            isBefore |= !other.member().equals(own.member()) && other.compareTo(own) < 0;
        }
        return isToLeave() || (isToMove() && isBefore);
    }

    boolean isToLeave() {
        return seat == Seat.LEFT;
    }

    boolean isToMove() {
        return seat == Seat.MOVED;
    }

    Collection<Vote> votes() {
        return votes.values();
    }

    boolean hasVoted(String member) {
        return votes.containsKey(member);
    }

    void voted(String member, Vote vote, long now) {
        if (vote.round().equals(view)) {
            votes.put(member, vote);
            formerUntil = Turn.later(formerUntil, until(vote.left(), now));
        }
    }

    /** When that time is surely over, which another member has told by a clock of its own. */
    static long until(long left, long now) {
        return now + SessionSettings.quarantine(left);
    }

    /** When no leader of an earlier view leads any more; {@link Turn#NEVER} if none can. */
    long formerUntil() {
        return formerUntil;
    }

    void desisted(String member, ViewId from) {
        if (from.equals(view)) {
            desisted.add(member);
        }
    }

    /** @param due nobody is waited for any more */
    Result result(boolean due, Predicate<String> heard) {
        Set<List<String>> needed = new LinkedHashSet<>();
        needed.add(base);
        needed.add(list);
        for (Vote vote : votes.values()) {
            needed.addAll(vote.open());
        }
        boolean all = true;
        for (List<String> each : needed) {
            for (String member : each) {
                all &= votes.containsKey(member) || desisted.contains(member) || !heard.test(member);
            }
        }
        if (MemberLists.areMajorities(votes.keySet(), needed) && (all || due)) {
            return Result.ELECTED;
        }
        List<String> left = new ArrayList<>(base);
        left.removeAll(desisted);
        return MemberLists.isMajority(left, base) ? Result.OPEN : Result.HOPELESS;
    }

    /** The latest view of that one and those that voters know. */
    View latest(View known) {
        View latest = known;
        for (Vote vote : votes.values()) {
            latest = latest.id().compareTo(vote.adopted().id()) < 0 ? vote.adopted() : latest;
        }
        return latest;
    }

    /** What holds of all that voters have recorded. */
    long recorded(Bounds bounds) {
        long recorded = 0;
        for (Vote vote : votes.values()) {
            recorded = bounds.covering(recorded, vote.recorded());
        }
        return recorded;
    }

    VoteCount copy() {
        VoteCount copy = new VoteCount();
        copy.view = view;
        copy.base = base;
        copy.list = list;
        copy.seat = seat;
        copy.votes.putAll(votes);
        copy.formerUntil = formerUntil;
        copy.desisted.addAll(desisted);
        return copy;
    }

    void encode(StateEncoder out) {
        out.value(view)
                .value(base)
                .value(list)
                .value(seat)
                .value(votes)
                .value(desisted)
                .time(formerUntil);
    }
}
