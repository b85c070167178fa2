// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import java.util.ArrayList;
import java.util.List;

/**
 * Who leads. Immutable.
 *
 * @param id its name
 * @param seats in no order that means anything; a member has one at the most
 * @param first no view was known when it was elected, and so nobody led before
 * @param members the list by whose majorities it counts, in the order in which they joined; empty before the first
 *     election
 * @param numbers by which algorithms name these members: all that know this view name them alike
 */
public record View(ViewId id, List<Seat> seats, boolean first, List<String> members, MemberNumbers numbers) {
    /** Before the first election. */
    public static final View NONE = new View(ViewId.NONE, List.of(), false, List.of());

    /**
     * A leader's place in the majority by which a lock is held.
     *
     * @param leader the id of a member
     * @param since the view by which that member has got it; it has kept it in all views from there on
     */
    public record Seat(String leader, ViewId since) {}

    /**
     * Copies the lists.
     *
     * @throws IllegalArgumentException if not each member has a number
     */
    public View {
        seats = List.copyOf(seats);
        members = List.copyOf(members);
        if (numbers.numbers().size() != members.size()) {
            throw new IllegalArgumentException(members + " have the numbers " + numbers);
        }
    }

    /** Of members that count from 1. */
    public View(ViewId id, List<Seat> seats, boolean first, List<String> members) {
        this(id, seats, first, members, MemberNumbers.first(members.size()));
    }

    /** The one that comes after this one, with that list. */
    View next(ViewId name, List<Seat> leaders, List<String> list) {
        boolean none = id.equals(ViewId.NONE);
        MemberNumbers next = none ? MemberNumbers.first(list.size()) : numbers.after(members, list);
        return new View(name, leaders, none, list, next);
    }

    /** This one with a list, if it is of a version in which the list did not change and was not told. */
    View listed(List<String> configured) {
        return id.equals(ViewId.NONE) || !members.isEmpty() ? this : new View(id, seats, first, configured);
    }

    /** The number of that member; 0 if it is none. */
    public int number(String member) {
        int at = members.indexOf(member);
        return at < 0 ? 0 : numbers.numbers().get(at);
    }

    /** The member of that number; empty if there is none. */
    public String member(int number) {
        int at = numbers.numbers().indexOf(number);
        return at < 0 ? "" : members.get(at);
    }

    /** Since which view that member has a seat; {@link ViewId#NONE} if it has none. */
    public ViewId since(String member) {
        for (Seat seat : seats) {
            if (seat.leader().equals(member)) {
                return seat.since();
            }
        }
        return ViewId.NONE;
    }

    boolean leads(String member) {
        return !since(member).equals(ViewId.NONE);
    }

    /** Its leaders. */
    public List<String> leaders() {
        List<String> all = new ArrayList<>(seats.size());
        for (Seat seat : seats) {
            all.add(seat.leader());
        }
        return all;
    }
}
