// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.election;

import io.keyway.lock.peer.kernel.CoverageGoal;
import io.keyway.lock.peer.kernel.Machine;
import io.keyway.lock.peer.kernel.Message;
import io.keyway.lock.peer.kernel.Turn;
import java.util.List;

/** Makes elections for the algorithms that use them, and shows oracles what these need. */
public final class Elections {
    private Elections() {}

    /** A member's part in elections, at rest. */
    public static Machine machine(ElectionSettings settings) {
        return new Election(settings);
    }

    /** True if that machine is one. */
    public static boolean isElection(Machine machine) {
        return machine instanceof Election;
    }

    /** True if that is what members say to each other of elections. */
    public static boolean isSaidOf(Message message) {
        return message instanceof ElectionMessage;
    }

    /** The latest view that it knows; {@link View#NONE} before the first. */
    public static View view(Machine election) {
        return ((Election) election).adopted();
    }

    /** Whether what is said by its view is counted at that time of its cell. */
    public static boolean leased(Machine election, long now) {
        long until = ((Election) election).leased();
        return until != Turn.NEVER && now - until < 0;
    }

    /** Booting, pause, voting or elected. */
    public static String phase(Machine election) {
        return ((Election) election).phase().toString();
    }

    /** Rare situations. */
    public static List<CoverageGoal> goals() {
        return List.of(ElectionGoal.values());
    }

    /** Rare situations where members come and go. */
    public static List<CoverageGoal> listGoals() {
        return List.of(ListGoal.values());
    }
}
