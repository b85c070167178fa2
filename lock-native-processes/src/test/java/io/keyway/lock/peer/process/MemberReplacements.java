// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.LockClient;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.Traces;
import io.keyway.lock.testing.WorkerPool;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What an operator does to a cluster whose members come and go: one machine is replaced by another, while all work or
 * one is gone, and whichever it is. One thing of a history; nothing is undone.
 */
final class MemberReplacements implements Nemesis.Servers {
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final Cluster cluster;
    private final Traces traces;
    private final WorkerPool crew;
    private final Duration within;
    private final List<Seat> list;

    /** @param within what everybody may need after a replacement */
    private MemberReplacements(Cluster cluster, Traces traces, WorkerPool crew, Duration within) {
        this.cluster = cluster;
        this.traces = traces;
        this.crew = crew;
        this.within = within;
        this.list = new ArrayList<>(cluster.firstList());
    }

    /**
     * Such histories of three members and six clients, of {@code -Dkeyway.histories} and {@code -Dkeyway.seed}. Returns
     * what was in them, for people.
     */
    static String histories(String algorithm, Path directory, int names, Duration within) throws Exception {
        return histories(algorithm, 1, directory, names, within);
    }

    /** The same, with members that have that many cells. */
    static String histories(String algorithm, int shards, Path directory, int names, Duration within) throws Exception {
        Cluster cluster = new Cluster(
                algorithm,
                directory,
                ClusterFaults.MEMBERS,
                ClusterFaults.SPARES,
                ClusterFaults.CLIENTS,
                ClusterFaults.TTL);
        cluster.divide(shards);
        Histories all =
                new Histories(cluster, directory, "MemberReplacements-" + algorithm, ClusterFaults.CLIENTS, names);
        MemberReplacements operator = new MemberReplacements(cluster, all.traces, all.crew, within);
        return all.playMany(operator, ClusterFaults.TTL);
    }

    @Override
    public void begin() {
        traces.next();
    }

    @Override
    public int mostFaults() {
        return 1;
    }

    @Override
    public int workerFaults() {
        return 0;
    }

    @Override
    public List<String> options(int worker) {
        return cluster.client(worker).options();
    }

    @Override
    public Duration goOnWithin() {
        return within;
    }

    @Override
    public String logs() {
        return cluster.logs() + "\n" + traces.keep();
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
        Seat fresh = cluster.seats().stream()
                .filter(seat -> !list.contains(seat))
                .findFirst()
                .orElseThrow();
        Seat former = list.get(random.nextInt(list.size()));
        boolean burnt = random.nextBoolean();
        boolean addsFirst = random.nextBoolean();
        fresh.wipe();
        fresh.join();
        fresh.awaitListening();
        if (burnt) {
            former.kill();
        }
        try (LockClient operator = Locks.open(cluster.urlWithoutLinks(ClusterFaults.TTL))) {
            ClusterMembers members = operator.unwrap(ClusterMembers.class);
            if (addsFirst) {
                members.add(fresh.id(), PATIENCE);
            }
            members.remove(former.id(), PATIENCE);
            if (!addsFirst) {
                members.add(fresh.id(), PATIENCE);
            }
        }
        former.kill();
        list.remove(former);
        list.add(fresh);
        cluster.configure(list, ClusterFaults.TTL);
        crew.changeUrl(cluster.url(ClusterFaults.TTL));
        return former.id() + (burnt ? " burnt and was" : " was") + " replaced by " + fresh.id()
                + (addsFirst ? ", which was added first" : "");
    }

    @Override
    public void heal(List<ChildJvm> workers) {}
}
