// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Histories of an election: processes that stand for it, lead, surrender and hand over, while a seed kills and stops
 * them and cuts them all off from their server, or a net splits between them. Never do two believe that they lead,
 * each loss is told, tokens rise; and at the latest a ttl and a second after the heal somebody leads.
 */
public final class ElectionHistories implements Nemesis.Servers, AutoCloseable {
    /** Of the candidates' leases. */
    public static final Duration TTL = Duration.ofSeconds(2);

    private static final int CANDIDATES = 4;
    private static final Duration SLACK = Duration.ofSeconds(1);

    /** What is between the candidates and their servers. */
    public interface Net {
        /** A history begins, and nothing is broken yet. */
        default void begin() {}

        /** Breaks it somewhere, perhaps elsewhere than before. Returns how, in words. */
        String fault(SplittableRandom random);

        /** Undoes it. */
        void heal();

        /** The options of the JVM of the candidate with that number. */
        default List<String> options(int candidate) {
            return List.of();
        }

        /** What the servers have printed. */
        default String logs() {
            return "";
        }

        /** It is not needed any more. */
        default void close() {}
    }

    /** The link to the one server. */
    private record OneLink(FaultProxy proxy) implements Net {
        @Override
        public String fault(SplittableRandom random) {
            if (random.nextInt(3) == 0) {
                proxy.reset();
            } else {
                proxy.blackHole();
            }
            return "the link broken";
        }

        @Override
        public void heal() {
            proxy.reset();
            proxy.heal();
        }

        @Override
        public void close() {
            proxy.close();
        }
    }

    private final @Nullable Net net;
    private final int candidates;
    private final List<String> electors;
    private final WorkerPool pool;

    private ElectionHistories(Path directory, String url, @Nullable Net net, int candidates, boolean deathIsProven) {
        this(directory, url, net, candidates, List.of(), deathIsProven);
    }

    private ElectionHistories(
            Path directory,
            String url,
            @Nullable Net net,
            int candidates,
            List<String> electors,
            boolean deathIsProven) {
        this.net = net;
        this.candidates = candidates;
        this.electors = List.copyOf(electors);
        this.pool = new WorkerPool(directory, url, 1, deathIsProven);
    }

    /** At a URL whose server cannot be cut off. */
    public static ElectionHistories at(String url, Path directory, boolean deathIsProven) {
        return new ElectionHistories(directory, url, null, CANDIDATES, deathIsProven);
    }

    /** At the URL of a server's address; the candidates' connections go through a proxy. */
    public static ElectionHistories through(InetSocketAddress server, Function<String, String> url, Path directory)
            throws IOException {
        FaultProxy link = FaultProxy.to(server);
        String address = link.address().getAddress().getHostAddress() + ":"
                + link.address().getPort();
        return new ElectionHistories(directory, url.apply(address), new OneLink(link), CANDIDATES, false);
    }

    /** Of so many candidates at a URL, which that net divides. */
    public static ElectionHistories across(Net net, int candidates, String url, Path directory) {
        return new ElectionHistories(directory, url, net, candidates, false);
    }

    /** The same, elected by a majority of those members. */
    public static ElectionHistories across(Net net, int candidates, List<String> electors, String url, Path directory) {
        return new ElectionHistories(directory, url, net, candidates, electors, false);
    }

    /** Runs so many; returns what they had in them, for people. */
    public String run(int count, long seed) throws Exception {
        try (Nemesis nemesis =
                new Nemesis(pool, this, candidates, 1, TTL.multipliedBy(3).dividedBy(2))) {
            return nemesis.histories(count, seed);
        }
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) {
        return Objects.requireNonNull(net).fault(random);
    }

    @Override
    public int workerFaults() {
        return net == null ? Nemesis.FAULTS : Nemesis.FAULTS / 2;
    }

    @Override
    public void begin() {
        if (net != null) {
            net.begin();
        }
    }

    @Override
    public void heal(List<ChildJvm> workers) {
        if (net != null) {
            net.heal();
        }
    }

    @Override
    public String logs() {
        return net == null ? "" : net.logs();
    }

    /** Who led before may lead on. */
    @Override
    public int leastGrants(int tour) {
        return 0;
    }

    @Override
    public Duration goOnWithin() {
        return TTL.plus(SLACK);
    }

    @Override
    public List<String> options(int worker) {
        List<String> options = new ArrayList<>(net == null ? List.of() : net.options(worker));
        options.add("-D" + HistoryWorker.CANDIDATE + "=true");
        options.add("-D" + HistoryWorker.ELECTORS + "=" + String.join(",", electors));
        return options;
    }

    @Override
    public void close() {
        if (net != null) {
            net.close();
        }
    }
}
