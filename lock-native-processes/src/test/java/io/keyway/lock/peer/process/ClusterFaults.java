// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.proxy.Arrivals;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.Traces;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;

/**
 * What is done to a cluster: its members are killed, stopped, ended and started, with and without their data; links
 * break in eight ways; and some members, or all, are started with another list of members or another longest ttl.
 */
final class ClusterFaults implements Nemesis.Servers {
    static final Duration TTL = Duration.ofSeconds(1);

    /** How many clients there are, where a test has no reason for others. */
    static final int CLIENTS = 6;

    /** Members at the start, and places for further ones, likewise. */
    static final int MEMBERS = 3;

    static final int SPARES = 1;

    private static final Duration LONGER = TTL.multipliedBy(3);

    /** What everybody may need after the heal. */
    private static final Duration GO_ON_WITHIN = TTL.plusSeconds(3);

    private final Cluster cluster;
    private final Traces traces;
    private final WorkerPool crew;
    private final boolean changesLists;
    private final Duration meetWithin;
    private final int clients;
    /** How many of the next faults kill one member after another, and start it again. */
    private int killsInTurn;

    private int nextToKill;
    private final Map<Integer, Long> cutSince = new HashMap<>();
    private final Set<FaultProxy> spoiled = new HashSet<>();
    private List<Seat> list;

    /** Those of the list that run with an earlier one. */
    private final List<Seat> outdated = new ArrayList<>();

    private Duration maxTtl = TTL;
    private Duration ttlBefore = TTL;
    private Duration longestTtl = TTL;
    private boolean restarted;
    private final List<String> workerOptions = new ArrayList<>();
    private boolean oneByOne;

    /**
     * Of a cluster that records into those traces.
     *
     * @param changesLists the list of members and the longest ttl are changed, too
     * @param meetWithin what members need beside, to meet each other again
     */
    ClusterFaults(Cluster cluster, Traces traces, WorkerPool crew, boolean changesLists, Duration meetWithin) {
        this.traces = traces;
        this.meetWithin = meetWithin;
        this.cluster = cluster;
        this.clients = cluster.clients();
        this.crew = crew;
        this.changesLists = changesLists;
        this.list = List.copyOf(cluster.firstList());
    }

    /** The same, whose first so many faults kill each member in its turn and start it again. */
    ClusterFaults killingInTurn(int times) {
        killsInTurn = times;
        return this;
    }

    /** The same, of which a history has one, so that what each of them costs is measured. */
    ClusterFaults oneByOne() {
        oneByOne = true;
        return this;
    }

    /** The same, with further options for the JVM of each worker. */
    ClusterFaults withWorkers(List<String> options) {
        workerOptions.addAll(options);
        return this;
    }

    @Override
    public void begin() {
        traces.next();
        restarted = false;
        ttlBefore = maxTtl;
        longestTtl = maxTtl;
    }

    @Override
    public List<String> options(int worker) {
        List<String> options = new ArrayList<>(cluster.client(worker).options());
        options.addAll(workerOptions);
        return options;
    }

    @Override
    public Duration goOnWithin() {
        // A member that was started waits for the longest ttl and what clocks may be off by.
        Duration within = GO_ON_WITHIN.plus(meetWithin);
        return restarted ? within.plus(longestTtl.multipliedBy(103).dividedBy(100)) : within;
    }

    @Override
    public int mostFaults() {
        return oneByOne ? 1 : Nemesis.Servers.super.mostFaults();
    }

    @Override
    public String logs() {
        return cluster.logs() + "\n" + traces.keep();
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) throws IOException, InterruptedException {
        if (killsInTurn > 0) {
            killsInTurn--;
            Seat seat = list.get(nextToKill++ % list.size());
            seat.kill();
            begin(seat);
            return seat.id() + " killed and started";
        }
        int kind = random.nextInt(changesLists ? 15 : 13);
        if (kind < 5) {
            return member(kind, random);
        } else if (kind < 7) {
            return cutOff(random.nextInt(clients));
        } else if (kind < 13) {
            int side = random.nextInt(clients + 1);
            if (cutSince.containsKey(side)) {
                return ""; // it stays cut off until the heal
            }
            Links links = side == clients ? cluster.peers() : cluster.client(side);
            return link(
                    links.to(random.nextInt(cluster.seats().size())),
                    side == clients ? "peers" : "client " + side,
                    random);
        }
        return change(random);
    }

