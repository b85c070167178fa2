// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/** What one moment of a lock's life takes, again and again. Histograms are of nanoseconds. */
final class Trials implements AutoCloseable {
    /** Long enough for a waiter to be in the queue and for the machine to be idle. */
    private static final long PAUSE_NANOS = Duration.ofMillis(4).toNanos();

    /** Of the experiment. */
    static final int CLIENTS = 10;

    private static final int OPERATIONS = 2;
    /** Of one repetition of the experiment. */
    static final int PAIRS_OF_EXPERIMENT = CLIENTS * OPERATIONS;

    private final List<Contender> clients = new ArrayList<>();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private long names;

    private Trials() {}

    static Trials open(Contender.Opener opener, int clients) throws Exception {
        Trials trials = new Trials();
        try {
            for (int i = 0; i < clients; i++) {
                trials.clients.add(opener.open());
            }
        } catch (Exception e) {
            trials.close();
            throw e;
        }
        return trials;
    }

    Contender client() {
        return clients.get(0);
    }

    /**
     * How long it takes to get a lock that nobody else asks for; the release is not counted.
     *
     * @param most how many names there are; 0: a new one each time
     */
    Histogram first(String prefix, int most, Duration time) throws Exception {
        Histogram latency = Load.latencies();
        Contender client = client();
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            String name = prefix + (most == 0 ? names++ : names++ % most);
            long begin = System.nanoTime();
            Contender.Hold hold = client.take(name);
            latency.recordValue(System.nanoTime() - begin);
            hold.free();
        }
        return latency;
    }

    /**
     * How long it takes from the call of a release to the return of the next one's acquire, in another client, while
     * nothing else happens. Each client has a thread, and asks again when the other one has got the lock.
     */
    Histogram handOver(String lock, Duration time) throws Exception {
        long end = System.nanoTime() + time.toNanos();
        AtomicLong freedAt = new AtomicLong();
        Semaphore[] mayAsk = {new Semaphore(1), new Semaphore(0)};
        CompletionService<Histogram> sides = new ExecutorCompletionService<>(threads);
        for (int i = 0; i < mayAsk.length; i++) {
            Contender client = clients.get(i);
            Semaphore own = mayAsk[i];
            Semaphore others = mayAsk[1 - i];
            sides.submit(() -> {
                Histogram latency = Load.latencies();
                own.acquire();
                while (System.nanoTime() - end < 0) {
                    Contender.Hold hold = client.take(lock);
                    long now = System.nanoTime();
                    if (freedAt.get() != 0) {
                        latency.recordValue(now - freedAt.get());
                    }
                    others.release();
                    LockSupport.parkNanos(PAUSE_NANOS);
                    freedAt.set(System.nanoTime());
                    hold.free();
                    own.acquire();
                }
                others.release();
                return latency;
            });
        }
        Histogram latency = Load.latencies();
        for (int i = 0; i < mayAsk.length; i++) {
            latency.add(get(sides.take()));
        }
        return latency;
    }

    /** How long it takes until all clients have each taken and freed the one lock twice, all started at once. */
    Histogram experiment(String lock, Duration time) throws Exception {
        Histogram latency = Load.latencies();
        long end = System.nanoTime() + time.toNanos();
        while (System.nanoTime() - end < 0) {
            long[] begin = new long[1];
            CyclicBarrier start = new CyclicBarrier(clients.size(), () -> begin[0] = System.nanoTime());
            CompletionService<Long> ends = new ExecutorCompletionService<>(threads);
            for (Contender client : clients) {
                ends.submit(() -> {
                    start.await();
                    for (int i = 0; i < OPERATIONS; i++) {
                        client.take(lock).free();
                    }
                    return System.nanoTime();
                });
            }
            long last = 0;
            for (int i = 0; i < clients.size(); i++) {
                last = Math.max(last, get(ends.take()) - begin[0]);
            }
            latency.recordValue(last);
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return latency;
    }

    /** How long two transactions, which have one lock each and ask for the other's, wait until one has both. */
    Histogram deadlock(String name, Duration time) throws Exception {
        Histogram latency = Load.latencies();
        long end = System.nanoTime() + time.toNanos();
        String[] locks = {name + "/one", name + "/other"};
        while (System.nanoTime() - end < 0) {
            long[] begin = new long[1];
            CyclicBarrier start = new CyclicBarrier(locks.length, () -> begin[0] = System.nanoTime());
            CompletionService<Long> ends = new ExecutorCompletionService<>(threads);
            for (int i = 0; i < locks.length; i++) {
                Contender client = clients.get(i);
                String own = locks[i];
                String others = locks[1 - i];
                ends.submit(() -> {
                    try (Contender.Steps steps = client.begin()) {
                        steps.take(own);
                        start.await();
                        return steps.take(others) ? System.nanoTime() - begin[0] : Long.MAX_VALUE;
                    }
                });
            }
            long first = Math.min(get(ends.take()), get(ends.take()));
            if (first == Long.MAX_VALUE) {
                throw new IllegalStateException("both transactions of a deadlock gave way");
            }
            latency.recordValue(first);
        }
        return latency;
    }

    private static <T> T get(Future<T> result) throws Exception {
        try {
            return result.get();
        } catch (ExecutionException e) {
            throw new IllegalStateException("A thread failed", e.getCause());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        clients.forEach(Contender::close);
    }
}
