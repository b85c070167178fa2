// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.IOException;
import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** How long a lock cannot be taken when a server of a cluster is lost, and whether a lock that is held stays so. */
@Command(
        name = "failover",
        description = "Keyway, ZooKeeper with Curator and Hazelcast's CP subsystem: how long nobody gets a lock when a"
                + " server is lost, and whether a lock that is held is kept.")
final class FailoverBench implements Callable<Integer> {
    private static final String LOCK = "taken-and-freed";
    private static final String HELD = "held";
    private static final Duration BETWEEN = Duration.ofMillis(20);
    /** No cluster needs that long, or none is there any more. */
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private enum Fault {
        /** The process is killed: its connections are reset, and new ones refused. */
        KILL,
        /** The process stands still: its connections stay open, and nothing answers. */
        STOP,
        /** The process gets SIGTERM, and ends in order. */
        END
    }

    @Option(names = "--contenders", split = ",", description = "Of: ${DEFAULT-VALUE}. Default: all.")
    private List<String> contenders = List.of("keyway", "curator", "hazelcast");

    @Option(names = "--servers", description = "Of each cluster. Default: ${DEFAULT-VALUE}.")
    private int servers = 3;

    @Option(
            names = "--lost",
            description = "How many of them are lost, one after the other. Default: ${DEFAULT-VALUE}.")
    private int lost = 1;

    @Option(names = "--fault", description = "How: ${COMPLETION-CANDIDATES}. Default: ${DEFAULT-VALUE}.")
    private Fault fault = Fault.KILL;

    @Option(
            names = "--runs",
            description = "Clusters of each contender; each run loses another server first. Default: ${DEFAULT-VALUE}.")
    private int runs = 3;

    @Option(names = "--before", description = "Seconds before the first loss. Default: ${DEFAULT-VALUE}.")
    private int before = 5;

    @Option(
            names = "--after",
            description = "Seconds after a loss; longer than the lease, which is 10 s. Default: ${DEFAULT-VALUE}.")
    private int after = 15;

    private final PrintStream out;

    /**
     * What a run came to.
     *
     * @param victim the server that was lost first, from 0 on
     * @param pause the longest time between two grants
     * @param kept whether the lock was still held at the end
     */
    private record Run(int victim, Duration pause, boolean kept) {}

    FailoverBench(PrintStream out) {
        this.out = out;
    }

    @Override
    public Integer call() throws Exception {
        out.printf(
                Locale.ROOT,
                "%d of %d servers lost (%s), %d runs, the longest pause in seconds%n%n| | first lost | median | worst |"
                        + " the held lock was kept |%n|---|---|---|---|---|%n",
                lost,
                servers,
                switch (fault) {
                    case KILL -> "killed";
                    case STOP -> "stopped";
                    case END -> "ended in order";
                },
                runs);
        for (String contender : contenders) {
            List<Run> all = new ArrayList<>();
            for (int i = 0; i < runs; i++) {
                try (Ground ground = new Ground()) {
                    all.add(run(ground, contender, i % servers));
                }
            }
            for (int i = 0; i < Math.min(servers, runs); i++) {
                int victim = i;
                print(
                        contender,
                        "server " + (i + 1),
                        all.stream().filter(run -> run.victim == victim).toList());
            }
            print(contender, "any", all);
        }
        return 0;
    }

    private void print(String contender, String victim, List<Run> ofThem) {
        List<Double> seconds =
                ofThem.stream().map(run -> run.pause.toMillis() / 1e3).sorted().toList();
        out.printf(
                Locale.ROOT,
                "| %s | %s | %.2f | %.2f | %d of %d |%n",
                contender,
                victim,
                seconds.get(seconds.size() / 2),
                seconds.get(seconds.size() - 1),
                ofThem.stream().filter(Run::kept).count(),
                ofThem.size());
        out.flush();
    }

    private Run run(Ground ground, String contender, int victim) throws Exception {
        Entrant.Store store = new Stores(ground, List.of(), List.of(), null).cluster(contender, servers);
        try (Contender holder = open(contender, store);
                Contender user = open(contender, store)) {
            Contender.Hold hold = holder.take(HELD);
            AtomicLong longest = new AtomicLong();
            CountDownLatch end = new CountDownLatch(1);
            CompletableFuture<Void> using = CompletableFuture.runAsync(() -> use(user, end, longest), task -> {
                Thread thread = new Thread(task, "user");
                thread.setDaemon(true);
                thread.start();
            });
            TimeUnit.SECONDS.sleep(before);
            longest.set(0); // the first calls of a JVM are slow, whatever it calls
            for (int i = 0; i < lost; i++) {
                lose(store.programs().get((victim + i) % servers).handle());
                TimeUnit.SECONDS.sleep(after);
            }
            end.countDown();
            using.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return new Run(victim, Duration.ofNanos(longest.get()), isKept(user, hold));
        }
    }

    private static Contender open(String contender, Entrant.Store store) {
        return switch (contender) {
            case "keyway" -> new KeywayContender(store.address());
            case "curator" -> new CuratorContender(store.address(), CuratorContender.LEASE);
            case "hazelcast" -> new HazelcastContender(store.address());
            default -> throw new IllegalArgumentException(contender + " has no cluster here");
        };
    }

    /** Takes and frees the lock until the end; a call that fails is part of the pause. */
    private static void use(Contender user, CountDownLatch end, AtomicLong longest) {
        try {
            long last = System.nanoTime();
            while (!end.await(BETWEEN.toMillis(), TimeUnit.MILLISECONDS)) {
                try {
                    user.take(LOCK).free();
                } catch (InterruptedException e) {
                    throw e;
                } catch (Exception e) {
                    continue;
                }
                long now = System.nanoTime();
                longest.accumulateAndGet(now - last - BETWEEN.toNanos(), Math::max);
                last = now;
            }
            // What has failed until now is a pause, too.
            longest.accumulateAndGet(System.nanoTime() - last - BETWEEN.toNanos(), Math::max);
        } catch (InterruptedException e) {
            throw new IllegalStateException("interrupted", e);
        }
    }

    private void lose(ProcessHandle server) throws IOException, InterruptedException {
        if (fault == Fault.KILL) {
            server.destroyForcibly();
            return;
        } else if (fault == Fault.END) {
            server.destroy();
            return;
        }
        int code = new ProcessBuilder("kill", "-STOP", Long.toString(server.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (code != 0) {
            throw new IOException("kill -STOP " + server.pid() + " ended with " + code);
        }
    }

    /** Whether nobody else gets it, and its holder frees it as one frees what one holds. */
    private static boolean isKept(Contender other, Contender.Hold hold) throws InterruptedException {
        try {
            boolean taken = other.isTaken(HELD);
            hold.free();
            return taken;
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            return false;
        }
    }
}
