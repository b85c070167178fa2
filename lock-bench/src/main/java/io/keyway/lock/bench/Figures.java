// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.bench;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.HdrHistogram.Histogram;

/** What a round of a contender came to, by the names of the figures; as a line of text, from one process to another. */
record Figures(Map<String, Double> values) {
    /** Pairs per second, or microseconds. */
    static final String FIGURE = "figure";

    static final String LOWEST = "lowest";
    static final String HIGHEST = "highest";
    static final String P50 = "p50us";
    static final String P99 = "p99us";
    static final String P999 = "p999us";
    /** The pairs of the fastest thread to those of the slowest. */
    static final String SPREAD = "spread";

    /** How many pairs there were. */
    static final String GRANTS = "grants";

    /** How many of them were writers', and how long these waited. */
    static final String WRITES = "writes";

    static final String WRITE_P50 = "writeP50us";
    static final String WRITE_P99 = "writeP99us";

    /** Of a transaction, there and back. */
    static final String MESSAGES = "messages";

    static final String CLIENT_MICROS = "cpuClient";
    static final String SERVER_MICROS = "cpuServer";
    static final String CLIENT_SWITCHES = "swClient";
    static final String SERVER_SWITCHES = "swServer";

    Figures() {
        this(new LinkedHashMap<>());
    }

    Figures with(String name, double value) {
        values.put(name, value);
        return this;
    }

    Figures withLatency(Histogram nanos) {
        return with(P50, nanos.getValueAtPercentile(50) / 1e3)
                .with(P99, nanos.getValueAtPercentile(99) / 1e3)
                .with(P999, nanos.getValueAtPercentile(99.9) / 1e3);
    }

    /** What each pair cost at both ends. */
    Figures withUsage(Usage client, Usage server, long pairs) {
        double each = Math.max(1, pairs);
        with(CLIENT_MICROS, client.processor().toNanos() / 1e3 / each);
        with(SERVER_MICROS, server.processor().toNanos() / 1e3 / each);
        if (client.switches() != Usage.NOT_TOLD) {
            with(CLIENT_SWITCHES, client.switches() / each);
            with(SERVER_SWITCHES, server.switches() / each);
        }
        return this;
    }

    /** NaN if there is no such figure. */
    double get(String name) {
        return values.getOrDefault(name, Double.NaN);
    }

    /** The median of each figure, and the range of {@link #FIGURE}. */
    static Figures medians(List<Figures> rounds) {
        Set<String> names = new LinkedHashSet<>();
        rounds.forEach(round -> names.addAll(round.values.keySet()));
        Figures result = new Figures();
        for (String name : names) {
            result.with(
                    name,
                    Comparison.median(rounds.stream()
                            .mapToDouble(round -> round.get(name))
                            .toArray()));
        }
        if (names.contains(FIGURE)) {
            result.with(
                    LOWEST,
                    rounds.stream().mapToDouble(r -> r.get(FIGURE)).min().orElse(Double.NaN));
            result.with(
                    HIGHEST,
                    rounds.stream().mapToDouble(r -> r.get(FIGURE)).max().orElse(Double.NaN));
        }
        return result;
    }

    static Figures parse(String line) {
        Figures figures = new Figures();
        for (String word : line.trim().split(" ", -1)) {
            int equals = word.indexOf('=');
            figures.with(word.substring(0, equals), Double.parseDouble(word.substring(equals + 1)));
        }
        return figures;
    }

    @Override
    public String toString() {
        List<String> words = new ArrayList<>();
        values.forEach((name, value) -> words.add(name + "=" + value));
        return String.join(" ", words);
    }

    /** An object of JSON. */
    String json() {
        List<String> members = new ArrayList<>();
        values.forEach((name, value) -> members.add(String.format(
                Locale.ROOT, "\"%s\": %s", name, value.isNaN() ? "null" : String.format(Locale.ROOT, "%.3f", value))));
        return "{" + String.join(", ", members) + "}";
    }
}
