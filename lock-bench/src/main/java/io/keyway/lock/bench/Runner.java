// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import io.keyway.lock.NodeRule;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The clients of one contender, in a JVM of their own: what the compiler learns of one is not what it must unlearn for
 * the next, and what the process uses is that contender's alone. A program: each line of its standard input is an
 * order, and answered by a line.
 *
 * <pre>
 * begin WORKLOAD CLIENTS   opens the clients; answered by what is missing, if they do not offer it
 * round SECONDS            runs it
 * end                      closes them
 * </pre>
 */
public final class Runner {
    private static final String DONE = "done";
    /** Before what a contender does not offer. */
    static final String REFUSED = "refused ";

    /** Long enough to count messages, and short enough for what a trace keeps. */
    private static final Duration SHORT = Duration.ofMillis(300);

    private final String kind;
    private final String address;
    private final Contender.Opener opener;
    private final boolean isLock;
    private final String serverIds;
    /** Of a transaction, there and back, where they are counted. */
    private OptionalDouble messages = OptionalDouble.empty();

    private List<ProcessHandle> servers = List.of();
    private @Nullable Workload workload;
    private @Nullable Load load;
    private @Nullable Trials trials;

    private Runner(String kind, String address, String serverIds) {
        this.kind = kind;
        this.address = address;
        this.opener = () -> contender(kind, address);
        this.isLock = !kind.equals("ping");
        this.serverIds = serverIds;
    }

