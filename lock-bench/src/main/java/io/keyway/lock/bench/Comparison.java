// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.io.PrintStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import java.util.function.LongSupplier;
import org.HdrHistogram.Histogram;

/**
 * Contenders in turn, round by round, so that what else the machine does hits all of them alike. A figure is the median
 * of the rounds that count. Those before them warm up, in turn too: what one contender makes the compiler assume of
 * code that all of them run, the next one refutes, and it is compiled anew.
 */
final class Comparison {

    /** What one contender came to. */
    record Line(
            String name,
            double perSecond,
            double slowest,
            double fastest,
            double fairness,
            double requestsPerPair,
            double processorMicros) {}

    private final PrintStream out;
    private final int rounds;
    private final Duration warmUp;
    private final Duration time;
    private final LongSupplier requests;

    /** @param requests what the server has been asked so far, by its own count */
    Comparison(PrintStream out, int rounds, Duration warmUp, Duration time, LongSupplier requests) {
        this.out = out;
        this.rounds = rounds;
        this.warmUp = warmUp;
        this.time = time;
        this.requests = requests;
    }

    /**
     * Compares them and prints the table; the ratio is the first one's to each.
     *
     * @param clients how many clients of each contender share the threads
     */
    List<Line> run(String title, List<Contender.Opener> openers, int clients, int threads, IntFunction<String> locks)
            throws Exception {
        Map<String, List<Load.Round>> results = new LinkedHashMap<>();
        List<Load> loads = new ArrayList<>();
        try {
            for (Contender.Opener opener : openers) {
                loads.add(Load.open(opener, clients, requests));
            }
            Map<Load, List<Load.Round>> all = inTurn(
                    loads,
                    rounds,
                    warmUp,
                    time,
                    load -> load.run(
                            threads,
                            n -> {
                                String lock = load.name().replace(' ', '-') + "/" + locks.apply(n);
                                return client -> client.take(lock);
                            },
                            time));
            all.forEach((load, each) ->
                    results.computeIfAbsent(load.name(), n -> new ArrayList<>()).addAll(each));
        } finally {
            loads.forEach(Load::close);
        }
        List<Line> lines = new ArrayList<>();
        results.forEach((name, all) -> {
            double[] speed = all.stream().mapToDouble(Load.Round::perSecond).toArray();
            lines.add(new Line(
                    name,
                    median(speed),
                    Arrays.stream(speed).min().orElse(0),
                    Arrays.stream(speed).max().orElse(0),
                    median(all.stream().mapToDouble(Load.Round::fairness).toArray()),
                    median(all.stream().mapToDouble(Load.Round::requestsPerPair).toArray()),
                    median(all.stream()
                            .mapToDouble(Load.Round::processorMicrosPerPair)
                            .toArray())));
        });
        print(title, lines);
        return lines;
    }

    private void print(String title, List<Line> lines) {
        out.println();
        out.println(title);
        out.printf(
                "%-16s %12s %22s %10s %10s %8s %8s%n",
                "", "pairs/s", "(slowest, fastest)", "fairness", "requests", "cpu us", "ratio");
        double first = lines.get(0).perSecond();
        for (Line line : lines) {
            out.printf(
                    Locale.ROOT,
                    "%-16s %12.0f %22s %10.3f %10.2f %8.1f %8.2f%n",
                    line.name(),
                    line.perSecond(),
                    String.format(Locale.ROOT, "(%.0f, %.0f)", line.slowest(), line.fastest()),
                    line.fairness(),
                    line.requestsPerPair(),
                    line.processorMicros(),
                    first / line.perSecond());
        }
    }

    /**
     * Compares how long it takes from the call of a release to the return of a waiter's acquire in another client, and
     * prints the table; the ratio is each one's time to the first one's.
     */
    void wait(String title, List<Contender.Opener> openers) throws Exception {
        List<Trials> trials = new ArrayList<>();
        Map<Trials, List<Histogram>> all;
        try {
            for (Contender.Opener opener : openers) {
                trials.add(Trials.open(opener, 2));
            }
            all = inTurn(trials, rounds, warmUp, time, each -> each.handOver("next", time));
        } finally {
            trials.forEach(Trials::close);
        }
        out.println();
        out.println(title);
        out.printf("%-16s %12s %12s %8s%n", "", "p50 us", "p99 us", "ratio");
        double first = 0;
        for (Map.Entry<Trials, List<Histogram>> each : all.entrySet()) {
            double median = percentile(each.getValue(), 50);
            first = first == 0 ? median : first;
            out.printf(
                    Locale.ROOT,
                    "%-16s %12.0f %12.0f %8.2f%n",
                    each.getKey().client().name(),
                    median,
                    percentile(each.getValue(), 99),
                    median / first);
        }
    }

    private static double percentile(List<Histogram> rounds, double percentile) {
        return median(rounds.stream()
                        .mapToDouble(round -> round.getValueAtPercentile(percentile))
                        .toArray())
                / 1000;
    }

    /** A contender's round. */
    interface Round<E, R> {
        R of(E contender) throws Exception;
    }

    /**
     * Has each contender run each round, and returns what those rounds came to that count.
     *
     * @param warmUp of each contender, in rounds before those
     * @param time the length of a round
     */
    static <E, R> Map<E, List<R>> inTurn(
            List<E> contenders, int rounds, Duration warmUp, Duration time, Round<E, R> round) throws Exception {
        Map<E, List<R>> results = new LinkedHashMap<>();
        long warming = warmUp.plus(time).minusNanos(1).dividedBy(time);
        for (long i = -warming; i < rounds; i++) {
            for (E contender : contenders) {
                R result = round.of(contender);
                if (i >= 0) {
                    results.computeIfAbsent(contender, key -> new ArrayList<>()).add(result);
                }
            }
        }
        return results;
    }

    static double median(double[] values) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        return sorted[sorted.length / 2];
    }
}
