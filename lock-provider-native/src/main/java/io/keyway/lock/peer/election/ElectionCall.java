// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.Call;

/** What an election and the machines that use it tell each other. */
public sealed interface ElectionCall extends Call {
    /**
     * To its users: a view was elected.
     *
     * @param restored it was elected before this life of the member took part: a record has it, or others have said so
     *     to a member that has lost its records
     * @param recorded no leader of a former view was to let in a ticket above that one
     * @param formerUntil after that, on the cell's clock, no leader of a former view is leased it any more
     */
    record Elected(View view, boolean restored, long recorded, long formerUntil) implements ElectionCall {}

    /**
     * To its users: a majority of all members has confirmed the present view, so that what is said by it counts until
     * then, on the cell's clock.
     */
    record Leased(long until) implements ElectionCall {}

    /** To its users: a majority has recorded that leaders may let in tickets up to that one. */
    record Recorded(long bound) implements ElectionCall {}

    /**
     * Of an administrator: that member is to be in the list, or not. Forgotten some seconds after it was said last.
     *
     * @param add false: it is to be removed
     */
    record ChangeMembers(String member, boolean add) implements ElectionCall {}

    /** To its users: this member has voted for a later view than the one that it knows. */
    record Voted() implements ElectionCall {}

    /**
     * Of the member itself: its seat is to go to another member that is there. Without effect unless it leads alone,
     * and a user has said that the list may change now ({@link Settled}).
     */
    record HandOver() implements ElectionCall {}

    /**
     * Of a user: whether the list may change now, by an election that this member holds. As long as no user has said
     * anything, any member may change it by any election.
     */
    record Settled(boolean settled) implements ElectionCall {}

    /** Of a leader: it wants to let in tickets up to that one. Answered by {@link Recorded}. */
    record Reserve(long bound) implements ElectionCall {}
}