    /**
     * The entry point.
     *
     * @param arguments what to open and where ({@link #contender}); the ids of its servers' processes with commas
     *     between, or the directory that its host serves; for a cold start, the workload and when this was started
     */
    @SuppressWarnings("SystemOut") // the answers go there
    public static void main(String[] arguments) throws IOException {
        PrintStream out = System.out;
        Runner runner = new Runner(arguments[0], arguments[1], arguments[2]);
        if (arguments.length > 3) {
            runner.live(Workload.valueOf(arguments[3]), Long.parseLong(arguments[4]), out);
            System.exit(0);
        }
        BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String order = orders.readLine(); order != null; order = orders.readLine()) {
            try {
                out.println(runner.obey(order.split(" ", -1)));
            } catch (Exception e) {
                e.printStackTrace();
                out.println("failed " + e);
            }
        }
        System.exit(0);
    }

    /** Opens a client of that kind at an address of its store. */
    private static Contender contender(String kind, String address) {
        return switch (kind) {
            case "wire" -> new WireContender(Integer.parseInt(address), WireContender.Kind.ANSWERED);
            case "wire-quiet" -> new WireContender(Integer.parseInt(address), WireContender.Kind.QUIET);
            case "ping" -> new WireContender(Integer.parseInt(address), WireContender.Kind.PING);
            case "postgres" -> new PostgresContender(address);
            case "redisson" -> RedissonContender.usual(address);
            case "curator" -> new CuratorContender(address);
            case "keyway" -> new KeywayContender(address);
            case "keyway-all" -> KeywayContender.overNodes(address, NodeRule.ALL);
            case "keyway-majority" -> KeywayContender.overNodes(address, NodeRule.MAJORITY);
            case "keyway-async" -> KeywayContender.withoutWait(address);
            default -> throw new IllegalArgumentException("no contender is called " + kind);
        };
    }

    private void live(Workload asked, long startedAt, PrintStream out) {
        try {
            out.println(ColdStart.run(opener, asked, startedAt));
        } catch (Exception e) {
            e.printStackTrace();
            out.println("failed " + e);
        }
    }

    private String obey(String[] order) throws Exception {
        switch (order[0]) {
            case "begin" -> {
                return begin(Workload.valueOf(order[1]), Integer.parseInt(order[2]));
            }
            case "round" -> {
                return round(Duration.ofSeconds(Long.parseLong(order[1]))).toString();
            }
            case "end" -> end();
            default -> throw new IllegalArgumentException("no order is " + order[0]);
        }
        return DONE;
    }

    private String begin(Workload asked, int clients) throws Exception {
        Set<Use> missing = asked.uses();
        if (!missing.equals(Set.of(Use.LOCK))) {
            try (Contender contender = opener.open()) {
                missing.removeAll(contender.offers());
            }
            if (!missing.isEmpty()) {
                return REFUSED + missing;
            }
        }
        workload = asked;
        messages = OptionalDouble.empty();
        if (asked.uses().contains(Use.TRANSACTION) && Messages.areCounted(address)) {
            try (Messages traced = new Messages(address)) {
                open(asked, () -> contender(kind, traced.address()), clients);
                long done = run(asked, SHORT, new Figures());
                end();
                messages = OptionalDouble.of(traced.count() / (double) done);
            }
        }
        open(asked, opener, clients);
        // A host that the clients have started is there now.
        servers = serverIds.startsWith("/") ? Stores.hosts(serverIds) : processes(serverIds);
        return DONE;
    }

    private void open(Workload asked, Contender.Opener one, int clients) throws Exception {
        Contender.Opener opened = asked.contended() && isLock ? Watched.all(one) : one;
        if (asked.isPairs()) {
            load = Load.open(opened, clients, () -> 0);
        } else {
            trials = Trials.open(opened, clients);
        }
    }

    private static List<ProcessHandle> processes(String ids) {
        return Arrays.stream(ids.split(",", -1))
                .filter(pid -> !pid.isEmpty())
                .flatMap(pid -> ProcessHandle.of(Long.parseLong(pid)).stream())
                .toList();
    }

    private void end() {
        if (load != null) {
            load.close();
        }
        if (trials != null) {
            trials.close();
        }
        load = null;
        trials = null;
    }

    private Figures round(Duration time) throws Exception {
        Workload asked = Objects.requireNonNull(workload, "begin first");
        if (asked.kind == Workload.Kind.FOOTPRINT) {
            Footprint footprint = new Footprint(Objects.requireNonNull(trials).client(), servers);
            return asked == Workload.HELD ? footprint.held() : footprint.once();
        }
        List<ProcessHandle> here = List.of(ProcessHandle.current());
        Usage client = Usage.of(here);
        Usage server = Usage.of(servers);
        Figures figures = new Figures();
        long pairs = run(asked, time, figures);
        messages.ifPresent(each -> figures.with(Figures.MESSAGES, each));
        return figures.withUsage(Usage.of(here).since(client), Usage.of(servers).since(server), pairs);
    }

    /** How many pairs there were. */
    private long run(Workload asked, Duration time, Figures figures) throws Exception {
        if (asked.isPairs()) {
            ConcurrentHistogram writes = new ConcurrentHistogram(3);
            Load.Round round =
                    Objects.requireNonNull(load).run(asked.threads, thread -> turn(asked, thread, writes), time);
            figures.with(Figures.FIGURE, round.perSecond()).withLatency(round.latency());
            if (asked.threads > 1) {
                figures.with(Figures.SPREAD, round.spread());
            }
            if (asked.kind == Workload.Kind.MODES) {
                figures.with(Figures.GRANTS, (double) round.sum());
            }
            if (asked == Workload.RW95) {
                figures.with(Figures.WRITES, (double) writes.getTotalCount())
                        .with(Figures.WRITE_P50, writes.getValueAtPercentile(50) / 1e3)
                        .with(Figures.WRITE_P99, writes.getValueAtPercentile(99) / 1e3);
            }
            return round.sum();
        }
        Trials running = Objects.requireNonNull(trials);
        String name = asked.word();
        Histogram nanos = switch (asked.kind) {
            case FIRST -> running.first(name + "/", asked.names, time);
            case HANDOVER -> running.handOver(name, time);
            case EXPERIMENT -> running.experiment(name, time);
            case DEADLOCK -> running.deadlock(name, time);
            default -> throw new IllegalArgumentException(name + " is no round");
        };
        figures.with(Figures.FIGURE, nanos.getValueAtPercentile(50) / 1e3).withLatency(nanos);
        return nanos.getTotalCount() * (asked.kind == Workload.Kind.EXPERIMENT ? Trials.PAIRS_OF_EXPERIMENT : 1);
    }

    /** @param writes takes how long those wait for it that write */
    private static Load.Turn turn(Workload workload, int thread, ConcurrentHistogram writes) {
        Supplier<String> names = names(workload, thread);
        if (workload.uses().equals(Set.of(Use.LOCK))) {
            return client -> client.take(names.get());
        }
        return client -> {
            Use use = workload.next();
            if (use != Use.WRITE) {
                return client.take(names.get(), use);
            }
            long begin = System.nanoTime();
            Contender.Hold hold = client.take(names.get(), use);
            writes.recordValue(System.nanoTime() - begin);
            return hold;
        };
    }

    private static Supplier<String> names(Workload workload, int thread) {
        String prefix = workload.word() + "/";
        if (workload.names == 1) {
            String one = prefix + "one";
            return () -> one;
        }
        if (workload.names == workload.threads) {
            String own = prefix + thread;
            return () -> own;
        }
        String[] names = new String[workload.names];
        Arrays.setAll(names, i -> prefix + i);
        return () -> names[ThreadLocalRandom.current().nextInt(names.length)];
    }
}
