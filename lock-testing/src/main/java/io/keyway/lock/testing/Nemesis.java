// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.process.Patience;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.locks.LockSupport;

/**
 * What a seed does to workers that take locks at random, and to their servers. One set of processes serves many
 * histories: each is a time of faults, then a heal after which everybody must go on, then a check of all that was
 * written. For one thread.
 */
public final class Nemesis implements AutoCloseable {
    private static final int MOST_FAULTS = 5;

    /** Of so many faults, {@link Servers#workerFaults} concern a worker. */
    static final int FAULTS = 16;

    /** What the workers talk to. */
    public interface Servers {
        /** A history begins; nothing is broken. */
        default void begin() {}

        /**
         * Does one thing to a server, or to the links of a worker.
         *
         * @param workers in the order of their numbers; some may have ended
         * @return what was done, in words, for the message of a history that breaks a rule; empty if there was nothing
         *     to do
         */
        String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception;

        /** Undoes all that was done, and returns when everything serves or is about to. */
        void heal(List<ChildJvm> workers) throws Exception;

        /** How many faults a history has at the most; what follows the last of them is measured. */
        default int mostFaults() {
            return MOST_FAULTS;
        }

        /** How many of 16 faults, on an average, kill, stop or end a worker. */
        default int workerFaults() {
            return 3;
        }

        /** Whether what was done shuts out all workers of before: then the heal kills them, and others begin. */
        default boolean replacesWorkers() {
            return false;
        }

        /**
         * How many grants a history has at the least, if it is a test.
         *
         * @param tour those of the tour after its heal
         */
        default int leastGrants(int tour) {
            return tour;
        }

        /** How long after a heal everybody may need at most to have had each lock once. */
        Duration goOnWithin();

        /** The options of the JVM of the worker with that number. */
        default List<String> options(int worker) {
            return List.of();
        }

        /** What the servers have printed, or left elsewhere, for the message of a history that breaks a rule. */
        default String logs() {
            return "";
        }
    }

    private final WorkerPool pool;
    private final Servers servers;
    private final int size;
    private final int names;
    private final long longestPause;
    private final List<ChildJvm> workers = new ArrayList<>();
    private final Set<ChildJvm> ending = new HashSet<>();
    private final List<String> done = new ArrayList<>();
    private SplittableRandom random = new SplittableRandom();
    private Duration slowest = Duration.ZERO;

    /**
     * Makes one whose workers have not been started.
     *
     * @param size how many workers there are
     * @param names how many names they share
     * @param longestPause between two faults
     */
    public Nemesis(WorkerPool pool, Servers servers, int size, int names, Duration longestPause) {
        this.pool = pool;
        this.servers = servers;
        this.size = size;
        this.names = names;
        this.longestPause = longestPause.toNanos();
    }

    /** Starts the workers; the servers run. */
    private void begin() throws InterruptedException {
        for (int i = 0; i < size; i++) {
            workers.add(pool.start(servers.options(i)));
        }
        pool.awaitProgress("at the start");
    }

    /** Starts the workers, runs so many histories, ends and checks all; returns what they had in them, for people. */
    public String histories(int count, long seed) throws Exception {
        begin();
        for (int i = 0; i < count; i++) {
            history(seed + i);
        }
        endAndCheck();
        return count + " histories from seed " + seed + ": " + sums();
    }

    /** One history; an {@link AssertionError} says what was done and which rule was broken. */
    private void history(long seed) throws Exception {
        random = new SplittableRandom(seed);
        done.clear();
        servers.begin();
        int before = pool.grants();
        try {
            for (int left = 1 + random.nextInt(servers.mostFaults()); left > 0; left--) {
                fault();
                LockSupport.parkNanos(random.nextLong(longestPause));
            }
            heal();
            long healed = System.nanoTime();
            Duration took = pool.tour();
            Duration limit = Patience.of(servers.goOnWithin());
            slowest = took.compareTo(slowest) > 0 ? took : slowest;
            pool.check("seed " + seed); // first: a machine that was too busy breaks no rule
            if (took.compareTo(limit) > 0) {
                throw new AssertionError("after the heal it took " + took + " until everybody had each lock, not "
                        + limit + "; longest, in milliseconds after the heal:" + pool.longestWait(healed));
            }
        } catch (AssertionError e) {
            throw new AssertionError("seed " + seed + ", " + done + ": " + e.getMessage() + "\n" + servers.logs(), e);
        }
        if (pool.grants() - before < servers.leastGrants(size * names)) {
            throw new AssertionError("seed " + seed + ": too few grants: " + (pool.grants() - before));
        }
    }

    private void fault() throws Exception {
        if (random.nextInt(FAULTS) < servers.workerFaults()) {
            fault(random.nextInt(size));
            return;
        }
        String what = servers.fault(random, List.copyOf(workers));
        if (!what.isEmpty()) {
            done.add(what);
        }
    }

    private void fault(int number) throws Exception {
        ChildJvm worker = workers.get(number);
        if (!pool.workers().contains(worker) || ending.contains(worker)) {
            return;
        }
        switch (random.nextInt(3)) {
            case 0 -> {
                done.add("worker " + number + " stopped");
                pool.stop(worker);
            }
            case 1 -> {
                done.add("worker " + number + " killed");
                pool.kill(worker);
            }
            default -> {
                done.add("worker " + number + " ended");
                pool.cont(worker);
                worker.tell("end");
                ending.add(worker); // with its links cut it takes its closeTimeout
            }
        }
    }

    private void heal() throws Exception {
        done.add("heal");
        for (ChildJvm worker : workers) {
            pool.cont(worker);
        }
        servers.heal(List.copyOf(workers));
        for (ChildJvm worker : ending) {
            if (pool.workers().contains(worker) && !servers.replacesWorkers()) {
                pool.end(worker);
            }
        }
        ending.clear();
        for (int i = 0; i < size; i++) {
            if (servers.replacesWorkers() && pool.workers().contains(workers.get(i))) {
                pool.kill(workers.get(i));
            }
            if (!pool.workers().contains(workers.get(i))) {
                workers.set(i, pool.start(servers.options(i)));
            }
        }
    }

    /** What the histories had in them. */
    private String sums() {
        return pool.grants() + " grants, " + pool.losses() + " losses, " + pool.deadlocks()
                + " transactions aborted; everybody went on within " + slowest.toMillis()
                + " ms";
    }

    /** Ends all workers in order and checks the whole once more. */
    private void endAndCheck() throws InterruptedException {
        try {
            pool.endAndCheck("all histories", size * names);
        } catch (AssertionError e) {
            throw new AssertionError(e.getMessage() + "\n" + servers.logs(), e);
        }
    }

    @Override
    public void close() throws InterruptedException {
        pool.close();
    }
}
