// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.Traces;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;

/** Histories of a cluster and its clients, all processes, played one after the other. Plays once. */
final class Histories {
    /** How many a soak run plays: {@code -Dkeyway.histories}. */
    static final int MANY = Integer.getInteger("keyway.histories", 3);
    /** With which seed it begins: {@code -Dkeyway.seed}. */
    static final long SEED = Long.getLong("keyway.seed", 1);

    final Cluster cluster;
    final Traces traces;
    final WorkerPool crew;
    private final int clients;
    private final int names;

    /**
     * @param name of the traces that a failure leaves
     * @param clients how many of the cluster's clients take locks
     * @param names of how many locks
     */
    Histories(Cluster cluster, Path directory, String name, int clients, int names) throws Exception {
        this.cluster = cluster;
        this.traces = new Traces(directory.resolve("traces"), name);
        cluster.trace(traces.directory());
        this.crew = new WorkerPool(directory, cluster.url(ClusterFaults.TTL), names, false);
        this.clients = clients;
        this.names = names;
    }

    /** So many histories under these faults. Returns what was in them, for people. */
    String play(int count, long seed, Nemesis.Servers faults) throws Exception {
        return play(count, seed, faults, ClusterFaults.TTL.multipliedBy(3).dividedBy(2));
    }

    /** {@link #MANY} from {@link #SEED} on. */
    String playMany(Nemesis.Servers faults, Duration pause) throws Exception {
        return play(MANY, SEED, faults, pause);
    }

    private String play(int count, long seed, Nemesis.Servers faults, Duration pause) throws Exception {
        try (cluster;
                Nemesis nemesis = new Nemesis(crew, faults, clients, names, pause)) {
            cluster.start();
            return nemesis.histories(count, seed);
        }
    }
}
