// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.NodeId;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.PeerView;
import io.keyway.lock.peer.kernel.Turn;
import io.keyway.lock.peer.service.LockMessage.ChangeMembers;
import io.keyway.lock.peer.service.LockMessage.Members;
import io.keyway.lock.peer.session.Membership;
import java.util.List;

/** Answers an administrator who asks for another list of members, and passes the wish on to the election. */
public final class MemberRequests {
    private MemberRequests() {}

    /**
     * What that administrator is to hear.
     *
     * @param election the machine of the same member that elects
     * @param elected whether that knows a view; before the first one there is no list that could be changed
     */
    public static Members answer(ChangeMembers wish, Key election, boolean elected, Turn turn) {
        PeerView peers = turn.peers();
        List<String> members = peers.members();
        String member = wish.member();
        if (member.isEmpty() || members.contains(member) == wish.add()) {
            return new Members(wish.key(), wish.request(), members, false, "");
        }
        if (!NodeId.isOne(member)) {
            return refused(wish, members, "that is not the id of a member, which is host:port in lower case");
        }
        if (!wish.add() && members.size() == 1) {
            return refused(wish, members, "the only member cannot be removed: add another one first");
        }
        if (wish.add() && members.size() >= Membership.MAX_MEMBERS) {
            return refused(wish, members, "a cluster has at most " + Membership.MAX_MEMBERS + " members");
        }
        if (!elected) {
            String why = "the members have not elected anybody yet: a majority of them must be up, and those that were"
                    + " started without --init or lost their data wait for a while; their logs say for how long.";
            return new Members(wish.key(), wish.request(), members, false, why);
        }
        turn.call(election, new ElectionCall.ChangeMembers(member, wish.add()));
        String why = wish.add() && !peers.up(member)
                ? member + " does not answer " + peers.self() + " yet: is it started there, with --join?"
                : "a majority of the members, with and without " + member + ", has not agreed yet.";
        return new Members(wish.key(), wish.request(), members, false, why);
    }

    private static Members refused(ChangeMembers wish, List<String> members, String why) {
        return new Members(wish.key(), wish.request(), members, true, why);
    }
}