    private String member(int kind, SplittableRandom random) throws IOException, InterruptedException {
        Seat seat = list.get(random.nextInt(list.size()));
        if (!seat.runs()) {
            return "";
        }
        String what = seat.id();
        switch (kind) {
            case 0 -> {
                seat.stop();
                return what + " stopped";
            }
            case 1 -> {
                seat.end();
                what += " ended";
            }
            case 2 -> {
                seat.kill();
                seat.wipe();
                what += " killed, data lost";
            }
            default -> {
                seat.kill();
                what += " killed";
            }
        }
        if (random.nextBoolean()) {
            begin(seat);
            what += " and started";
        }
        return what;
    }

    private void begin(Seat seat) {
        seat.begin();
        outdated.remove(seat);
        restarted = true;
    }

    /** The operator's way to another list: who is to leave has ended for good, and the others start anew one by one. */
    private String change(SplittableRandom random) throws IOException, InterruptedException {
        List<Seat> next = new ArrayList<>(cluster.seats());
        if (list.size() > cluster.firstList().size()) {
            next.remove(random.nextInt(next.size()));
        } else if (random.nextBoolean()) {
            next.remove(list.get(random.nextInt(list.size())));
        }
        maxTtl = random.nextInt(3) == 0 ? (maxTtl.equals(TTL) ? LONGER : TTL) : maxTtl;
        longestTtl = maxTtl.compareTo(longestTtl) > 0 ? maxTtl : longestTtl;
        for (Seat seat : cluster.seats()) {
            if (!next.contains(seat)) {
                if (seat.runs()) {
                    seat.kill();
                }
                seat.wipe();
            }
        }
        list = List.copyOf(next);
        outdated.clear();
        outdated.addAll(list);
        cluster.configure(list, maxTtl);
        crew.changeUrl(cluster.url(TTL));
        Collections.shuffle(next, new Random(random.nextLong()));
        List<String> begun = new ArrayList<>();
        for (Seat seat : next.subList(0, random.nextInt(next.size() + 1))) {
            restart(seat, random.nextBoolean());
            begun.add(seat.id());
        }
        return "list " + list.stream().map(Seat::id).toList() + " with maxTtl " + maxTtl + ", begun by " + begun;
    }

    private void restart(Seat seat, boolean inOrder) throws IOException, InterruptedException {
        if (seat.runs() && inOrder) {
            seat.end();
        } else if (seat.runs()) {
            seat.kill();
        }
        begin(seat);
    }

    /** All links of one client at once: nobody hears it. */
    private String cutOff(int number) {
        cluster.client(number).blackHole();
        cutSince.putIfAbsent(number, System.nanoTime());
        return "client " + number + " cut off";
    }

    private String link(FaultProxy link, String whose, SplittableRandom random) {
        if (spoiled.contains(link)) {
            return "";
        }
        Direction direction = random.nextBoolean() ? Direction.TO_SERVER : Direction.TO_CLIENT;
        int kind = random.nextInt(8);
        switch (kind) {
            case 0 -> link.cut(direction);
            case 1 -> link.blackHole();
            case 2 -> link.set(direction, Fault.delayed(Duration.ofNanos(random.nextLong(TTL.toNanos() / 2))));
            case 3 -> link.reset();
            case 4 -> link.disconnect();
            case 5 -> {
                // Half-open: one side's connection is gone, the other side is not told; no byte may follow what was
                // lost.
                spoiled.add(link);
                link.set(direction, Fault.DISCARDING);
                link.arrivals(Arrivals.MUTE);
            }
            case 6 -> link.set(direction, Fault.slow(200 + random.nextInt(5_000)));
            default -> link.arrivals(Arrivals.MUTE);
        }
        return whose + " link to port " + link.address().getPort() + " fault " + kind + " " + direction;
    }

    @Override
    public void heal(List<ChildJvm> workers) throws IOException, InterruptedException {
        for (Seat seat : list) {
            seat.cont();
        }
        for (Seat seat : list) {
            if (!seat.runs()) {
                begin(seat);
            } else if (outdated.contains(seat)) {
                restart(seat, true);
            }
        }
        long now = System.nanoTime();
        cutSince.forEach((client, since) -> crew.wasCut(workers.get(client), since, now));
        cutSince.clear();
        spoiled.forEach(FaultProxy::reset);
        spoiled.clear();
        cluster.heal();
        for (Seat seat : list) {
            seat.awaitListening();
        }
    }

    @Override
    public boolean replacesWorkers() {
        // Members refuse a client with another longest ttl.
        return !maxTtl.equals(ttlBefore);
    }
}
