// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.peer.process;

import io.keyway.lock.LockClient;
import io.keyway.lock.LockUnavailableException;
import io.keyway.lock.Locks;
import io.keyway.lock.peer.ClusterMembers;
import io.keyway.lock.tck.history.RecordedHold;
import io.keyway.lock.tck.journal.MachineClock;
import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import io.keyway.lock.tck.process.Signals;
import io.keyway.lock.testing.Nemesis;
import io.keyway.lock.testing.Traces;
import io.keyway.lock.testing.WorkerPool;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * What is done to members that elect who leads, all of it in one history: they are killed, stopped, and cut off from
 * each other, both ways or one way, while an operator adds and removes some, if the algorithm has that. Where nothing
 * else is broken, a member that is lost must not keep clients without grants for longer than a bound.
 */
final class ElectedFaults implements Nemesis.Servers {
    private static final int MEMBERS = 5;
    private static final int SPARES = 2;
    private static final int NAMES = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    /** For so long an operator waits while things are broken. */
    private static final Duration SHORTLY = Duration.ofSeconds(3);

    private final Cluster cluster;
    private final Traces traces;
    private final WorkerPool crew;
    private final boolean elastic;
    private final boolean oneLeads;
    private final Duration grantedWithin;
    private final Duration goOnWithin;

    private final List<Seat> list;
    /** A member that an operator has wanted to add or to remove, and was not told whether it is so. */
    private Optional<Seat> wanted = Optional.empty();

    private boolean broken;
    private long longest;
    private int losses;
    private int changes;

    /**
     * @param elastic members are added and removed
     * @param oneLeads one of them leads, and all know which; otherwise each may be lost
     * @param grantedWithin how long after the loss of a member the next grant may be, if nothing else is broken
     * @param goOnWithin what everybody may need after the heal
     */
    private ElectedFaults(
            Cluster cluster,
            Traces traces,
            WorkerPool crew,
            boolean elastic,
            boolean oneLeads,
            Duration grantedWithin,
            Duration goOnWithin) {
        this.cluster = cluster;
        this.traces = traces;
        this.crew = crew;
        this.elastic = elastic;
        this.oneLeads = oneLeads;
        this.grantedWithin = grantedWithin;
        this.goOnWithin = goOnWithin;
        this.list = new ArrayList<>(cluster.firstList());
    }

    /**
     * Histories of five such members, and places for two more where they come and go; of {@code -Dkeyway.histories} and
     * {@code -Dkeyway.seed}. Prints what was in them.
     *
     * @param grantedWithin how long after the loss of a member the next grant may be, if nothing else is broken
     * @param electedWithin how long after the heal those may need that lead
     */
    static void histories(
            String algorithm, Path directory, boolean elastic, Duration grantedWithin, Duration electedWithin)
            throws Exception {
        histories(algorithm, 1, directory, elastic, grantedWithin, electedWithin);
    }

    /** The same, with members that have that many cells. */
    @SuppressWarnings("SystemOut") // figures of the soak
    static void histories(
            String algorithm,
            int shards,
            Path directory,
            boolean elastic,
            Duration grantedWithin,
            Duration electedWithin)
            throws Exception {
        Duration goOnWithin = ClusterFaults.TTL.plusSeconds(5).plus(electedWithin);
        Cluster cluster = Cluster.divisible(
                algorithm, directory, MEMBERS, elastic ? SPARES : 0, ClusterFaults.CLIENTS, ClusterFaults.TTL);
        cluster.divide(shards);
        Histories all = new Histories(cluster, directory, "ElectedFaults-" + algorithm, ClusterFaults.CLIENTS, NAMES);
        ElectedFaults faults = new ElectedFaults(
                cluster,
                all.traces,
                all.crew,
                elastic,
                algorithm.equals("failover") && shards == 1,
                grantedWithin,
                goOnWithin);
        String sums = all.playMany(faults, ClusterFaults.TTL.multipliedBy(3).dividedBy(2));
        System.out.println(sums + "; " + faults.measured());
    }

    private String measured() {
        return losses + " members lost while all else worked, the next grant within " + longest / 1_000_000 + " ms; "
                + changes + " changes of the list";
    }

    @Override
    public void begin() {
        traces.next();
        broken = false;
    }

    @Override
    public List<String> options(int worker) {
        return cluster.client(worker).options();
    }

    @Override
    public Duration goOnWithin() {
        return goOnWithin;
    }

    @Override
    public String logs() {
        return cluster.logs() + "\n" + traces.keep();
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
        if (!broken && random.nextBoolean()) {
            return lose(random);
        }
        if (elastic && random.nextInt(3) == 0) {
            return change(random);
        }
        broken = true;
        int one = random.nextInt(list.size());
        int other = (one + 1 + random.nextInt(list.size() - 1)) % list.size();
        return switch (random.nextInt(4)) {
            case 0 -> kill(list.get(one), random.nextBoolean());
            case 1 -> stop(list.get(one));
            case 2 -> {
                cluster.mute(number(list.get(one)), number(list.get(other)));
                yield list.get(one).id() + " not heard by " + list.get(other).id();
            }
            default -> cut(list.get(one), List.of(list.get(other)));
        };
    }

