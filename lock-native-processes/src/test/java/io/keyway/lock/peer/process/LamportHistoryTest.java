// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members that keep Lamport's queues and six clients, all processes, under the faults and by
 * the rules of {@link ClusterHistoryTest}, but for other lists; or while each member in its turn is killed.
 * {@code -Dkeyway.seed} and {@code -Dkeyway.histories} choose others.
 */
class LamportHistoryTest {
    private static final int NAMES = 4;
    /** Members whose sessions ended dial each other anew, and a request needs them all. */
    private static final Duration MEET_WITHIN = Duration.ofSeconds(5);

    @TempDir
    Path directory;

    @Test
    @Tag("soak") // the simulator plays what these processes do in each build
    void aHistory() throws Exception {
        histories(1, 20261123, 3, false, ClusterHistoryTest.BUSY);
    }

    @Test
    @Tag("soak")
    void manyHistories() throws Exception {
        histories(Histories.MANY, Histories.SEED, ClusterFaults.CLIENTS, false, MEET_WITHIN);
    }

    @Test
    @Tag("soak")
    void manyHistoriesOfMembersThatAreKilledInTurn() throws Exception {
        histories(Histories.MANY, Histories.SEED, ClusterFaults.CLIENTS, true, MEET_WITHIN);
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int count, long seed, int clients, boolean inTurn, Duration meetWithin) throws Exception {
        Cluster cluster = new Cluster("lamport", directory, ClusterFaults.MEMBERS, 0, clients, ClusterFaults.TTL);
        Histories all = new Histories(cluster, directory, "LamportHistoryTest", clients, NAMES);
        ClusterFaults faults = new ClusterFaults(cluster, all.traces, all.crew, false, meetWithin);
        System.out.println(all.play(count, seed, inTurn ? faults.killingInTurn(Integer.MAX_VALUE) : faults));
    }
}
