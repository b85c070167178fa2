// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Supplier;
import org.HdrHistogram.Histogram;
import org.jspecify.annotations.Nullable;

/**
 * The clients of one contender, in a JVM of their own: what the compiler learns of one is not what it must unlearn for
 * the next, and what the process uses is that contender's alone. A program: each line of its standard input is an
 * order, and answered by a line.
 *
 * <pre>
 * begin WORKLOAD      opens the clients
 * round SECONDS       runs it
 * end                 closes them
 * </pre>
 */
public final class Runner {
    private static final String DONE = "done";

    private final Supplier<Contender> opener;
    private final boolean isLock;
    private final String serverIds;
    private List<ProcessHandle> servers = List.of();
    private @Nullable Workload workload;
    private @Nullable Load load;
    private @Nullable Trials trials;

    private Runner(Supplier<Contender> opener, boolean isLock, String serverIds) {
        this.opener = opener;
        this.isLock = isLock;
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
        Runner runner =
                new Runner(() -> contender(arguments[0], arguments[1]), !arguments[0].equals("ping"), arguments[2]);
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
            case "keyway" -> new KeywayContender(address);
            case "keyway-async" -> KeywayContender.withoutWait(address);
            default -> throw new IllegalArgumentException("no contender is called " + kind);
        };
    }

    private void live(Workload asked, long startedAt, PrintStream out) {
        try {
            out.println(ColdStart.run(opener::get, asked, startedAt));
        } catch (Exception e) {
            e.printStackTrace();
            out.println("failed " + e);
        }
    }

    private String obey(String[] order) throws Exception {
        switch (order[0]) {
            case "begin" -> begin(Workload.valueOf(order[1]));
            case "round" -> {
                return round(Duration.ofSeconds(Long.parseLong(order[1]))).toString();
            }
            case "end" -> end();
            default -> throw new IllegalArgumentException("no order is " + order[0]);
        }
        return DONE;
    }

    private void begin(Workload asked) throws Exception {
        workload = asked;
        Contender.Opener clients = asked.contended() && isLock ? Watched.all(opener::get) : opener::get;
        if (asked.kind == Workload.Kind.PAIRS) {
            load = Load.open(clients, asked.clients, () -> 0);
        } else {
            trials = Trials.open(clients, asked.clients);
        }
        // A host that the clients have started is there now.
        servers = serverIds.startsWith("/") ? Stores.hosts(serverIds) : processes(serverIds);
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
        long pairs;
        if (asked.kind == Workload.Kind.PAIRS) {
            Load.Round round = Objects.requireNonNull(load).run(asked.threads, thread -> names(asked, thread), time);
            figures.with(Figures.FIGURE, round.perSecond()).withLatency(round.latency());
            if (asked.threads > 1) {
                figures.with(Figures.SPREAD, round.spread());
            }
            pairs = round.sum();
        } else {
            Trials running = Objects.requireNonNull(trials);
            String name = asked.word();
            Histogram nanos = switch (asked.kind) {
                case FIRST -> running.first(name + "/", time);
                case HANDOVER -> running.handOver(name, time);
                case EXPERIMENT -> running.experiment(name, time);
                default -> throw new IllegalArgumentException(name + " is no round");
            };
            figures.with(Figures.FIGURE, nanos.getValueAtPercentile(50) / 1e3).withLatency(nanos);
            pairs = nanos.getTotalCount() * (asked.kind == Workload.Kind.EXPERIMENT ? Trials.PAIRS_OF_EXPERIMENT : 1);
        }
        return figures.withUsage(Usage.of(here).since(client), Usage.of(servers).since(server), pairs);
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
