// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/** Threads that take and free locks as fast as they can. */
final class Load implements AutoCloseable {

    /**
     * What a round came to: pairs of acquire and release for each thread, how long each of them took in nanoseconds,
     * what the server was asked and what processor time this JVM used meanwhile.
     */
    record Round(List<Long> pairs, Histogram latency, Duration took, long requests, Duration processor) {

        long sum() {
            return pairs.stream().mapToLong(Long::longValue).sum();
        }

        double perSecond() {
            return sum() * 1e9 / took.toNanos();
        }

        double requestsPerPair() {
            return (double) requests / Math.max(1, sum());
        }

        double processorMicrosPerPair() {
            return processor.toNanos() / 1e3 / Math.max(1, sum());
        }

        /** Jain's index: 1 if all threads had the same share, 1/n if one had all. */
        double fairness() {
            double squares = pairs.stream().mapToDouble(p -> (double) p * p).sum();
            return squares == 0 ? 0 : (double) sum() * sum() / (pairs.size() * squares);
        }

        /** The pairs of the fastest thread to those of the slowest. */
        double spread() {
            return (double) Collections.max(pairs) / Math.max(1, Collections.min(pairs));
        }
    }

    /** What a thread does next. */
    @FunctionalInterface
    interface Turn {
        Contender.Hold take(Contender client) throws Exception;
    }

    private static final OperatingSystemMXBean PROCESS =
            ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

    private final List<Contender> clients;
    private final LongSupplier requests;
    private final ExecutorService threads = Executors.newCachedThreadPool();

    private Load(List<Contender> clients, LongSupplier requests) {
        this.clients = List.copyOf(clients);
        this.requests = requests;
    }

    /** Opens that many clients; if one cannot be opened, those before it are closed. */
    static Load open(Contender.Opener opener, int clients, LongSupplier requests) throws Exception {
        List<Contender> opened = new ArrayList<>();
        try {
            for (int i = 0; i < clients; i++) {
                opened.add(opener.open());
            }
        } catch (Exception e) {
            opened.forEach(Contender::close);
            throw e;
        }
        return new Load(opened, requests);
    }

    /** The name of what its clients are of. */
    String name() {
        return clients.get(0).name();
    }

    /**
     * Runs for that time.
     *
     * @param turns what a thread takes, again and again
     */
    Round run(int count, IntFunction<Turn> turns, Duration time) throws Exception {
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch go = new CountDownLatch(1);
        List<Future<Histogram>> results = new ArrayList<>();
        long[] end = new long[1];
        for (int i = 0; i < count; i++) {
            Contender client = clients.get(i % clients.size());
            Turn turn = turns.apply(i);
            results.add(threads.submit(() -> {
                Histogram latency = latencies();
                ready.countDown();
                go.await();
                for (long begin = System.nanoTime(); begin - end[0] < 0; ) {
                    turn.take(client).free();
                    long now = System.nanoTime();
                    latency.recordValue(now - begin);
                    begin = now;
                }
                return latency;
            }));
        }
        ready.await();
        long before = requests.getAsLong();
        long busyBefore = PROCESS.getProcessCpuTime();
        long start = System.nanoTime();
        end[0] = start + time.toNanos();
        go.countDown();
        List<Long> pairs = new ArrayList<>();
        Histogram latency = latencies();
        for (Future<Histogram> result : results) {
            try {
                pairs.add(result.get().getTotalCount());
                latency.add(result.get());
            } catch (ExecutionException e) {
                throw new IllegalStateException("A thread of " + name() + " failed", e.getCause());
            }
        }
        Duration took = Duration.ofNanos(System.nanoTime() - start);
        Duration processor = Duration.ofNanos(PROCESS.getProcessCpuTime() - busyBefore);
        return new Round(pairs, latency, took, requests.getAsLong() - before, processor);
    }

    /** Of nanoseconds, to three digits. */
    static Histogram latencies() {
        return new Histogram(3);
    }

    @Override
    public void close() {
        threads.shutdownNow();
        clients.forEach(Contender::close);
    }
}
