// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.tck.history.HistoryCrew;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.proxy.Arrivals;
import io.keyway.lock.tck.proxy.Direction;
import io.keyway.lock.tck.proxy.Fault;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * A cluster whose clients take locks at random, and what a seed does to its processes and links. One set of processes serves many histories: each is a time of faults, then a heal after which everybody must go on, then
 * a check of all that was ever written.
 */
final class Havoc implements AutoCloseable {
    static final Duration TTL = Duration.ofSeconds(1);
    private static final int MEMBERS = 3;
    private static final int CLIENTS = 6;
    private static final int NAMES = 8;
    private static final int MOST_FAULTS = 5;
    private static final long LONGEST_PAUSE = TTL.multipliedBy(3).dividedBy(2).toNanos();

    /** What everybody may need after the heal. */
    private static final Duration GO_ON_WITHIN = TTL.plusSeconds(3);

    /** A member that was started waits so long before it grants: the largest ttl and what clocks may be off by. */
    private static final Duration QUARANTINE = TTL.multipliedBy(103).dividedBy(100);

    private final Cluster cluster;
    private final HistoryCrew crew;
    private final List<ChildJvm> clients = new ArrayList<>();
    private final Set<ChildJvm> ending = new HashSet<>();
    private final Map<Integer, Long> cutSince = new HashMap<>();
    private final Set<FaultProxy> spoiled = new HashSet<>();
    private final List<String> done = new ArrayList<>();
    private SplittableRandom random = new SplittableRandom();
    private boolean restarted;
    private Duration slowest = Duration.ZERO;

    Havoc(Path directory) throws IOException {
        cluster = new Cluster(directory, MEMBERS, CLIENTS, TTL);
        crew = new HistoryCrew(directory, cluster.url(TTL), NAMES, false);
    }

    /** Starts all processes of a cluster that never ran. */
    void begin() throws InterruptedException {
        cluster.start();
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(crew.start(cluster.client(i).options()));
        }
        crew.awaitProgress("at the start");
    }

    /** One history. */
    void history(long seed) throws IOException, InterruptedException {
        random = new SplittableRandom(seed);
        done.clear();
        restarted = false;
        int before = crew.grants();
        try {
            for (int left = 1 + random.nextInt(MOST_FAULTS); left > 0; left--) {
                fault();
                LockSupport.parkNanos(random.nextLong(LONGEST_PAUSE));
            }
            heal();
            long healed = System.nanoTime();
            Duration limit = restarted ? GO_ON_WITHIN.plus(QUARANTINE) : GO_ON_WITHIN;
            Duration took = crew.tour();
            slowest = took.compareTo(slowest) > 0 ? took : slowest;
            if (took.compareTo(limit) > 0) {
                throw new AssertionError("after the heal it took " + took + " until everybody had each lock, not "
                        + limit + "; longest, in milliseconds after the heal:" + crew.longestWait(healed));
            }
            crew.check("seed " + seed);
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ", " + done + ": " + e.getMessage() + "\n" + cluster.logs(), e);
        }
        if (crew.grants() - before < CLIENTS * NAMES) {
            throw new AssertionError("seed " + seed + ": too few grants: " + (crew.grants() - before));
        }
    }

    /** What the histories had in them. */
    String sums() {
        return crew.grants() + " grants, " + crew.losses() + " losses; everybody went on within " + slowest.toMillis()
                + " ms";
    }

    private void fault() throws IOException, InterruptedException {
        int kind = random.nextInt(16);
        if (kind < 5) {
            member(kind, random.nextInt(MEMBERS));
        } else if (kind < 8) {
            client(kind - 5, random.nextInt(CLIENTS));
        } else if (kind < 10) {
            cutOff(random.nextInt(CLIENTS));
        } else {
            int side = random.nextInt(CLIENTS + 1);
            if (cutSince.containsKey(side)) {
                return; // it stays cut off until the heal
            }
            Links links = side == CLIENTS ? cluster.peers() : cluster.client(side);
            link(links.to(random.nextInt(MEMBERS)), (side == CLIENTS ? "peers" : "client " + side));
        }
    }

    private void member(int kind, int number) throws IOException, InterruptedException {
        Seat seat = cluster.seats().get(number);
        if (!seat.runs()) {
            return;
        }
        String what = "member " + number;
        switch (kind) {
            case 0 -> {
                note(what + " stopped");
                seat.stop();
                return;
            }
            case 1 -> {
                note(what + " ended");
                seat.end();
            }
            case 2 -> {
                note(what + " killed, data lost");
                seat.kill();
                seat.wipe();
            }
            default -> {
                note(what + " killed");
                seat.kill();
            }
        }
        if (random.nextBoolean()) {
            note(what + " started");
            seat.begin();
            restarted = true;
        }
    }

    private void client(int kind, int number) throws IOException, InterruptedException {
        ChildJvm client = clients.get(number);
        if (!crew.workers().contains(client) || ending.contains(client)) {
            return;
        }
        String what = "client " + number;
        switch (kind) {
            case 0 -> {
                note(what + " stopped");
                crew.stop(client);
            }
            case 1 -> {
                note(what + " killed");
                crew.kill(client);
            }
            default -> {
                note(what + " ended");
                crew.cont(client);
                client.tell("end");
                ending.add(client); // with its links cut it takes its closeTimeout
            }
        }
    }

    /** All links of one client at once: nobody hears it. */
    private void cutOff(int number) {
        note("client " + number + " cut off");
        cluster.client(number).blackHole();
        cutSince.putIfAbsent(number, System.nanoTime());
    }

    private void link(FaultProxy link, String whose) {
        if (spoiled.contains(link)) {
            return;
        }
        Direction direction = random.nextBoolean() ? Direction.TO_SERVER : Direction.TO_CLIENT;
        int kind = random.nextInt(8);
        note(whose + " link to port " + link.address().getPort() + " fault " + kind + " " + direction);
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
    }

    private void heal() throws IOException, InterruptedException {
        note("heal");
        for (Seat seat : cluster.seats()) {
            seat.cont();
            if (!seat.runs()) {
                seat.begin();
                restarted = true;
            }
        }
        for (ChildJvm client : clients) {
            crew.cont(client);
        }
        long now = System.nanoTime();
        cutSince.forEach((client, since) -> crew.wasCut(clients.get(client), since, now));
        cutSince.clear();
        spoiled.forEach(FaultProxy::reset);
        spoiled.clear();
        cluster.heal();
        for (ChildJvm client : ending) {
            if (crew.workers().contains(client)) {
                crew.end(client);
            }
        }
        ending.clear();
        for (Seat seat : cluster.seats()) {
            seat.awaitListening();
        }
        for (int i = 0; i < CLIENTS; i++) {
            if (!crew.workers().contains(clients.get(i))) {
                clients.set(i, crew.start(cluster.client(i).options()));
            }
        }
    }

    private void note(String what) {
        done.add(what);
    }

    /** Ends all clients in order and checks the whole once more. */
    void endAndCheck() throws InterruptedException {
        crew.endAndCheck("all histories", CLIENTS * NAMES);
    }

    @Override
    public void close() throws InterruptedException {
        crew.close();
        cluster.close();
    }
}
