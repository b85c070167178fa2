// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members that are the leaders of a bakery, or of five, and six clients, all processes, under
 * the faults and by the rules of {@link ClusterHistoryTest}, but for other lists. {@code -Dkeyway.seed} and {@code
 * -Dkeyway.histories} choose others.
 */
class BakeryHistoryTest {
    private static final int NAMES = 4;
    /** Members whose sessions ended dial each other anew, and a request needs a majority. */
    private static final Duration MEET_WITHIN = Duration.ofSeconds(5);

    /** The loss of a leader is noticed within a lease, and the others go on; and a second. */
    private static final Duration GRANTED_WITHIN = ClusterFaults.TTL.plusSeconds(1);

    /** With two members in between all seats are new, and silent for two leases, before and after. */
    private static final Duration SEAT_WITHIN =
            ClusterFaults.TTL.multipliedBy(5).plus(MEET_WITHIN);

    @TempDir
    Path directory;

    @Test
    @Tag("soak")
    void aHistory() throws Exception {
        histories(1, 20261123, ClusterFaults.MEMBERS, 3, NAMES, ClusterHistoryTest.BUSY);
    }

    @Test
    @Tag("soak")
    void manyHistories() throws Exception {
        histories(Histories.MANY, Histories.SEED, ClusterFaults.MEMBERS, ClusterFaults.CLIENTS, NAMES, MEET_WITHIN);
    }

    /** Two of them do not lead until a leader is gone. */
    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembers() throws Exception {
        histories(Histories.MANY, Histories.SEED, 5, ClusterFaults.CLIENTS, 2 * NAMES, MEET_WITHIN);
    }

    /** All at once: members are killed, stopped, cut off both ways and one way; the loss of one delays few for long. */
    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembersWithAllFaults() throws Exception {
        ElectedFaults.histories("bakery", directory, false, GRANTED_WITHIN, MEET_WITHIN);
    }

    /**
     * The same while members are added and removed: who leads since then lets nobody in for a while, so that the loss
     * of another leader keeps all waiting.
     */
    @Test
    @Tag("soak")
    void manyHistoriesOfMembersThatComeAndGoWithAllFaults() throws Exception {
        ElectedFaults.histories("bakery", directory, true, GRANTED_WITHIN.plus(SEAT_WITHIN), SEAT_WITHIN);
    }

    /** An operator replaces one machine after another. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    void membersComeAndGo() throws Exception {
        System.out.println(MemberReplacements.histories("bakery", directory, NAMES, SEAT_WITHIN));
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int count, long seed, int members, int clients, int names, Duration meetWithin)
            throws Exception {
        Cluster cluster = new Cluster("bakery", directory, members, 0, clients, ClusterFaults.TTL);
        Histories all = new Histories(cluster, directory, "BakeryHistoryTest", clients, names);
        System.out.println(all.play(count, seed, new ClusterFaults(cluster, all.traces, all.crew, false, meetWithin)));
    }
}