    private int number(Seat seat) {
        return cluster.seats().indexOf(seat);
    }

    private String kill(Seat seat, boolean andStart) throws InterruptedException {
        if (!seat.runs()) {
            return "";
        }
        seat.kill();
        if (andStart) {
            seat.begin();
        }
        return seat.id() + (andStart ? " killed and started" : " killed");
    }

    private String stop(Seat seat) throws IOException, InterruptedException {
        if (!seat.runs()) {
            return "";
        }
        seat.stop();
        return seat.id() + " stopped";
    }

    private String cut(Seat seat, List<Seat> others) {
        for (Seat other : others) {
            if (other != seat) {
                cluster.mute(number(seat), number(other));
                cluster.mute(number(other), number(seat));
            }
        }
        return seat.id() + " cut off from " + others.stream().map(Seat::id).toList();
    }

    /** The leader, where there is one, or some member: the others must serve in time. */
    private String lose(SplittableRandom random) throws Exception {
        Seat lost = oneLeads ? leader() : list.get(random.nextInt(list.size()));
        long epoch = crew.highestToken() >>> Integer.SIZE;
        broken = true;
        long since = MachineClock.now();
        String what = switch (random.nextInt(3)) {
            case 0 -> kill(lost, false);
            case 1 -> stop(lost);
            default -> cut(lost, list);
        };
        // What the former leader has granted may be in a cache, or still be on its way.
        Predicate<RecordedHold> isNext =
                oneLeads ? hold -> hold.token() >>> Integer.SIZE > epoch : hold -> hold.asked() > since;
        long next = crew.awaitGrant(since, isNext) - since;
        losses++;
        longest = Math.max(longest, next);
        what += ", the next grant after " + next / 1_000_000 + " ms";
        if (next > Patience.of(grantedWithin).toNanos()) {
            throw new AssertionError(what + ", not " + grantedWithin);
        }
        return what;
    }

    /** The member that leads, as all say; nothing is broken. */
    private Seat leader() {
        AtomicReference<Seat> leader = new AtomicReference<>();
        Signals.until("all members name one leader", () -> {
            Set<String> heard = list.stream().map(Seat::leader).collect(Collectors.toSet());
            list.stream().filter(seat -> heard.equals(Set.of(seat.id()))).forEach(leader::set);
            return leader.get() != null;
        });
        return leader.get();
    }

    private String change(SplittableRandom random) throws Exception {
        if (wanted.isPresent()) {
            return "";
        }
        boolean add = list.size() < cluster.firstList().size() || random.nextBoolean();
        List<Seat> free =
                cluster.seats().stream().filter(seat -> !list.contains(seat)).toList();
        if (add && free.isEmpty()) {
            return "";
        }
        Seat seat = add ? free.get(0) : list.get(random.nextInt(list.size()));
        if (add) {
            seat.wipe();
            seat.join();
            seat.awaitListening();
        }
        wanted = Optional.of(seat);
        String what = seat.id() + (add ? " to be added" : " to be removed");
        try (LockClient operator = Locks.open(cluster.urlWithoutLinks(ClusterFaults.TTL))) {
            settle(operator, seat, SHORTLY);
            return what + ", done";
        } catch (LockUnavailableException e) {
            return what + ", not known whether it is";
        }
    }

    /** Asks for what was wanted, once more if it was asked for before, and adopts it. */
    private void settle(LockClient operator, Seat seat, Duration limit) throws Exception {
        boolean add = !list.contains(seat);
        ClusterMembers members = operator.unwrap(ClusterMembers.class);
        List<String> now = add ? members.add(seat.id(), limit) : members.remove(seat.id(), limit);
        wanted = Optional.empty();
        changes++;
        if (add) {
            list.add(seat);
        } else {
            list.remove(seat);
            seat.kill();
        }
        if (!now.equals(list.stream().map(Seat::id).toList())) {
            throw new AssertionError("the list is " + now + ", not "
                    + list.stream().map(Seat::id).toList());
        }
        cluster.configure(list, ClusterFaults.TTL);
        crew.changeUrl(cluster.url(ClusterFaults.TTL));
    }

    @Override
    public void heal(List<ChildJvm> workers) throws Exception {
        cluster.heal();
        for (Seat seat : list) {
            seat.cont();
            if (!seat.runs()) {
                seat.begin();
            }
        }
        for (Seat seat : list) {
            seat.awaitListening();
        }
        if (wanted.isPresent()) {
            try (LockClient operator = Locks.open(cluster.urlWithoutLinks(ClusterFaults.TTL))) {
                settle(operator, wanted.get(), PATIENCE);
            }
        }
    }
}
