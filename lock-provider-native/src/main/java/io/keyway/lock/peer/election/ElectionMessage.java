// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.DurableRecord;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Message;
import java.util.List;

/** What members say to each other to elect leaders. The first six are the source's. */
sealed interface ElectionMessage extends Message {
    /**
     * ELECTION_DATE: its sender wants to hold an election.
     *
     * @param round the view that it asks a vote for, now; {@link ViewId#NONE} while the date is to come
     * @param left nanoseconds until then
     * @param adopted the latest view that it knows
     * @param promised the latest one that it has voted for, or that it knows; it can adopt no earlier one
     * @param replaces whether it does so since it has lost a leader of that view
     * @param list the members by whose majorities that view is to count
     */
    record ElectionDate(
            Key key,
            ViewId round,
            long left,
            Identifier identifier,
            ViewId adopted,
            ViewId promised,
            boolean replaces,
            List<String> list)
            implements ElectionMessage {}

    /**
     * VOTE: its sender votes for that view, and for no earlier one from now on; nor does it confirm any.
     *
     * @param adopted the latest view that it knows
     * @param recorded leaders were to let in no ticket above that one, as far as it knows
     * @param left for so many nanoseconds a leader of an earlier view may still lead, as far as it knows
     * @param open the lists of the views that it has voted for before, since it adopted that one
     */
    record Vote(
            Key key,
            ViewId round,
            Identifier identifier,
            View adopted,
            long recorded,
            long left,
            List<List<String>> open)
            implements ElectionMessage {}

    /** DESIST: no vote for that view; its sender has promised another one. */
    record Desist(Key key, ViewId round, ViewId promised) implements ElectionMessage {}

    /** RETIRE: its sender counts the votes for that view no more. */
    record Retire(Key key, ViewId round) implements ElectionMessage {}

    /** RERUN: its sender has voted for that view, and heard of no result: hold another election. */
    record Rerun(Key key, ViewId round) implements ElectionMessage {}

    /**
     * LEADERS: that view was elected.
     *
     * @param left as in {@link Vote}
     * @param over the leases of all earlier views are over, since the leader of the last one has handed its seat over
     */
    record Leaders(Key key, View view, long recorded, long left, boolean over) implements ElectionMessage {}

    /**
     * Is that the latest view that you have promised?
     *
     * @param asked the sender's clock, which comes back
     * @param bound to be recorded if it is
     */
    record Confirm(Key key, ViewId view, long asked, long bound) implements ElectionMessage {}

    /** It is. */
    record Confirmed(Key key, ViewId view, long asked, long bound) implements ElectionMessage {}

    /** Its sender has lost its file: what have you promised? */
    record Remind(Key key) implements ElectionMessage {}

    /**
     * Answers {@link Remind}.
     *
     * @param sound false: its sender has lost its file too, and nothing that it said before stands any more
     * @param open as in {@link Vote}
     */
    record Promised(Key key, ViewId promised, View adopted, long recorded, boolean sound, List<List<String>> open)
            implements ElectionMessage {}

    /** INTRODUCE: that one is to become a member, and has to hear from all members what they have promised. */
    record Introduce(Key key, String member) implements ElectionMessage {}

    /** What a member's next life has to know; {@code open} as in {@link Vote}. */
    record Ballot(Key key, ViewId promised, View adopted, long recorded, List<List<String>> open)
            implements DurableRecord {}
}
