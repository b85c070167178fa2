// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.bakery;

import io.keyway.lock.peer.election.Elections;
import io.keyway.lock.peer.election.ViewId;
import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Key;
import io.keyway.lock.peer.kernel.Machine;
import java.util.ArrayList;
import java.util.List;

/** What oracles see of the machines of a member. */
public final class BakeryView {
    private BakeryView() {}

    /** The addresses of the machines that a member has from its start and keeps. */
    public static List<Key> keys() {
        return List.of(BakeryKeys.HOME, BakeryKeys.LEADER, BakeryKeys.ELECTION);
    }

    /** The address of what a member asks of the leaders. */
    public static Key home() {
        return BakeryKeys.HOME;
    }

    /** Whether a member counts a majority for the grant of that token, as far as it has looked. */
    public static boolean holds(Machine home, String name, long token) {
        return ((BakeryHome) home).holds(name, token);
    }

    /** The address of the leader at a member. */
    public static Key leader() {
        return BakeryKeys.LEADER;
    }

    /** True if nobody asks that machine of a member for anything, as far as it knows. */
    public static boolean idle(Machine machine) {
        return machine instanceof BakeryHome home
                ? home.isIdle()
                : machine instanceof BakeryLeader leader ? leader.tables().isEmpty() : Elections.isElection(machine);
    }

    /** The address of a member's part in elections. */
    public static Key election() {
        return BakeryKeys.ELECTION;
    }

    /** The view by which that leader has got its seat, if it lets anybody in; {@link ViewId#NONE} if it does not. */
    public static ViewId speaksSince(Machine leader) {
        BakeryLeader it = (BakeryLeader) leader;
        return it.speaks() ? it.tenure() : ViewId.NONE;
    }

    /** What a leader lets in, as the lock and the request; in the order of the locks. */
    public static List<String> active(Machine leader) {
        List<String> all = new ArrayList<>();
        for (LeaderTable table : ((BakeryLeader) leader).tables()) {
            table.active().forEach(entry -> all.add(table.name + " " + entry.id));
        }
        return all;
    }

    /** Their rare situations. */
    public static List<CoverageGoal> goals() {
        List<CoverageGoal> goals = new ArrayList<>(List.of(BakeryGoal.values()));
        goals.addAll(Elections.goals());
        return goals;
    }
}
