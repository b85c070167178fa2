// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.testing;

import io.keyway.lock.tck.process.ChildJvm;
import io.keyway.lock.tck.proxy.FaultProxy;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Histories of an election: processes that stand for it, lead, surrender and hand over, while a seed kills and stops
 * them and cuts them all off from their server. Never do two believe that they lead, each loss is told, tokens rise;
 * and at the latest a ttl and a second after the heal somebody leads.
 */
public final class ElectionHistories implements Nemesis.Servers, AutoCloseable {
    /** Of the candidates' leases. */
    public static final Duration TTL = Duration.ofSeconds(2);

    private static final int CANDIDATES = 4;
    private static final Duration SLACK = Duration.ofSeconds(1);

    private final @Nullable FaultProxy link;
    private final WorkerPool pool;
    private @Nullable ChildJvm stopped;

    private ElectionHistories(Path directory, String url, @Nullable FaultProxy link, boolean deathIsProven) {
        this.link = link;
        this.pool = new WorkerPool(directory, url, 1, deathIsProven);
    }

    /** At a URL whose server cannot be cut off. */
    public static ElectionHistories at(String url, Path directory, boolean deathIsProven) {
        return new ElectionHistories(directory, url, null, deathIsProven);
    }

    /** At the URL of a server's address; the candidates' connections go through a proxy. */
    public static ElectionHistories through(InetSocketAddress server, Function<String, String> url, Path directory)
            throws IOException {
        FaultProxy link = FaultProxy.to(server);
        String address = link.address().getAddress().getHostAddress() + ":"
                + link.address().getPort();
        return new ElectionHistories(directory, url.apply(address), link, false);
    }

    /** Runs so many; returns what they had in them, for people. */
    public String run(int count, long seed) throws Exception {
        try (Nemesis nemesis =
                new Nemesis(pool, this, CANDIDATES, 1, TTL.multipliedBy(3).dividedBy(2))) {
            return nemesis.histories(count, seed);
        }
    }

    @Override
    public String fault(SplittableRandom random, List<ChildJvm> workers) throws Exception {
        ChildJvm worker = workers.get(random.nextInt(workers.size()));
        switch (random.nextInt(link == null ? 2 : 5)) {
            case 0 -> {
                if (!pool.workers().contains(worker)) {
                    return "";
                }
                pool.kill(worker);
                return "a candidate killed";
            }
            case 1 -> {
                if (!pool.workers().contains(worker) || stopped != null) {
                    return "";
                }
                pool.stop(worker);
                stopped = worker;
                return "a candidate stopped";
            }
            case 2 -> link().reset();
            default -> link().blackHole();
        }
        return "the link broken";
    }

    private FaultProxy link() {
        return Objects.requireNonNull(link);
    }

    @Override
    public void heal(List<ChildJvm> workers) {
        stopped = null;
        if (link != null) {
            link.reset();
            link.heal();
        }
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
        return List.of("-D" + HistoryWorker.CANDIDATE + "=true");
    }

    @Override
    public void close() throws InterruptedException {
        if (link != null) {
            link.close();
        }
    }
}
