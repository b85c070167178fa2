// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Random histories of three members and eight clients, all processes, whose users hold two to five locks in a
 * transaction, taken step by step or all at once, alone or shared, in any order and without limits, beside users of
 * single locks, under the faults and by the rules of {@link ClusterHistoryTest}, but for other lists; and no lock of a
 * transaction is believed after another one of it was lost. After the heal everybody has had each name in a
 * transaction within ttl + 3 s, or that and a quarantine if a member was started. {@code -Dkeyway.seed} and {@code
 * -Dkeyway.histories} choose others.
 */
class AgentHistoryTest {
    private static final int CLIENTS = 8;
    private static final int NAMES = 6;
    /** Its one fault kills the third member and starts it again. */
    private static final long SEED = 20261132;

    @TempDir
    Path directory;

    @Test
    @Tag("soak") // the simulator plays what these processes do in each build
    void aHistory() throws Exception {
        histories(1, SEED, 3, false, ClusterHistoryTest.BUSY);
    }

    @Test
    @Tag("soak")
    void manyHistories() throws Exception {
        histories(Histories.MANY, Histories.SEED, CLIENTS, false, Duration.ZERO);
    }

    /** After each fault and its heal everybody goes on in time. */
    @Test
    @Tag("soak")
    void manyHistoriesOfOneFault() throws Exception {
        histories(Histories.MANY, Histories.SEED, CLIENTS, true, Duration.ZERO);
    }

    @SuppressWarnings("SystemOut") // figures for whoever runs the soak
    private void histories(int count, long seed, int clients, boolean oneByOne, Duration slack) throws Exception {
        Cluster cluster = new Cluster("agent", directory, ClusterFaults.MEMBERS, 0, clients, ClusterFaults.TTL);
        Histories all = new Histories(cluster, directory, "AgentHistoryTest", clients, NAMES);
        ClusterFaults faults =
                new ClusterFaults(cluster, all.traces, all.crew, false, slack).withWorkers(WorkerPool.TRANSACTIONS);
        if (oneByOne) {
            faults.oneByOne();
        }
        System.out.println(all.play(count, seed, faults));
    }
}
