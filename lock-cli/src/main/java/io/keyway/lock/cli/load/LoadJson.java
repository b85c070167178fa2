// Copyright Keyway contributors. SPDX-License-Identifier: Apache-2.0
package io.keyway.lock.cli.load;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** A load as JSON (RFC 8259). Times are in microseconds unless the key says otherwise. */
public final class LoadJson {
    private LoadJson() {}

    /** On one line. */
    public static String of(LoadResult result) {
        LoadPlan plan = result.plan();
        LoadRecord record = result.record();
        LoadCounts total = record.total();
        return "{\"url\":" + text(result.url())
                + ",\"plan\":" + plan(plan)
                + ",\"timeMs\":" + number(result.nanos() / 1e6)
                + ",\"interrupted\":" + result.isInterrupted()
                + ",\"acquiresPerSecond\":" + number(total.acquired / result.seconds())
                + ",\"handOversPerSecond\":" + number(total.handOvers / result.seconds())
                + ",\"fairness\":" + number(result.fairness())
                + ",\"partitions\":" + record.cuts().size()
                + ",\"total\":" + counts(total)
                + ",\"clients\":"
                + IntStream.range(0, plan.clients())
                        .mapToObj(i -> counts(record.counts(i)))
                        .collect(Collectors.joining(",", "[", "]"))
                + ",\"broken\":"
                + record.breaches().entrySet().stream()
                        .map(each -> text(each.getKey()) + ":" + each.getValue())
                        .collect(Collectors.joining(",", "{", "}"))
                + ",\"evidence\":" + texts(record.evidence()) + "}";
    }

    static String plan(LoadPlan plan) {
        return "{\"clients\":" + plan.clients() + ",\"burst\":" + plan.burst() + ",\"ops\":" + plan.ops()
                + ",\"locks\":" + plan.locks() + ",\"leaseTimeMs\":"
                + plan.leaseTime().toMillis() + ",\"waitMs\":"
                + plan.lockWait().toMillis() + ",\"holdMs\":" + plan.hold().toMillis() + ",\"partitionEveryMs\":"
                + plan.cutEvery().map(Duration::toMillis).map(Object::toString).orElse("null") + ",\"partitionForMs\":"
                + plan.cutFor().toMillis() + ",\"durationMs\":"
                + plan.duration().map(Duration::toMillis).map(Object::toString).orElse("null") + ",\"seed\":"
                + plan.seed() + ",\"recall\":" + plan.recall() + "}";
    }

    private static String counts(LoadCounts counts) {
        return "{\"commands\":" + counts.commands + ",\"acquired\":" + counts.acquired + ",\"released\":"
                + counts.released + ",\"errors\":" + counts.errors + ",\"lost\":" + counts.lost + ",\"handOvers\":"
                + counts.handOvers + ",\"cachedPercent\":" + number(counts.cachedPercent()) + ",\"requests\":"
                + (counts.requests < 0 ? "null" : Long.toString(counts.requests)) + ",\"acquire\":"
                + latencies(counts.askedAcquires) + ",\"cachedAcquire\":" + latencies(counts.cachedAcquires)
                + ",\"release\":" + latencies(counts.releases) + "}";
    }

    private static String latencies(Latencies of) {
        return "{\"count\":" + of.count() + ",\"p50Us\":" + micros(of.within(0.5)) + ",\"p90Us\":"
                + micros(of.within(0.9)) + ",\"p99Us\":" + micros(of.within(0.99)) + ",\"longestUs\":"
                + micros(of.longest()) + "}";
    }

    static String micros(long nanos) {
        return number(nanos / 1e3);
    }

    private static String number(double value) {
        return Double.isFinite(value) ? String.format(Locale.ROOT, "%.3f", value) : "null";
    }

    private static String texts(List<String> all) {
        return all.stream().map(LoadJson::text).collect(Collectors.joining(",", "[", "]"));
    }

    static String text(String value) {
        StringBuilder out = new StringBuilder("\"");
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c == '"' || c == '\\') {
                out.append('\\').append(c);
            } else if (c < ' ' || c == '<' || Character.isSurrogate(c)) {
                // In a page a tag would end the script.
                out.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                out.append(c);
            }
        }
        return out.append('"').toString();
    }

    /** All that is drawn. */
    static String drawn(LoadRecord record) {
        long zero = record.start();
        String pieces = record.series().entrySet().stream()
                .map(each -> {
                    LoadRecord.Piece piece = each.getValue();
                    return "[" + each.getKey() + "," + piece.acquired() + "," + piece.handOvers() + "," + piece.errors()
                            + "," + micros(piece.p50()) + "," + micros(piece.p99()) + "]";
                })
                .collect(Collectors.joining(",", "[", "]"));
        String spans = record.spans().stream()
                .map(span -> "[" + span.client() + "," + span.lock() + "," + micros(span.asked() - zero) + ","
                        + micros(span.got() - zero) + "," + micros(span.ended() - zero) + "," + (span.lost() ? 1 : 0)
                        + "]")
                .collect(Collectors.joining(",", "[", "]"));
        String cuts = record.cuts().stream()
                .map(cut -> "[" + cut.clients() + "," + micros(cut.from() - zero) + "," + micros(cut.to() - zero) + "]")
                .collect(Collectors.joining(",", "[", "]"));
        return "{\"pieceMs\":" + record.pieceNanos() / 1_000_000 + ",\"pieces\":" + pieces + ",\"spans\":" + spans
                + ",\"left\":" + record.left() + ",\"cuts\":" + cuts + "}";
    }
}
