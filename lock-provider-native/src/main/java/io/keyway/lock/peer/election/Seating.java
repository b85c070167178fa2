// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.election.ElectionMessage.Vote;
import io.keyway.lock.peer.election.View.Seat;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Who leads in a view that is elected: those leaders stay that have voted or are heard, and voters get the other seats.
 */
final class Seating {
    private final View last;
    private final ViewId id;
    private final List<String> list;
    private final boolean anew;
    private final int count;
    private final List<Seat> seats = new ArrayList<>();
    private int absent;
    private boolean replaces;

    /**
     * @param last the view before it
     * @param id of the one that is elected
     * @param list its members
     * @param count how many seats it has
     */
    private Seating(View last, ViewId id, List<String> list, int count) {
        this.last = last;
        this.id = id;
        this.list = list;
        this.count = count;
        this.anew = last.seats().size() != count; // then no quorum of the former view need meet one of this one
    }

    /**
     * Of a view for which enough have voted.
     *
     * @param leaver a leader that gives its seat away; empty if none does
     * @param heard whether a member is heard that has not voted
     */
    static Seating of(View last, String leaver, VoteCount votes, int count, Predicate<String> heard) {
        Seating seating = new Seating(last, votes.view(), votes.list(), count);
        List<Identifier> voters = new ArrayList<>();
        for (Vote vote : votes.votes()) {
            if (votes.list().contains(vote.identifier().member())) {
                voters.add(vote.identifier());
            }
        }
        seating.stay(leader -> !leader.equals(leaver) && (votes.hasVoted(leader) || heard.test(leader)));
        seating.giveTo(voters);
        seating.fillWithAbsent();
        return seating;
    }

    List<Seat> seats() {
        return seats;
    }

    /** Whether a voter gets the seat of a leader that is gone. */
    boolean replaces() {
        return replaces;
    }

    private void stay(Predicate<String> there) {
        for (Seat seat : last.seats()) {
            String leader = seat.leader();
            if (there.test(leader) && list.contains(leader) && seats.size() < count) {
                seats.add(anew ? new Seat(leader, id) : seat);
            } else {
                absent++;
            }
        }
    }

    private void giveTo(List<Identifier> voters) {
        voters.sort(null);
        for (Identifier voter : voters) {
            if (seats.size() < count && !last.leads(voter.member())) {
                replaces |= absent > 0;
                seats.add(new Seat(voter.member(), id));
            }
        }
    }

    /** Seats that nobody present can take stay with those that had them, or wait for those that are to come. */
    private void fillWithAbsent() {
        List<String> others = new ArrayList<>(last.leaders());
        others.addAll(list);
        for (String member : others) {
            boolean has = false;
            for (Seat seat : seats) {
                has |= seat.leader().equals(member);
            }
            if (!has && seats.size() < count && list.contains(member)) {
                boolean keeps = last.leads(member) && !anew;
                seats.add(new Seat(member, keeps ? last.since(member) : id));
            }
        }
    }
}
