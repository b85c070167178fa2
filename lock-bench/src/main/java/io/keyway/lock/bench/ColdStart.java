// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/** The throughput of a JVM from its start on, with nothing done before but what opening a client does. */
final class ColdStart {
    private static final int LIFE_SECONDS = 10;
    private static final int STEADY_SECONDS = 3;
    private static final int STEPS_PER_SECOND = 10;
    private static final int LIFE = LIFE_SECONDS * STEPS_PER_SECOND;
    private static final long STEP_NANOS = 1_000_000_000L / STEPS_PER_SECOND;

    private ColdStart() {}

    /**
     * Runs until the JVM is {@value #LIFE_SECONDS} seconds old.
     *
     * @param startedAt when the JVM was started, on the clock of {@link System#currentTimeMillis}
     */
    static Figures run(Contender.Opener opener, Workload workload, long startedAt) throws Exception {
        long birth = System.nanoTime() - (System.currentTimeMillis() - startedAt) * 1_000_000;
        List<Contender> clients = new ArrayList<>();
        for (int i = 0; i < workload.clients; i++) {
            clients.add(opener.open());
        }
        ExecutorService threads = Executors.newCachedThreadPool();
        List<Future<long[]>> results = new ArrayList<>();
        for (int i = 0; i < workload.threads; i++) {
            Contender client = clients.get(i % clients.size());
            results.add(threads.submit(() -> pairs(client, workload.word(), birth)));
        }
        long[] all = new long[LIFE + 1];
        for (Future<long[]> result : results) {
            try {
                long[] each = result.get();
                Arrays.setAll(all, step -> all[step] + each[step]);
            } catch (ExecutionException e) {
                throw new IllegalStateException("A thread failed", e.getCause());
            }
        }
        threads.shutdown();
        clients.forEach(Contender::close);
        return figures(all);
    }

    /** How many in each step of the JVM's life; those after it in one more. */
    private static long[] pairs(Contender client, String lock, long birth) throws Exception {
        long[] pairs = new long[LIFE + 1];
        for (int step = 0; step < LIFE; ) {
            client.take(lock).free();
            step = (int) Math.min(LIFE, (System.nanoTime() - birth) / STEP_NANOS);
            pairs[step]++;
        }
        return pairs;
    }

    private static Figures figures(long[] pairs) {
        double steady = (double) sum(pairs, LIFE - STEADY_SECONDS * STEPS_PER_SECOND, LIFE) / STEADY_SECONDS;
        int half = IntStream.range(0, LIFE)
                .filter(step -> pairs[step] * (double) STEPS_PER_SECOND >= steady / 2)
                .findFirst()
                .orElse(LIFE);
        Figures figures = new Figures().with(Figures.FIGURE, second(pairs, 2));
        for (int second = 1; second <= 3; second++) {
            figures.with("second" + second, second(pairs, second));
        }
        return figures.with("steady", steady)
                .with("second2/steady", second(pairs, 2) / steady)
                .with("halfAfterMs", (half + 1) * 1000.0 / STEPS_PER_SECOND);
    }

    private static double second(long[] pairs, int second) {
        return sum(pairs, (second - 1) * STEPS_PER_SECOND, second * STEPS_PER_SECOND);
    }

    private static long sum(long[] pairs, int from, int to) {
        return Arrays.stream(pairs, from, to).sum();
    }
}
