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
 */
public record View(ViewId id, List<Seat> seats, boolean first, List<String> members) {
    /** Before the first election. */
    public static final View NONE = new View(ViewId.NONE, List.of(), false, List.of());

    /**
     * A leader's place in the majority by which a lock is held.
     *
     * @param leader the id of a member
     * @param since the view by which that member has got it; it has kept it in all views from there on
     */
    public record Seat(String leader, ViewId since) {}

    /** Copies the lists. */
    public View {
        seats = List.copyOf(seats);
        members = List.copyOf(members);
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
