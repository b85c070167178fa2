// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members of which one leads, or of five, and six clients, all processes, under the faults
 * and by the rules of {@link ClusterHistoryTest}, but for other lists. {@code -Dkeyway.seed} and {@code
 * -Dkeyway.histories} choose others.
 */
class FailoverHistoryTest {
    private static final int NAMES = 4;
    private static final int SHARDS = 6;
    /** Elections may have to be repeated, and whoever takes over is silent. */
    private static final Duration ELECT_WITHIN = Duration.ofSeconds(12);

    /**
     * With leases of 1 s: 1 s until a leader is missed, half a second until another one is elected, 1.02 s for a client
     * that was lost with it, and half a second until a client finds the next one; and a second.
     */
    private static final Duration GRANTED_WITHIN = Duration.ofMillis(4_020);

    @TempDir
    Path directory;

    @Test
    void aHistory() throws Exception {
        histories(1, 1, 20261124, ClusterFaults.MEMBERS, 2, ELECT_WITHIN.plus(ClusterHistoryTest.BUSY));
    }

    /** Each member leads two of the groups of names. */
    @Test
    void aHistoryWithShards() throws Exception {
        histories(SHARDS, 1, 20261130, ClusterFaults.MEMBERS, 2, ELECT_WITHIN.plus(ClusterHistoryTest.BUSY));
    }

    @Test
    @Tag("soak")
    void manyHistoriesWithShards() throws Exception {
        histories(SHARDS, Histories.MANY, Histories.SEED, ClusterFaults.MEMBERS, ClusterFaults.CLIENTS, ELECT_WITHIN);
    }

    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures of the soak
    void membersWithShardsComeAndGo() throws Exception {
        System.out.println(MemberReplacements.histories("failover", SHARDS, directory, NAMES, ELECT_WITHIN));
    }

    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembersWithShardsAndAllFaults() throws Exception {
        ElectedFaults.histories("failover", SHARDS, directory, true, GRANTED_WITHIN, ELECT_WITHIN);
    }

    @Test
    @Tag("soak")
    void manyHistories() throws Exception {
        histories(1, Histories.MANY, Histories.SEED, ClusterFaults.MEMBERS, ClusterFaults.CLIENTS, ELECT_WITHIN);
    }

    /** Two of them can be lost. */
    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembers() throws Exception {
        histories(1, Histories.MANY, Histories.SEED, 5, ClusterFaults.CLIENTS, ELECT_WITHIN);
    }

    /** An operator replaces one machine after another. */
    @Test
    @Tag("soak")
    @SuppressWarnings("SystemOut") // figures of the soak
    void membersComeAndGo() throws Exception {
        System.out.println(MemberReplacements.histories("failover", directory, NAMES, ELECT_WITHIN));
    }

    /**
     * All at once: members are killed, stopped, cut off both ways and one way, added and removed; and after the loss of
     * the leader alone somebody is granted a lock by the next one in time.
     */
    @Test
    @Tag("soak")
    void manyHistoriesOfFiveMembersWithAllFaults() throws Exception {
        ElectedFaults.histories("failover", directory, true, GRANTED_WITHIN, ELECT_WITHIN);
    }

    @SuppressWarnings("SystemOut") // figures of the soak
    private void histories(int shards, int count, long seed, int members, int clients, Duration within)
            throws Exception {
        Cluster cluster = new Cluster("failover", directory, members, 0, clients, ClusterFaults.TTL);
        cluster.divide(shards);
        Histories all = new Histories(cluster, directory, "FailoverHistoryTest", clients, NAMES);
        System.out.println(all.play(count, seed, new ClusterFaults(cluster, all.traces, all.crew, false, within)));
    }
}
